"""One listener per process: started once, again after a fork, and gone at exit."""

import atexit
import contextlib
import os
import sys
import threading

from . import address
from .problems import quietly

_lock = threading.Lock()
_begun = False
_hooked = False
_forked = False
_server = None
_files = []
_owner = None


def ensure():
    """Listen, unless this process has begun to before. Called wherever a manager is made, run or used.

    A forked child begins again with its first such call rather than at the fork: most children of a server
    are none themselves, and are about to become another program.
    """
    if not _begun:
        _begin()


@quietly("listener")
def _begin():
    global _begun, _forked
    with _lock:
        if _begun:
            return
        _begun = True
        if _forked:
            from . import watching

            _forked = False
            watching.start_anew()
        _hook()
        _listen()


def _listen():
    global _server, _files, _owner
    from .server import Server

    try:
        opened = address.open_listener()
    except address.Refused as refusal:
        _warn(str(refusal))
        return
    except OSError as error:
        _warn(f"cannot listen: {error.strerror or error}")
        return
    if opened is None:
        return
    _server, _files, _owner = Server(opened[0]), opened[1], os.getpid()
    _server.start()


def _hook():
    global _hooked
    if _hooked:
        return
    _hooked = True
    atexit.register(_remove_files)
    if hasattr(os, "register_at_fork"):
        from .registry import lock

        # Held across the fork, so that the child does not find it held by a thread that it does not have.
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=_after_fork)


def _after_fork():
    global _lock, _begun, _forked, _server, _files
    from .registry import lock

    lock.release()
    _lock = threading.Lock()
    if _server is not None:
        _server.forget()
    _server, _files, _begun, _forked = None, [], False, True


def _remove_files():
    # A child that was forked must not remove what belongs to its parent.
    if _owner == os.getpid():
        for path in _files:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _warn(sentence):
    with contextlib.suppress(Exception):
        sys.stderr.write(f"mcp-retention-probe: {sentence}\n")
