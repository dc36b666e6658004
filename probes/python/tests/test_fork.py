"""Children that a host forks: listeners and counts of their own, and no harm to the parent's."""

import os
import unittest

import support


@unittest.skipUnless(hasattr(os, "fork"), "needs fork")
class ForkTest(support.HostTest):
    def test_a_forked_child_has_its_own_socket_and_counts(self):
        source = support.START + (
            f"sys.path.insert(0, {str(support.TESTS)!r})\n"
            "import support\n"
            "def own():\n"
            "    path = os.path.join(os.environ['MCP_RETENTION_PROBE_DIR'], f'{os.getpid()}.sock')\n"
            "    return support.fetch(path)[1]\n"
            "manager._admit_session('a'); manager._admit_session('b'); manager._server_instances.pop('a')\n"
            "parent = os.getpid()\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    assert os.listdir(os.environ['MCP_RETENTION_PROBE_DIR']) == [f'{parent}.sock']\n"
            "    manager.run(); manager._admit_session('c')\n"
            "    taken = own(); (counts,) = taken['managers']\n"
            "    assert taken['pid'] == os.getpid() != parent\n"
            "    assert taken['supported'] and support.identity_drift(counts) == 0\n"
            "    start, new, gone = (counts[n] for n in ('registeredAtStart', 'registrations', 'removals'))\n"
            "    assert (start, new, gone) == (1, 1, 0), counts\n"
            "    sys.exit(0)\n"
            "assert os.waitpid(child, 0)[1] == 0\n"
            "assert os.listdir(os.environ['MCP_RETENTION_PROBE_DIR']) == [f'{parent}.sock']\n"
            "taken = own(); (counts,) = taken['managers']\n"
            "assert taken['pid'] == parent and (counts['registrations'], counts['removals']) == (2, 1)\n"
        )
        with self.host(source) as pid:
            self.assertEqual(support.fetch(self.directory / f"{pid}.sock")[0], 200)
        self.assertEqual(self.errors, "")
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_forks_while_others_read_do_not_hang(self):
        source = support.START + (
            "import threading\n"
            "manager._admit_session('a')\n"
            "def fork():\n"
            "    for _ in range(30):\n"
            "        child = os.fork()\n"
            "        if child == 0:\n"
            "            manager.run(); manager._server_instances.clear()\n"
            "            os._exit(len(manager._server_instances))\n"
            "        assert os.waitpid(child, 0)[1] == 0\n"
        )
        source += "print('up', flush=True); fork()\n"
        with self.host(source) as pid:
            for _ in range(100):
                self.assertEqual(support.fetch(self.directory / f"{pid}.sock")[0], 200)
        self.assertEqual(self.errors, "")


if __name__ == "__main__":
    unittest.main()
