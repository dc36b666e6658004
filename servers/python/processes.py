"""Processes around the server: worker processes, the ready line, and an end that leaves nothing behind."""

import contextlib
import ctypes
import json
import os
import signal
import socket
import stat
import sys
import threading
import time
import traceback
from typing import Any

from serving import Settings, bracketed, serve

PR_SET_PDEATHSIG = 1
"""From linux/prctl.h: the signal that the kernel sends to this process when its parent ends."""

LAST_RESORT_SECONDS = 4
"""A server that has not ended this long after its stdin closed is cut off."""


def announce(settings: Settings, workers: "list[dict[str, Any]]") -> None:
    """Prints the ready line: one JSON object, the only thing this program writes to stdout."""
    wildcard = settings.host in ("0.0.0.0", "::")
    base = f"http://{'localhost' if wildcard else bracketed(settings.host)}:{settings.port}"
    line = {
        "event": "ready",
        "url": f"{base}/mcp",
        "health": f"{base}/healthz",
        **workers[0],
        "pid": os.getpid(),
        "workers": sorted(worker["pid"] for worker in workers),
    }
    print(json.dumps(line), flush=True)


def end_with_stdin() -> None:
    """Ends this process when its stdin reaches EOF: whoever started it has closed it, or is gone.

    Only a pipe or a socket tells that; /dev/null is at its end from the start, and a terminal stays open.
    """
    mode = os.fstat(0).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        end_with(0)


def end_with(descriptor: int) -> None:
    """Sends SIGTERM to this process once `descriptor` reaches its end; see LAST_RESORT_SECONDS."""

    def watch() -> None:
        try:
            while os.read(descriptor, 4096):
                pass
        except OSError:
            pass  # the same end, seen as an error
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(LAST_RESORT_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="stdin", daemon=True).start()


def run_workers(count: int, listener: socket.socket, settings: Settings) -> int:
    """Forks `count` workers that serve one socket; ends all when one ends unasked. Returns the exit code."""
    # Written by the workers once they serve.
    report_read, report_write = os.pipe()
    # Never written: its end tells the workers that their parent is gone, on every system.
    life_read, life_write = os.pipe()
    pids = set()
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            os.close(report_read)
            os.close(life_write)
            run_worker(listener, settings, report_write, life_read)
        pids.add(pid)
    for descriptor in (report_write, life_read):
        os.close(descriptor)
    listener.close()
    return supervise(pids, settings, report_read)


def run_worker(listener: socket.socket, settings: Settings, report: int, life: int) -> None:
    """The whole life of a worker process; does not return."""
    code = 1
    try:
        die_with_parent()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        end_with(life)
        serve(listener, settings, lambda description: send(report, description))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def send(report: int, description: "dict[str, Any]") -> None:
    # Shorter than PIPE_BUF, so that lines of several workers do not mix.
    os.write(report, json.dumps(description).encode() + b"\n")
    os.close(report)


def die_with_parent() -> None:
    """Linux: the kernel kills this process when its parent ends, even by SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def supervise(pids: "set[int]", settings: Settings, report: int) -> int:
    """Announces the workers when all serve, then waits for them; SIGTERM, SIGINT or EOF on stdin ends them."""
    stopping = False

    def stop(*_: Any) -> None:
        nonlocal stopping
        stopping = True
        for pid in pids:
            # A signal may arrive between a worker's end and its removal from the set.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    end_with_stdin()
    threading.Thread(target=announce_when_ready, args=(len(pids), settings, report), daemon=True).start()
    code = 0
    while pids:
        pid, status = os.wait()
        pids.discard(pid)
        if not stopping:
            code = 1
            print(f"worker {pid} ended unasked ({os.waitstatus_to_exitcode(status)})", file=sys.stderr, flush=True)
            stop()
    return code


def announce_when_ready(count: int, settings: Settings, report: int) -> None:
    with os.fdopen(report) as lines:
        workers = [json.loads(line) for line in lines]
    # Fewer: one ended before it served, and supervise says so.
    if len(workers) == count:
        announce(settings, workers)
