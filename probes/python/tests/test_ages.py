import random
import unittest

import support  # noqa: F401  (puts the probe on the path)
from mcp_retention_probe.ages import GRAIN, IDLE_AGES, IdleAges


class IdleAgesTest(unittest.TestCase):
    def test_nobody_is_idle_at_first(self):
        ages = IdleAges()
        self.assertTrue(ages.advance(1e9))
        self.assertIsNone(ages.oldest(1e9))
        self.assertEqual(ages.older_than(), [(age, 0) for age in IDLE_AGES])

    def test_passes_each_age_in_turn(self):
        ages = IdleAges()
        ages.join(100.0)
        for age in IDLE_AGES:
            ages.advance(100.0 + age)
            self.assertEqual(dict(ages.older_than())[age], 0)
            ages.advance(100.0 + age + 0.001)
            self.assertEqual(dict(ages.older_than())[age], 1)
        self.assertEqual(ages.oldest(100.0 + 90000), 90000)

    def test_agrees_with_a_plain_list_at_every_step(self):
        for seed in range(40):
            self._play(random.Random(seed))

    def _play(self, choose):
        ages = IdleAges()
        now = choose.uniform(0, 1e6)
        idle = []
        for _ in range(400):
            now += choose.choice((0, 0.01, 0.3, 1, 7, 400, 4000, 30000))
            move = choose.random()
            if move < 0.5:
                idle.append((now, ages.join(now)))
            elif move < 0.8 and idle:
                ages.leave(idle.pop(choose.randrange(len(idle)))[1])
            else:
                self._compare(ages, [since for since, _ in idle], now, choose)

    def _compare(self, ages, since, now, choose):
        limit = choose.choice((None, 1, 3))
        while not ages.advance(now, limit):
            pass
        oldest = ages.oldest(now)
        if not since:
            self.assertIsNone(oldest)
        else:
            self.assertLessEqual(oldest, now - min(since))
            self.assertGreater(oldest, now - min(since) - GRAIN - 1e-9)
        for age, count in ages.older_than():
            # Never overstated, and understated by less than a grain.
            self.assertLessEqual(count, sum(now - each > age for each in since))
            self.assertGreaterEqual(count, sum(now - each > age + GRAIN for each in since))

    def test_a_small_limit_does_a_part_and_says_so(self):
        ages = IdleAges()
        for second in range(10):
            ages.join(float(second))
        calls = 1
        while not ages.advance(1000.0, 3):
            calls += 1
        self.assertEqual(calls, 4)
        self.assertEqual(dict(ages.older_than())[300], 10)

    def test_keeps_nothing_of_sessions_that_left(self):
        ages = IdleAges()
        for second in range(1000):
            ages.leave(ages.join(float(second)))
        self.assertEqual([len(tier) for tier in ages._tiers], [0] * (len(IDLE_AGES) + 1))


if __name__ == "__main__":
    unittest.main()
