import copy
import pickle
import random
import sys
import threading
import unittest

import support
from mcp_retention_probe.registry import Registry, lock

MOVES = (
    lambda each, key, value: each.__setitem__(key, value),
    lambda each, key, value: each.setdefault(key, value),
    lambda each, key, value: each.update({key: value, key + 1: value}),
    lambda each, key, value: len(each.__ior__({key: value})),
    lambda each, key, value: each.pop(key, None),
    lambda each, key, value: each.__delitem__(key),
    lambda each, key, value: each.popitem(),
    lambda each, key, value: each.clear() if key == 0 else None,
)


def _outcome(move, each, key, value):
    try:
        return move(each, key, value)
    except KeyError as error:
        return error.args


class Counter:
    """Stands in for a Watch: remembers what it was told."""

    def __init__(self):
        self.entered = []
        self.left = []

    def registered(self, value):
        self.entered.append(value)

    def removed(self, value):
        self.left.append(value)


class RegistryTest(unittest.TestCase):
    def setUp(self):
        self.counter = Counter()
        self.registry = Registry(self.counter, {"a": 1, "b": 2})

    def assertCounted(self, entered, left):
        self.assertEqual((self.counter.entered, self.counter.left), (entered, left))

    def test_starts_with_entries_that_are_not_counted(self):
        self.assertEqual(self.registry, {"a": 1, "b": 2})
        self.assertCounted([], [])

    def test_setting_a_new_key_registers(self):
        self.registry["c"] = 3
        self.assertCounted([3], [])

    def test_setting_over_another_value_removes_and_registers(self):
        self.registry["a"] = 3
        self.assertCounted([3], [1])

    def test_setting_the_same_value_again_is_neither(self):
        self.registry["a"] = 1
        self.assertCounted([], [])

    def test_each_way_to_remove(self):
        del self.registry["a"]
        self.registry["c"] = 3
        self.assertEqual(self.registry.pop("c"), 3)
        self.assertEqual(self.registry.pop("c", None), None)
        self.assertEqual(self.registry.popitem(), ("b", 2))
        self.assertCounted([3], [1, 3, 2])
        self.registry.update(d=4, e=5)
        self.registry.clear()
        self.assertCounted([3, 4, 5], [1, 3, 2, 4, 5])
        self.assertEqual(self.registry, {})

    def test_each_way_to_add(self):
        self.assertEqual(self.registry.setdefault("a", 9), 1)
        self.assertEqual(self.registry.setdefault("c", 3), 3)
        self.registry.update({"d": 4}, e=5)
        self.registry.update([("f", 6)])
        self.registry |= {"g": 7}
        self.assertIsInstance(self.registry, Registry)
        self.assertCounted([3, 4, 5, 6, 7], [])

    def test_what_fails_in_a_dict_fails_here_and_counts_nothing(self):
        for attempt, error in (
            (lambda: self.registry.pop("z"), KeyError),
            (lambda: self.registry.__delitem__("z"), KeyError),
            (lambda: self.registry.__setitem__([], 1), TypeError),
            (lambda: self.registry.pop(), TypeError),
            (lambda: self.registry.update(3), TypeError),
            (lambda: Registry(self.counter, {}).popitem(), KeyError),
        ):
            with self.assertRaises(error):
                attempt()
        self.assertCounted([], [])

    def test_copies_are_plain_dicts_that_nobody_watches(self):
        for other in (
            self.registry.copy(),
            copy.copy(self.registry),
            copy.deepcopy(self.registry),
            pickle.loads(pickle.dumps(self.registry)),
            self.registry | {},
        ):
            self.assertIs(type(other), dict)
            self.assertEqual(other, {"a": 1, "b": 2})

    def test_agrees_with_a_dict_and_keeps_the_identity_whatever_is_done(self):
        for seed in range(40):
            self._play(random.Random(seed))

    def _play(self, choose):
        counter = Counter()
        start = {key: object() for key in range(choose.randrange(5))}
        registry, plain = Registry(counter, start), dict(start)
        for _ in range(200):
            move, key, value = choose.choice(MOVES), choose.randrange(12), object()
            self.assertEqual(_outcome(move, registry, key, value), _outcome(move, plain, key, value))
            self.assertEqual(list(registry.items()), list(plain.items()))
            self.assertEqual(len(registry), len(start) + len(counter.entered) - len(counter.left))

    def test_every_change_is_counted_while_the_lock_is_held(self):
        free = []

        class Looking(Counter):
            def registered(self, value):
                thread = threading.Thread(target=lambda: free.append(support.is_free(lock)))
                thread.start()
                thread.join()

            removed = registered

        for move in MOVES:
            free.clear()
            move(Registry(Looking(), {0: "old"}), 0 if move is not MOVES[1] else 1, "new")
            self.assertEqual(set(free), {False})

    def test_the_identity_holds_under_the_lock_while_threads_change_it(self):
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-6)
        registry = Registry(self.counter, {})
        ended = threading.Event()

        def change(name):
            for turn in range(3000):
                registry[(name, turn)] = turn
                registry.pop((name, turn - 5), None)
            ended.set()

        threads = [threading.Thread(target=change, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        while not ended.is_set():
            with lock:
                drift = len(registry) - (len(self.counter.entered) - len(self.counter.left))
            self.assertEqual(drift, 0)
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    unittest.main()
