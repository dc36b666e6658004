"""Prints, as JSON, what a snapshot costs at 100 and at 100,000 registered sessions, and what watching costs.

Run as `python bench_snapshot.py` in this directory; needs no SDK. `p50` and `p95` are of 300 snapshots in
milliseconds, each after 50 requests on sessions that differ, so that there is something to count anew.
"""

import asyncio
import json
import os
import random
import sys
import time
import tracemalloc
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent / "tests" / "fixtures" / "sdk")]
for name in ("MCP_RETENTION_PROBE_DIR", "MCP_RETENTION_PROBE_LISTEN"):
    os.environ.pop(name, None)

from mcp.server import streamable_http_manager as sdk  # noqa: E402
from mcp_retention_probe import attach, snapshot  # noqa: E402

SIZES = (100, 100_000)
REPEATS = 300


def fill(manager, sessions):
    """Register sessions; returns the seconds and the traced bytes that each took."""
    transports = [sdk.StreamableHTTPServerTransport() for _ in range(sessions)]
    keys = [f"{number:032x}" for number in range(sessions)]
    tracemalloc.start()
    begun = time.perf_counter()
    for key, transport in zip(keys, transports, strict=True):
        manager._server_instances[key] = transport
    seconds = time.perf_counter() - begun
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return seconds / sessions, size / sessions


async def request(manager, number):
    await manager.handle_request({"type": "http", "method": "POST", "session": f"{number:032x}"}, None, None)


async def requests(manager, sessions, count):
    choose = random.Random(1)
    begun = time.perf_counter()
    for _ in range(count):
        await request(manager, choose.randrange(sessions))
    return (time.perf_counter() - begun) / count


async def measure(sessions, plain):
    manager = sdk.StreamableHTTPSessionManager()
    _, watched_bytes = fill(manager, sessions)
    times = []
    for _ in range(REPEATS):
        await requests(manager, sessions, 50)
        begun = time.perf_counter()
        taken = snapshot.take()
        times.append((time.perf_counter() - begun) * 1000)
    assert taken["supported"] and taken["managers"][-1]["registered"] == sessions, taken
    times.sort()
    return {
        "sessions": sessions,
        "snapshot_ms": {"p50": round(times[REPEATS // 2], 4), "p95": round(times[REPEATS * 95 // 100], 4)},
        "probe_bytes_per_session": round(watched_bytes - plain["bytes"][sessions]),
        "probe_us_per_request": round(
            (await requests(manager, sessions, 20_000) - plain["request"]) * 1e6, 2
        ),
    }


async def main():
    plain = {"bytes": {}}
    for sessions in SIZES:
        manager = sdk.StreamableHTTPSessionManager()
        plain["bytes"][sessions] = fill(manager, sessions)[1]
        plain["request"] = await requests(manager, sessions, 20_000)
    attach.attach(sdk)
    results = [await measure(sessions, plain) for sessions in SIZES]
    print(json.dumps({"python": sys.version.split()[0], "results": results}, indent=2))


asyncio.run(main())
