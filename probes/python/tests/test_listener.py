"""The sockets: private, one per process, and never the host's trouble."""

import contextlib
import os
import socket
import stat
import sys
import threading
import time
import unittest

import support

# The path of the socket of the program that runs this, in a directory that exists.
PATH = (
    "import os, socket\n"
    "path = os.path.join(os.environ['MCP_RETENTION_PROBE_DIR'], f'{os.getpid()}.sock')\n"
    "os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)\n"
)


class ListenerTest(support.HostTest):
    def refused(self, **variables):
        """What a host writes to standard error that cannot be listened in; it must run on."""
        variables.setdefault("MCP_RETENTION_PROBE_DIR", self.directory)
        done = support.run(support.START + "manager.run(); print('runs')", support.FAKE_SDK, **variables)
        self.assertEqual((done.returncode, done.stdout), (0, "runs\n"))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_the_socket_is_private_and_gone_at_exit(self):
        with self.host() as pid:
            path = self.directory / f"{pid}.sock"
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            self.assertEqual(stat.S_IMODE(self.directory.stat().st_mode), 0o700)
            status, taken = support.fetch(path)
            self.assertEqual((status, taken["pid"], taken["supported"]), (200, pid, True))
        self.assertEqual(self.errors, "")
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_a_directory_that_was_given_to_a_group_opens_the_socket_to_it(self):
        for mode, wanted in ((0o2750, 0o660), (0o750, 0o600), (0o2700, 0o600), (0o2710, 0o600)):
            with self.subTest(oct(mode)):
                self.directory.mkdir(parents=True, exist_ok=True)
                self.directory.chmod(mode)
                with self.host() as pid:
                    path = self.directory / f"{pid}.sock"
                    self.assertEqual(stat.S_IMODE(path.stat().st_mode), wanted)
                    self.assertEqual(path.stat().st_gid, self.directory.stat().st_gid)
                self.assertEqual(self.errors, "")

    def test_a_directory_that_its_group_can_write_in_is_refused(self):
        self.directory.mkdir(parents=True)
        self.directory.chmod(0o2770)
        self.assertIn("writable by others", self.refused())

    def test_the_process_message(self):
        with self.host() as pid:
            status, message = support.fetch(self.directory / f"{pid}.sock", "/v1/process")
            self.assertEqual((status, message["pid"]), (200, pid))
            names = {path.rsplit("/", 1)[1] for path in message["files"]}
            named = {"stat", "statm", "status", "cgroup", "memory.max", "memory.current"}
            self.assertEqual(names - {"memory.limit_in_bytes"}, named)
            # Of control groups of version 1, where there are any.
            limits = [path for path in message["files"] if path.endswith("/memory.limit_in_bytes")]
            mounted = os.path.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes")
            self.assertEqual(mounted, "/sys/fs/cgroup/memory/memory.limit_in_bytes" in limits)
            for path in limits:
                self.assertGreater(int(message["files"][path]), 0)
            if sys.platform == "linux":
                self.assertTrue(message["files"]["/proc/self/stat"].startswith(f"{pid} ("))
                self.assertGreater(message["entries"]["/proc/self/fd"], 3)

    @unittest.skipUnless(sys.platform == "linux", "read from /proc")
    def test_the_start_time_is_the_kernels(self):
        before = time.time()
        with self.host() as pid:
            first, second = (support.fetch(self.directory / f"{pid}.sock")[1] for _ in range(2))
        started = first["processStartTime"]
        self.assertEqual(second["processStartTime"], started)
        # The kernel tells the boot time in whole seconds.
        self.assertLess(before - 1.5, started)
        self.assertLess(started, first["takenAt"] + 1.5)

    def test_anything_else_is_not_found(self):
        with self.host() as pid:
            for method, path in (
                ("GET", "/"),
                ("GET", "/v1/snapshots"),
                ("POST", "/v1/snapshot"),
                ("GET", "/v2"),
            ):
                self.assertEqual(support.fetch(self.directory / f"{pid}.sock", path, method)[0], 404)
            for garbage in (b"\r\n\r\n", b"\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"x" * 9000):
                with socket.socket(socket.AF_UNIX) as client:
                    client.settimeout(20)
                    client.connect(str(self.directory / f"{pid}.sock"))
                    client.sendall(garbage)
                    self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 404 "))
            self.assertEqual(support.fetch(self.directory / f"{pid}.sock")[1]["problems"], [])

    def test_clients_that_hang_do_not_hold_up_others_and_are_dropped(self):
        with self.host() as pid, contextlib.ExitStack() as stack:
            path = str(self.directory / f"{pid}.sock")
            hanging = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(100)]
            for client in hanging:
                client.connect(path)
                client.settimeout(20)
                client.send(b"GET /v1/snap")
            for _ in range(100):
                self.assertEqual(support.fetch(path)[0], 200)
            for client in hanging:
                self.assertEqual(self.rest(client), b"")
            taken = support.fetch(path)[1]
            self.assertEqual((taken["supported"], taken["problems"]), (True, []))

    def rest(self, client):
        try:
            return client.recv(100)
        except ConnectionResetError:
            return b""

    def test_many_clients_at_once(self):
        with self.host() as pid:
            statuses = []

            def read():
                for _ in range(50):
                    statuses.append(support.fetch(self.directory / f"{pid}.sock")[0])

            threads = [threading.Thread(target=read) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(statuses, [200] * 400)

    def test_what_a_dead_process_left_is_replaced(self):
        leave = PATH + "left = socket.socket(socket.AF_UNIX); left.bind(path); left.close()\n"
        with self.host(leave + support.START) as pid:
            self.assertEqual(support.fetch(self.directory / f"{pid}.sock")[0], 200)
        self.assertEqual(self.errors, "")

    def test_a_living_listener_or_another_file_is_left_alone(self):
        for other, sentence in (
            (
                "other = socket.socket(socket.AF_UNIX); other.bind(path); other.listen()\n",
                "another process listens",
            ),
            ("open(path, 'x').close()\n", "something else"),
        ):
            with self.host(PATH + other + support.START) as pid:
                self.assertTrue((self.directory / f"{pid}.sock").exists())
            self.assertIn(sentence, self.errors)
            self.assertTrue((self.directory / f"{pid}.sock").exists())

    def test_a_directory_that_others_can_write_is_refused(self):
        self.directory.mkdir(parents=True)
        for mode in (0o777, 0o770, 0o702):
            self.directory.chmod(mode)
            self.assertIn("writable by others", self.refused())
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_a_path_that_is_too_long_is_refused(self):
        self.assertIn("longer than", self.refused(MCP_RETENTION_PROBE_DIR=self.directory / ("x" * 100)))

    def test_a_directory_that_cannot_be_is_refused(self):
        file = self.directory.parent / "file"
        file.parent.mkdir(parents=True)
        file.touch()
        self.assertIn("not a directory", self.refused(MCP_RETENTION_PROBE_DIR=file).lower())
        self.assertIn("not a directory", self.refused(MCP_RETENTION_PROBE_DIR=file / "below").lower())

    def test_loopback_with_a_port_of_its_own_choice(self):
        for listen, shown in (("127.0.0.1:0", "127.0.0.1:"), ("localhost:0", "127.0.0.1:")):
            with self.host(MCP_RETENTION_PROBE_LISTEN=listen) as pid:
                address = self.directory / f"{pid}.addr"
                self.assertEqual(stat.S_IMODE(address.stat().st_mode), 0o600)
                text = address.read_text()
                self.assertTrue(text.startswith(shown) and text.endswith("\n"))
                host, port = text.strip().rsplit(":", 1)
                self.assertEqual(support.fetch((host, int(port)))[1]["pid"], pid)
                self.assertEqual(list(self.directory.iterdir()), [address])
            self.assertEqual(list(self.directory.iterdir()), [])

    def test_loopback_without_a_directory(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with self.host(MCP_RETENTION_PROBE_DIR="", MCP_RETENTION_PROBE_LISTEN=f"127.0.0.1:{port}") as pid:
            self.assertEqual(support.fetch(("127.0.0.1", port))[1]["pid"], pid)

    def test_other_addresses_are_refused(self):
        for listen in (
            "0.0.0.0:0",
            "[::]:0",
            ":0",
            "192.0.2.1:0",
            "example.org:0",
            "127.0.0.1",
            "127.0.0.1:x",
        ):
            self.assertIn("MCP_RETENTION_PROBE_LISTEN", self.refused(MCP_RETENTION_PROBE_LISTEN=listen))

    def test_a_port_that_is_taken_is_told(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            listen = f"127.0.0.1:{taken.getsockname()[1]}"
            self.assertIn("cannot listen", self.refused(MCP_RETENTION_PROBE_LISTEN=listen))


if __name__ == "__main__":
    unittest.main()
