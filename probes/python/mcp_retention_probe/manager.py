"""The counts of one session manager. Methods named as called "under the lock" need registry.lock held."""

import time

from .ages import IdleAges
from .durations import Durations
from .problems import quietly
from .registry import lock

# Where a transport keeps its Session: it dies with the transport, and keeps no transport alive.
ATTRIBUTE = "_mcp_retention_session"


class Session:
    """What is known of one transport while its manager has it registered."""

    __slots__ = ("watch", "keys", "active", "bucket", "created", "terminated")

    def __init__(self, watch):
        self.watch = watch
        # Under how many keys it is registered: 0 or 1 in every SDK so far.
        self.keys = 0
        # Requests and streams being served now.
        self.active = 0
        self.bucket = None
        self.created = 0.0
        self.terminated = False


class Watch:
    """Counts of one manager since its process began; holds the manager weakly."""

    def __init__(self, manager, number, unsupported, at_start):
        self.manager = manager
        self.number = number
        self.unsupported = unsupported
        self.at_start = at_start
        self.registrations = 0
        self.removals = 0
        self.expirations = 0
        self.rejections = 0
        self.in_flight = 0
        self.streams = 0
        self.remnants = 0
        self.completed = 0
        # Per-request sessions of a stateless manager whose server runs: it has no registry to look into.
        self.unregistered = 0
        self.ages = IdleAges()
        self.durations = Durations()

    # Called by the registry, under the lock.

    def registered(self, transport):
        self.registrations += 1
        self._enter(transport)

    def removed(self, transport):
        self.removals += 1
        self._leave(transport)

    @quietly("session.adopt")
    def adopt(self, transport):
        """Take over an entry that was there before we watched."""
        if getattr(transport, ATTRIBUTE, None) is not None:
            setattr(transport, ATTRIBUTE, None)
        self._enter(transport)

    @quietly("session.enter")
    def _enter(self, transport):
        session = getattr(transport, ATTRIBUTE, None)
        if session is None or session.watch is not self:
            session = Session(self)
            setattr(transport, ATTRIBUTE, session)
        session.keys += 1
        if session.keys > 1:
            return
        now = time.monotonic()
        session.created = now
        session.terminated = is_terminated(transport)
        self.remnants += session.terminated
        if session.active:
            self.in_flight += 1
        else:
            session.bucket = self.ages.join(now)

    @quietly("session.leave")
    def _leave(self, transport):
        self.expirations += has_expired(transport)
        session = getattr(transport, ATTRIBUTE, None)
        if session is None or session.watch is not self or session.keys == 0:
            return
        session.keys -= 1
        if session.keys:
            return
        self.remnants -= session.terminated
        if session.active:
            self.in_flight -= 1
        else:
            self.ages.leave(session.bucket)
            session.bucket = None
        self.durations.add(time.monotonic() - session.created)

    # Called by the wrapped methods of manager and transport; these take the lock.

    def rejected(self):
        with lock:
            self.rejections += 1

    def request_done(self):
        with lock:
            self.completed += 1

    def connected(self, transport):
        """The server of a per-request session runs: until it ends, the session counts as registered."""
        with lock:
            self.unregistered += 1
            self.registered(transport)

    def disconnected(self, transport):
        with lock:
            self.unregistered -= 1
            self.removed(transport)

    def stream_changed(self, by):
        with lock:
            self.streams += by

    def request_begun(self, session):
        with lock:
            session.active += 1
            if session.keys and session.active == 1:
                self.in_flight += 1
                self.ages.leave(session.bucket)
                session.bucket = None

    def request_ended(self, session, transport):
        with lock:
            session.active -= 1
            # A termination that no wrapped method reported is noticed here at the latest.
            self._note_terminated(session, is_terminated(transport))
            if session.keys and session.active == 0:
                self.in_flight -= 1
                session.bucket = self.ages.join(time.monotonic())

    def terminated(self, session):
        with lock:
            self._note_terminated(session, True)

    def _note_terminated(self, session, terminated):
        if terminated and not session.terminated:
            session.terminated = True
            if session.keys:
                self.remnants += 1


def session_of(transport):
    """The Session of a transport that a watched manager has or had registered, or None."""
    return getattr(transport, ATTRIBUTE, None)


def is_terminated(transport):
    """Whether the transport says so: by its property, or its flag where there is no property yet."""
    terminated = getattr(transport, "is_terminated", None)
    return (getattr(transport, "_terminated", None) if terminated is None else terminated) is True


def has_expired(transport):
    """Whether a transport that is being removed had its idle scope cancelled.

    Affected builds remove it after that scope's end, patched ones when its task or a late request discards
    it: either way the scope was cancelled by then, and only idle expiry cancels it.
    """
    return getattr(getattr(transport, "idle_scope", None), "cancel_called", False) is True
