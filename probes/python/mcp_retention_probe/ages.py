"""How long sessions have been idle, counted so that reading does not depend on how many there are.

Sessions that became idle within the same quarter of a second share a bucket. Buckets lie in tiers, one for
each age that they have passed, and move on to a later tier as they get older; a tier is in order of age. The
age of a bucket is that of its newest session, so an age is never overstated, and understated by less than a
quarter of a second. Nothing here locks: see registry.lock.
"""

from bisect import bisect_left
from collections import OrderedDict

# The same as IDLE_AGES of the snapshot's contract, in seconds.
IDLE_AGES = (1, 10, 60, 300, 1800, 3600, 21600, 86400)
GRAIN = 0.25


class Bucket:
    """Sessions that became idle at about the same time; gone as soon as it is empty."""

    __slots__ = ("mark", "newest", "count", "tier")

    def __init__(self, mark):
        self.mark = mark
        self.newest = 0.0
        self.count = 0
        self.tier = 0


class IdleAges:
    """Times are those of one monotonic clock in seconds; they must not run backwards between calls."""

    def __init__(self, ages=IDLE_AGES, grain=GRAIN):
        self._ages = tuple(ages)
        self._grain = grain
        self._tiers = [OrderedDict() for _ in range(len(self._ages) + 1)]
        self._totals = [0] * len(self._tiers)

    def join(self, now):
        """A session is idle from now on; returns the bucket with which it leaves again."""
        mark = int(now / self._grain)
        bucket = self._tiers[0].get(mark)
        if bucket is None:
            bucket = self._tiers[0][mark] = Bucket(mark)
        bucket.newest = now
        bucket.count += 1
        self._totals[0] += 1
        return bucket

    def leave(self, bucket):
        """A session of this bucket is idle no longer."""
        bucket.count -= 1
        self._totals[bucket.tier] -= 1
        if bucket.count == 0:
            del self._tiers[bucket.tier][bucket.mark]

    def advance(self, now, limit=None):
        """Move what has passed an age; at most `limit` buckets. Returns whether everything is in its place.

        Older tiers come first: only so does a tier stay in order.
        """
        moves = 0
        for tier in range(len(self._ages) - 1, -1, -1):
            buckets = self._tiers[tier]
            while buckets:
                bucket = next(iter(buckets.values()))
                age = now - bucket.newest
                if age <= self._ages[tier]:
                    break
                if limit is not None and moves >= limit:
                    return False
                moves += 1
                del buckets[bucket.mark]
                self._move(bucket, bisect_left(self._ages, age))
        return True

    def oldest(self, now):
        """Age in seconds of the session that has been idle longest, or None."""
        for buckets in reversed(self._tiers):
            if buckets:
                return max(0.0, now - next(iter(buckets.values())).newest)
        return None

    def older_than(self):
        """(age, sessions idle for longer) for each age, as of the last `advance`."""
        counts = []
        older = 0
        # The tier of those that passed no age is left out.
        for age, total in zip(reversed(self._ages), reversed(self._totals), strict=False):
            older += total
            counts.append((age, older))
        return counts[::-1]

    def _move(self, bucket, tier):
        self._totals[bucket.tier] -= bucket.count
        self._totals[tier] += bucket.count
        bucket.tier = tier
        self._tiers[tier][bucket.mark] = bucket
