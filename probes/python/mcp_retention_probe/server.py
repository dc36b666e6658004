"""A small HTTP server in one daemon thread. No client can hold up another, or the host."""

import contextlib
import json
import selectors
import threading
import time

from . import process, snapshot
from .problems import note

_ROUTES = {"/v1/snapshot": snapshot.take, "/v1/process": process.take}

# A client has this many seconds for its whole exchange.
_PATIENCE = 2.0
_MOST_CONNECTIONS = 32
_LONGEST_REQUEST = 8192


class Connection:
    """One client: its request so far, and what is left of the answer once that is known."""

    def __init__(self, client, now):
        self.client = client
        self.ends = now + _PATIENCE
        self.request = b""
        self.answer = None


class Server:
    """Answers one request per connection, from a thread of its own."""

    def __init__(self, listener):
        self._listener = listener
        self._listener.setblocking(False)
        self._connections = {}
        # Not epoll: a forked child would share it, and closing there would take effect here.
        self._selector = getattr(selectors, "PollSelector", selectors.SelectSelector)()
        self._selector.register(listener, selectors.EVENT_READ)

    def start(self):
        """Serve until the process ends."""
        threading.Thread(target=self._run, name="mcp-retention-probe", daemon=True).start()

    def forget(self):
        """In a forked child: close the descriptors it inherited; the parent's stay open."""
        for connection in list(self._connections.values()):
            connection.client.close()
        self._listener.close()

    def _run(self):
        while True:
            try:
                self._step()
            except Exception as error:
                note("server", error)
                time.sleep(0.5)

    def _step(self):
        ready = [key.fileobj for key, _ in self._selector.select(self._wait())]
        # New clients come last: whoever has sent a request is answered before anyone is dropped for them.
        for client in ready:
            if client is not self._listener:
                self._serve(self._connections[client])
        if self._listener in ready:
            self._accept()
        now = time.monotonic()
        for connection in [each for each in self._connections.values() if each.ends <= now]:
            self._drop(connection)

    def _wait(self):
        if not self._connections:
            return None
        return max(0.0, min(each.ends for each in self._connections.values()) - time.monotonic())

    def _accept(self):
        # Several at once: clients that hang must not fill the queue before others.
        for _ in range(_MOST_CONNECTIONS // 2):
            try:
                client, _ = self._listener.accept()
            except (BlockingIOError, ConnectionError):
                return
            except OSError:
                # The host has no descriptors left, which is its trouble, not the probe's: not in a busy loop.
                time.sleep(0.1)
                return
            self._admit(client)

    def _admit(self, client):
        client.setblocking(False)
        if len(self._connections) >= _MOST_CONNECTIONS:
            # The one that has been here longest is the likeliest to hang.
            self._drop(min(self._connections.values(), key=lambda each: each.ends))
        self._connections[client] = connection = Connection(client, time.monotonic())
        self._selector.register(client, selectors.EVENT_READ)
        # Most have sent their request by now.
        self._serve(connection)

    def _serve(self, connection):
        try:
            if connection.answer is None:
                self._read(connection)
            if connection.answer is not None:
                self._write(connection)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._drop(connection)

    def _read(self, connection):
        received = connection.client.recv(_LONGEST_REQUEST)
        connection.request += received
        ended = b"\r\n\r\n" in connection.request
        if ended or not received or len(connection.request) >= _LONGEST_REQUEST:
            connection.answer = memoryview(_answer(connection.request) if ended else _NOT_FOUND)
            self._selector.modify(connection.client, selectors.EVENT_WRITE)

    def _write(self, connection):
        sent = connection.client.send(connection.answer)
        connection.answer = connection.answer[sent:]
        if not connection.answer:
            self._drop(connection)

    def _drop(self, connection):
        del self._connections[connection.client]
        self._selector.unregister(connection.client)
        with contextlib.suppress(OSError):
            connection.client.shutdown(2)
        connection.client.close()


def _answer(request):
    words = request.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    path = words[1].partition("?")[0] if len(words) == 3 and words[0] == "GET" else None
    take = _ROUTES.get(path)
    if take is None:
        return _NOT_FOUND
    try:
        return _response("200 OK", take())
    except Exception as error:
        note(f"answer {path}", error)
        return _response("500 Internal Server Error", {"error": "the probe failed"})


def _response(status, message):
    body = json.dumps(message, allow_nan=False).encode()
    lines = (
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        "\r\n",
    )
    return "\r\n".join(lines).encode("ascii") + body


_NOT_FOUND = _response("404 Not Found", {"error": "there is no such thing here"})
