"""A dict that reports what enters and leaves it: takes the place of a manager's registry."""

import threading

# Held while a registry changes and is counted, and while counts are read. Reentrant, since garbage collection
# can run a host's finalizer in the middle of either.
lock = threading.RLock()

_ABSENT = object()


class Registry(dict):
    """Behaves as the dict it replaces. Each change and its counting are one step for whoever holds the lock.

    A value stored over another counts as a removal and a registration; the same value again as neither.
    """

    __slots__ = ("_watch",)

    def __init__(self, watch, entries):
        dict.__init__(self, entries)
        self._watch = watch

    def report_to(self, watch):
        """From now on, count with this Watch."""
        self._watch = watch

    # In each method the value that leaves is held by a name until the lock is released, so that a host's
    # finalizer does not run under it.

    def __setitem__(self, key, value):
        with lock:
            old = dict.get(self, key, _ABSENT)
            dict.__setitem__(self, key, value)
            if old is value:
                return
            if old is not _ABSENT:
                self._watch.removed(old)
            self._watch.registered(value)

    def __delitem__(self, key):
        with lock:
            value = dict.get(self, key, _ABSENT)
            dict.__delitem__(self, key)
            self._watch.removed(value)

    def pop(self, key, *default):
        with lock:
            present = dict.__contains__(self, key)
            value = dict.pop(self, key, *default)
            if present:
                self._watch.removed(value)
        return value

    def popitem(self):
        with lock:
            item = dict.popitem(self)
            self._watch.removed(item[1])
        return item

    def clear(self):
        with lock:
            values = list(dict.values(self))
            dict.clear(self)
            for value in values:
                self._watch.removed(value)

    def setdefault(self, key, default=None):
        with lock:
            if not dict.__contains__(self, key):
                self[key] = default
            return dict.__getitem__(self, key)

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other):
        self.update(other)
        return self

    def __reduce__(self):
        # A copy, also a pickled one, is a plain dict that nobody watches.
        return (dict, (dict(self),))
