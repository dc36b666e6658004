"""Counts the per-request sessions of stateless managers: each has a server that should end with its request.

Such a manager keeps no registry. What it leaves behind when a server does not end is a task of its own, with
the transport and its streams, so a session counts from the moment its transport is connected until it is not.
"""

import contextvars

from . import watching
from .problems import quietly

HANDLER = "_handle_stateless_request"

# The Watch of the manager whose stateless request is being served. The server's task inherits it.
_serving = contextvars.ContextVar("mcp_retention_serving", default=None)


def naming_handler(original):
    async def _handle_stateless_request(self, *args, **kwargs):
        token = _serving.set(watching.watch_of(self))
        try:
            return await original(self, *args, **kwargs)
        finally:
            _serving.reset(token)

    return _handle_stateless_request


def watching_connect(original):
    def connect(self, *args, **kwargs):
        context = original(self, *args, **kwargs)
        watch = _serving.get()
        # One with an id is another manager's, opened while the request is served: its registry counts it.
        if watch is None or getattr(self, "mcp_session_id", None) is not None:
            return context
        return _Connection(context, watch, self)

    return connect


class _Connection:
    """A transport's connection, told of when it begins and when it has ended."""

    __slots__ = ("_context", "_watch", "_transport")

    def __init__(self, context, watch, transport):
        self._context = context
        self._watch = watch
        self._transport = transport

    async def __aenter__(self):
        streams = await self._context.__aenter__()
        self._begun()
        return streams

    async def __aexit__(self, *error):
        try:
            return await self._context.__aexit__(*error)
        finally:
            self._ended()

    @quietly("stateless.connect")
    def _begun(self):
        self._watch.connected(self._transport)

    @quietly("stateless.disconnect")
    def _ended(self):
        self._watch.disconnected(self._transport)
