"""This process as the kernel tells of it: its start, and texts that are passed on unread."""

import os
import time

SCHEMA = "mcp-retention/probe-process/v1"

_FILES = ("/proc/self/stat", "/proc/self/statm", "/proc/self/status", "/proc/self/cgroup")
_DIRECTORIES = ("/proc/self/fd",)
_CGROUPS = "/sys/fs/cgroup"
_LIMIT = 65536

_imported_at = time.time()
_started = {}


def take():
    """A ProcessMessage."""
    files = {path: _read(path) for path in _FILES}
    group = _memory_group(files["/proc/self/cgroup"])
    for name in ("memory.max", "memory.current"):
        files[f"{group}/{name}"] = _read(f"{group}/{name}")
    for path in _limit_files_of_version_1(files["/proc/self/cgroup"]):
        files[path] = _read(path)
    return {
        "schema": SCHEMA,
        "pid": os.getpid(),
        "takenAt": time.time(),
        "files": files,
        "entries": {path: _count(path) for path in _DIRECTORIES},
    }


def start_time():
    """When this process started, in unix seconds; where the kernel does not tell, when the probe was loaded.

    Read once per process: the kernel derives the boot time anew each time, and a correction of the clock
    would look like a restart.
    """
    pid = os.getpid()
    if pid not in _started:
        _started.clear()
        _started[pid] = _read_start_time()
    return _started[pid]


def _read_start_time():
    try:
        # The program's name, in parentheses, may hold anything: count fields from behind it.
        ticks = int(_read("/proc/self/stat").rpartition(")")[2].split()[19])
        boot = next(
            int(line.split()[1])
            for line in _read("/proc/stat", None).splitlines()
            if line.startswith("btime ")
        )
        return boot + ticks / os.sysconf("SC_CLK_TCK")
    except Exception:
        return _imported_at


def _memory_group(cgroup):
    """The directory of this process's control group (version 2), or the root of them."""
    for line in (cgroup or "").splitlines():
        if line.startswith("0::/"):
            directory = os.path.normpath(_CGROUPS + line[3:])
            if directory.startswith(_CGROUPS) and os.path.exists(f"{directory}/memory.current"):
                return directory
    return _CGROUPS


def _limit_files_of_version_1(cgroup):
    """Those of this process's memory group and of the groups above it that are there.

    A container sees its own group as the root, whatever path it is told.
    """
    for line in (cgroup or "").splitlines():
        _, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if "memory" in controllers.split(","):
            parts = [part for part in path.split("/") if part not in ("", "..")]
            groups = ["/".join(["", *parts[:count]]) for count in range(len(parts), -1, -1)]
            paths = [f"{_CGROUPS}/memory{group}/memory.limit_in_bytes" for group in groups]
            return [path for path in paths if os.path.exists(path)]
    return []


def _read(path, limit=_LIMIT):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(limit)
    except OSError:
        return None


def _count(path):
    try:
        return len(os.listdir(path))
    except OSError:
        return None
