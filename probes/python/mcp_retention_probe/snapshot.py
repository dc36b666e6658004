"""The counts of all managers, read at once, in the shape of the probe's contract."""

import functools
import math
import os
import time

from . import NAME, VERSION, problems, watching
from .process import start_time
from .registry import lock

SCHEMA = "mcp-retention/probe-snapshot/v1"

# Buckets of idle sessions that may move while the lock is held: a host waits for well under a millisecond.
_MOVES = 256


def take():
    """A Snapshot. Its cost does not depend on the number of sessions."""
    watches = watching.current()
    for watch in watches:
        _bring_up_to_date(watch)
    with lock:
        now = time.monotonic()
        taken_at = time.time()
        managers = [_report(watch, now) for watch in watches]
    found = problems.listed()
    return {
        "schema": SCHEMA,
        "probe": {"name": NAME, "version": VERSION},
        "sdk": sdk(),
        "supported": not found,
        "problems": found,
        "pid": os.getpid(),
        "processStartTime": start_time(),
        "takenAt": taken_at,
        "managers": [manager for manager in managers if manager is not None],
    }


def _bring_up_to_date(watch):
    """Move idle sessions between ages in small steps: after a long time without a reader there are many."""
    done = False
    while not done:
        with lock:
            done = watch.ages.advance(time.monotonic(), _MOVES)


@problems.quietly("snapshot.manager")
def _report(watch, now):
    manager = watch.manager()
    if manager is None:
        return None
    watch.ages.advance(now)
    return {
        "manager": watch.number,
        "stateless": getattr(manager, "stateless", False) is True,
        # The registry that the manager uses now, whoever put it there: so that a drift shows.
        "registered": len(manager._server_instances) + watch.unregistered,
        "registeredAtStart": watch.at_start,
        "registrations": watch.registrations,
        "removals": watch.removals,
        "expirations": watch.expirations,
        "rejections": watch.rejections,
        "inFlight": watch.in_flight,
        "streamsOpen": watch.streams,
        "remnants": watch.remnants,
        "oldestIdleSeconds": watch.ages.oldest(now),
        "idleOlderThan": [{"seconds": age, "sessions": count} for age, count in watch.ages.older_than()],
        "idleTimeoutSeconds": _positive(getattr(manager, "session_idle_timeout", None), (int, float)),
        "sessionLimit": _positive(getattr(manager, "max_sessions", None), int),
        "unsupportedSettings": watch.unsupported,
        "requestsCompleted": watch.completed,
        "endedSessionDurations": watch.durations.reported(),
    }


def _positive(value, kind):
    if isinstance(value, bool) or not isinstance(value, kind) or not math.isfinite(value) or value <= 0:
        return None
    return value


@functools.lru_cache(maxsize=1)
def sdk():
    """The installed SDK, or None where it cannot be told."""
    from importlib import metadata

    try:
        return {"package": "mcp", "version": metadata.version("mcp")}
    except Exception:
        return None
