"""A histogram of the lifetimes of ended sessions."""

from bisect import bisect_left

BOUNDS = (0.1, 1, 10, 60, 300, 1800, 3600, 21600, 86400)


class Durations:
    """Nothing here locks: see registry.lock."""

    __slots__ = ("_counts", "sum", "count")

    def __init__(self):
        self._counts = [0] * (len(BOUNDS) + 1)
        self.sum = 0.0
        self.count = 0

    def add(self, seconds):
        seconds = max(0.0, seconds)
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        self.sum += seconds
        self.count += 1

    def reported(self):
        """Cumulative buckets without +Inf, the sum of seconds and the count."""
        total = 0
        # The last count, of those beyond every bound, is left out.
        buckets = []
        for bound, count in zip(BOUNDS, self._counts, strict=False):
            total += count
            buckets.append({"le": bound, "count": total})
        return {"buckets": buckets, "sum": self.sum, "count": self.count}
