"""The managers that are being watched, and the one lock that makes their counts consistent."""

import weakref

from .manager import Watch
from .problems import UnknownShape
from .registry import Registry, lock

# Where a manager keeps its Watch.
ATTRIBUTE = "_mcp_retention_watch"

_watches = []
_numbers = 0


def watch(manager, unsupported):
    """Begin to watch a manager: an observing dict takes the place of its registry. Idempotent.

    Raises UnknownShape when the registry is not the plain dict that the SDK's versions so far have.
    """
    global _numbers
    entries = getattr(manager, "_server_instances", None)
    if type(entries) is Registry:
        return
    setattr(manager, ATTRIBUTE, None)
    if type(entries) is not dict:
        raise UnknownShape("the registry _server_instances is not a plain dict")
    with lock:
        fresh = Watch(weakref.ref(manager), str(_numbers), unsupported, len(entries))
        manager._server_instances = Registry(fresh, entries)
        setattr(manager, ATTRIBUTE, fresh)
        _numbers += 1
        _watches[:] = [old for old in _watches if old.manager() is not None]
        _watches.append(fresh)
        for transport in entries.values():
            fresh.adopt(transport)


def watch_of(manager):
    """The Watch of a manager, or None."""
    return getattr(manager, ATTRIBUTE, None)


def is_new(manager):
    """Whether it was never tried to watch this manager."""
    return not hasattr(manager, ATTRIBUTE)


def start_anew():
    """In a forked child: count from here on, as a process of its own, with what it inherited as the start.

    Requests and streams of the parent do not run here; what is left of them refers to the old Watch and is
    counted no more.
    """
    with lock:
        for place, old in enumerate(_watches):
            manager = old.manager()
            entries = getattr(manager, "_server_instances", None)
            if type(entries) is not Registry:
                continue
            fresh = Watch(old.manager, old.number, old.unsupported, len(entries))
            _watches[place] = fresh
            setattr(manager, ATTRIBUTE, fresh)
            entries.report_to(fresh)
            for transport in entries.values():
                fresh.adopt(transport)


def current():
    """The Watch of each living manager, in the order in which managers were made."""
    with lock:
        return [each for each in _watches if each.manager() is not None]
