"""The server lets go of its sessions: started with the probe, measured by the command line."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

import pytest

SERVER = pathlib.Path(__file__).with_name("server.py")
TOOL = ["npx", "mcp-retention"]
DEADLINE_SECONDS = 60


@pytest.fixture
def server():
    """URL, probe folder and process id of the server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    probe = subprocess.run([*TOOL, "probe", "python", "--path"], check=True, capture_output=True, text=True)
    with tempfile.TemporaryDirectory() as probes:
        path = os.pathsep.join(filter(None, [probe.stdout.strip(), os.environ.get("PYTHONPATH")]))
        env = os.environ | {"PYTHONPATH": path, "MCP_RETENTION_PROBE_DIR": probes}
        process = subprocess.Popen([sys.executable, SERVER, str(port)], env=env)
        try:
            wait_for(port, process)
            yield f"http://127.0.0.1:{port}/mcp", probes, process.pid
        finally:
            process.terminate()
            process.wait()


def wait_for(port, process):
    """A bare connection tells that it listens; a request could open a session."""
    until = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    pytest.fail("the server does not listen")


def explain(report):
    claims = [claim for build in report["builds"] for case in build["cases"] for claim in case["claims"]]
    wrong = [claim for claim in claims if claim["promised"] and claim["status"] != "pass"]
    return "\n".join(f"{claim['status']} {claim['id']}: {claim['reason']}" for claim in wrong)


def test_the_server_lets_go_of_its_sessions(server, tmp_path):
    url, probes, pid = server
    run = tmp_path / "run"
    done = subprocess.run(
        [*TOOL, "check", url, "--probe-dir", probes, "--pid", str(pid), "--sessions", "50", "--out", str(run)],
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1, 3), done.stderr
    # 0: every promised claim passed. 1: a claim failed. 3: undecided.
    assert done.returncode == 0, explain(json.loads((run / "report.json").read_text()))
