"""Wraps the methods of the SDK's classes that say when a session is served, refused, or ended.

A wrapper never raises anything of its own and changes nothing that the host passes, returns or raises, except
that a GET request's `send` is looked at on its way (see streams.py).
"""

import functools
import inspect
import sys

from . import listener, stateless, watching
from .manager import session_of
from .problems import note, quietly
from .streams import watched_stream

_WRAPPED = "_mcp_retention_wrapped"
_SETTINGS = {"idleTimeout": "session_idle_timeout", "maxSessions": "max_sessions"}


def attach(module):
    """Wrap the classes of the manager's module, then listen; also where its shape is unknown, to say so."""
    try:
        manager = getattr(module, "StreamableHTTPSessionManager", None)
        if isinstance(manager, type):
            _attach_manager(manager)
        else:
            note("sdk.manager", "the module has no class StreamableHTTPSessionManager")
        source = sys.modules.get("mcp.server.streamable_http", module)
        transport = getattr(module, "StreamableHTTPServerTransport", None)
        transport = transport or getattr(source, "StreamableHTTPServerTransport", None)
        if isinstance(transport, type):
            _attach_transport(transport)
        else:
            note("sdk.transport", "there is no class StreamableHTTPServerTransport")
    except Exception as error:
        note("attach", error)
    listener.ensure()


def _attach_manager(manager):
    unsupported = _unsupported(manager)
    _wrap(manager, "__init__", lambda original: _watching_init(original, unsupported))
    if callable(manager.__dict__.get("run")):
        _wrap(manager, "run", lambda original: _watching_run(original, unsupported))
    if _is_async(manager, "handle_request"):
        _wrap(manager, "handle_request", _counting_handler)
    else:
        note("sdk.manager", "handle_request is not an async method")
    if _is_async(manager, stateless.HANDLER):
        _wrap(manager, stateless.HANDLER, stateless.naming_handler)
    if "maxSessions" in unsupported:
        return
    if callable(manager.__dict__.get("_admit_session")) and not _is_async(manager, "_admit_session"):
        _wrap(manager, "_admit_session", _counting_admission)
    else:
        note("sdk.manager", "there is a session limit, but no _admit_session that tells of refusals")


def _attach_transport(transport):
    if _is_async(transport, "handle_request"):
        _wrap(transport, "handle_request", _serving_handler)
    else:
        note("sdk.transport", "handle_request is not an async method")
    if callable(getattr(transport, "connect", None)):
        _wrap(transport, "connect", stateless.watching_connect)
    else:
        note("sdk.transport", "there is no method connect")
    # Named so from 1.12 on; before, by the other name.
    names = [name for name in ("terminate", "_terminate_session") if _is_async(transport, name)]
    for name in names:
        _wrap(transport, name, _noting_terminate)
    if not names:
        note("sdk.transport", "there is no async method terminate")


def _watching_init(original, unsupported):
    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        _watch(self, unsupported)

    return __init__


@quietly("manager.watch")
def _watch(manager, unsupported):
    listener.ensure()
    watching.watch(manager, unsupported)
    if getattr(manager, "stateless", False) is True and not _is_async(manager, stateless.HANDLER):
        note("sdk.manager", f"{stateless.HANDLER} is not an async method")
    # Where the application object is public, hosts call it directly as well as through handle_request.
    if callable(getattr(manager, "asgi_app", None)):
        manager.asgi_app = _CountingApp(manager.asgi_app, watching.watch_of(manager).manager)


def _watching_run(original, unsupported):
    def run(self, *args, **kwargs):
        listener.ensure()
        # One that was made before the probe was attached, or whose class has another __init__.
        if watching.is_new(self):
            _watch(self, unsupported)
        return original(self, *args, **kwargs)

    return run


def _counting_handler(original):
    async def handle_request(self, *args, **kwargs):
        listener.ensure()
        try:
            return await original(self, *args, **kwargs)
        finally:
            if not isinstance(getattr(self, "asgi_app", None), _CountingApp):
                _count_request(self, args)

    return handle_request


class _CountingApp:
    """A manager's application object that counts the requests it has finished."""

    def __init__(self, app, manager):
        self._mcp_retention_app = app
        self._mcp_retention_manager = manager

    async def __call__(self, *args, **kwargs):
        listener.ensure()
        try:
            return await self._mcp_retention_app(*args, **kwargs)
        finally:
            _count_request(self._mcp_retention_manager(), args)

    def __getattr__(self, name):
        if name.startswith("_mcp_retention_"):
            raise AttributeError(name)
        return getattr(self._mcp_retention_app, name)


@quietly("manager.request")
def _count_request(manager, args):
    watch = watching.watch_of(manager)
    if watch is not None and (not args or args[0].get("type") == "http"):
        watch.request_done()


def _counting_admission(original):
    def _admit_session(self, *args, **kwargs):
        transport = original(self, *args, **kwargs)
        if transport is None:
            _count_rejection(self)
        return transport

    return _admit_session


@quietly("manager.admit")
def _count_rejection(manager):
    watch = watching.watch_of(manager)
    if watch is not None:
        watch.rejected()


def _serving_handler(original):
    async def handle_request(self, *args, **kwargs):
        session = _begin(self)
        if session is None:
            return await original(self, *args, **kwargs)
        stream, args, kwargs = watched_stream(session.watch, args, kwargs)
        try:
            return await original(self, *args, **kwargs)
        finally:
            if stream is not None:
                stream.close()
            _end(session, self)

    return handle_request


@quietly("transport.begin")
def _begin(transport):
    session = session_of(transport)
    if session is not None:
        session.watch.request_begun(session)
    return session


@quietly("transport.end")
def _end(session, transport):
    session.watch.request_ended(session, transport)


def _noting_terminate(original):
    async def terminate(self, *args, **kwargs):
        # Before the call: it sets its flag first and then waits for streams to close.
        _terminate(self)
        return await original(self, *args, **kwargs)

    return terminate


@quietly("transport.terminate")
def _terminate(transport):
    session = session_of(transport)
    if session is not None:
        session.watch.terminated(session)


def _wrap(owner, name, make):
    original = getattr(owner, name)
    if getattr(original, _WRAPPED, False):
        return
    wrapper = functools.wraps(original)(make(original))
    setattr(wrapper, _WRAPPED, True)
    setattr(owner, name, wrapper)


def _is_async(owner, name):
    return inspect.iscoroutinefunction(getattr(owner, name, None))


def _unsupported(manager):
    parameters = inspect.signature(manager.__init__).parameters
    return [setting for setting, parameter in _SETTINGS.items() if parameter not in parameters]
