"""What several test files need: the probe on the path, a reader of its sockets, servers and their client."""

import contextlib
import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parent
PROBE = TESTS.parent
FAKE_SDK = TESTS / "fixtures" / "sdk"

if str(PROBE) not in sys.path:
    sys.path.insert(0, str(PROBE))


def load_fake_module():
    """The fake SDK's module, executed anew: its classes are wrapped by nobody yet."""
    place = FAKE_SDK / "mcp" / "server" / "streamable_http_manager.py"
    spec = importlib.util.spec_from_file_location("fake_manager_module", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sdk_version():
    """The installed SDK's version as numbers; fails where there is none, since then nothing was tested."""
    from importlib import metadata

    return tuple(int(number) for number in metadata.version("mcp").split(".")[:3])


def is_patched():
    """Whether the installed SDK lets go of deleted and refused sessions, and has a limit."""
    version = sdk_version()
    return (1, 30) <= version < (2,) or version >= (2, 2)


def eventually(check, seconds=30.0):
    """Call `check` until it raises no AssertionError, for a generous time; returns what it returned."""
    ends = time.monotonic() + seconds
    while True:
        try:
            return check()
        except AssertionError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.02)


def fetch(where, path="/v1/snapshot", method="GET"):
    """(status, decoded body) of a probe; `where` is a socket's path or a (host, port)."""
    connection = http.client.HTTPConnection("localhost", timeout=20)
    family = socket.AF_INET if isinstance(where, tuple) else socket.AF_UNIX
    connection.sock = socket.socket(family, socket.SOCK_STREAM)
    with contextlib.closing(connection):
        connection.sock.settimeout(20)
        connection.sock.connect(where if isinstance(where, tuple) else str(where))
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def environment(*path, **variables):
    """This environment with the probe's directory, then `path`, on PYTHONPATH, and `variables` set."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MCP_RETENTION_")}
    inherited["PYTHONPATH"] = os.pathsep.join(str(each) for each in (PROBE, *path))
    return inherited | {name: str(value) for name, value in variables.items()}


def run(source, *path, **variables):
    """Run a Python program to its end with the probe on its path."""
    return subprocess.run(
        [sys.executable, "-c", source],
        env=environment(*path, **variables),
        capture_output=True,
        text=True,
        timeout=60,
    )


def is_free(lock):
    """Whether this thread could take the lock just now."""
    taken = lock.acquire(blocking=False)
    if taken:
        lock.release()
    return taken


def identity_drift(manager):
    counted = manager["registeredAtStart"] + manager["registrations"] - manager["removals"]
    return manager["registered"] - counted


START = (
    "import os, sys, mcp.server.streamable_http_manager as m\nmanager = m.StreamableHTTPSessionManager()\n"
)


class HostTest(unittest.TestCase):
    """A test whose host is a process with the probe and the fake SDK."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name) / "parent" / "probe"

    @contextlib.contextmanager
    def host(self, source=START, **variables):
        """A process that says when it listens, and runs until its standard input ends; yields its id."""
        variables.setdefault("MCP_RETENTION_PROBE_DIR", self.directory)
        with subprocess.Popen(
            [sys.executable, "-c", source + "print('up', flush=True); sys.stdin.read()"],
            env=environment(FAKE_SDK, **variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                self.assertEqual(process.stdout.readline(), "up\n")
                yield process.pid
                _, self.errors = process.communicate(timeout=30)
                self.assertEqual(process.returncode, 0)
            finally:
                process.kill()


class Program:
    """A server process with the probe attached; a context manager that ends it."""

    def __init__(self, **settings):
        self._settings = settings

    def __enter__(self):
        self._stack = contextlib.ExitStack()
        try:
            self.directory = Path(self._stack.enter_context(tempfile.TemporaryDirectory())) / "probe"
            self._process = subprocess.Popen(
                [sys.executable, str(TESTS / "server_program.py"), json.dumps(self._settings)],
                env=environment(MCP_RETENTION_PROBE_DIR=self.directory),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            self._stack.callback(self._end)
            self.port = int(self._process.stdout.readline())
            eventually(self._connect)
        except BaseException:
            self._stack.close()
            raise
        self.pid = self._process.pid
        self.socket = self.directory / f"{self.pid}.sock"
        return self

    def __exit__(self, *_):
        self._stack.close()

    def snapshot(self):
        status, snapshot = fetch(self.socket)
        assert status == 200, status
        return snapshot

    def manager(self):
        """The one manager's counts, which must be supported and without identity drift."""
        snapshot = self.snapshot()
        assert snapshot["supported"] and not snapshot["problems"], snapshot["problems"]
        (manager,) = snapshot["managers"]
        assert identity_drift(manager) == 0, manager
        return manager

    def stop(self):
        """Ask for an orderly end and wait for it."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait(30)

    def _connect(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 5).close()
        except OSError as error:
            raise AssertionError("the server does not listen yet") from error

    def _end(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


class Client:
    """Plain requests to the server program's MCP endpoint; each on a connection of its own."""

    def __init__(self, port):
        self._port = port

    def send(self, method, session=None, message=None, accept="application/json, text/event-stream"):
        """(response, connection) with the answer's body unread."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        headers = {"Accept": accept}
        if session is not None:
            headers["mcp-session-id"] = session
        body = None if message is None else json.dumps(message)
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, "/mcp/", body, headers)
        return connection.getresponse(), connection

    def status(self, method, session=None, message=None, **options):
        response, connection = self.send(method, session, message, **options)
        with contextlib.closing(connection):
            response.read()
        return response.status

    def open(self):
        """The id of a new session."""
        response, connection = self.send("POST", message=INITIALIZE)
        with contextlib.closing(connection):
            response.read()
        assert response.status == 200, response.status
        return response.getheader("mcp-session-id")

    def control(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        with contextlib.closing(connection):
            connection.request("POST", f"/control/{path}")
            assert connection.getresponse().status == 200


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-03-26",
        "capabilities": {},
        "clientInfo": {"name": "probe-test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


def call_wait(seconds):
    return {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "wait", "arguments": {"seconds": seconds}},
    }
