"""Tells when a GET request was answered with a stream of events, from its ASGI messages."""

from .problems import note, quietly


class Stream:
    """A `send` that passes every message on and counts the stream as open from its first message."""

    __slots__ = ("_watch", "_send", "_open")

    def __init__(self, watch, send):
        self._watch = watch
        self._send = send
        self._open = False

    async def __call__(self, message):
        self._look(message)
        await self._send(message)

    @quietly("stream.open")
    def _look(self, message):
        # A refused GET is answered too, with another status.
        if not self._open and message.get("type") == "http.response.start" and message.get("status") == 200:
            self._open = True
            self._watch.stream_changed(1)

    @quietly("stream.close")
    def close(self):
        """The request has ended, and with it the stream."""
        if self._open:
            self._open = False
            self._watch.stream_changed(-1)


def watched_stream(watch, args, kwargs):
    """(Stream or None, args, kwargs) for a call `handle_request(scope, receive, send)` of a transport."""
    try:
        if len(args) == 3:
            scope, receive, send = args
        else:
            given = dict(zip(("scope", "receive", "send"), args, strict=False), **kwargs)
            scope, receive, send = given["scope"], given["receive"], given["send"]
        if scope["method"] != "GET":
            return None, args, kwargs
        stream = Stream(watch, send)
        return stream, (scope, receive, stream), {}
    except Exception as error:
        note("stream.watch", error)
        return None, args, kwargs
