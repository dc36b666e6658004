"""Attaches the session probe to a Python server process that has this directory on PYTHONPATH.

Does nothing unless MCP_RETENTION_PROBE_DIR or MCP_RETENTION_PROBE_LISTEN is set, and nothing with
MCP_RETENTION_PROBE=off. Whatever happens here, the `sitecustomize` that this directory shadows runs as if
this one were not there.
"""

import os
import sys


def _attach():
    environment = os.environ
    if environment.get("MCP_RETENTION_PROBE", "").strip().lower() == "off" or sys.version_info < (3, 10):
        return
    if environment.get("MCP_RETENTION_PROBE_DIR") or environment.get("MCP_RETENTION_PROBE_LISTEN"):
        from mcp_retention_probe import hook

        hook.install()


def _run_shadowed():
    from importlib.machinery import PathFinder

    own = os.path.dirname(os.path.realpath(__file__))
    ours = [place for place, path in enumerate(sys.path) if os.path.realpath(path) == own]
    later = [
        path for place, path in enumerate(sys.path) if place > min(ours, default=-1) and place not in ours
    ]
    # Another sitecustomize may chain as well, back to this one: each file runs once.
    ran = sys.__dict__.setdefault("_mcp_retention_probe_chained", set())
    for path in later:
        spec = PathFinder.find_spec("sitecustomize", [path])
        if spec is not None and spec.loader is not None and spec.origin not in ran:
            from importlib.util import module_from_spec

            ran.add(spec.origin)
            module = module_from_spec(spec)
            sys.modules["sitecustomize"] = module
            spec.loader.exec_module(module)
            return


try:
    _attach()
except Exception as error:
    sys.stderr.write(f"mcp-retention-probe: not attached: {type(error).__name__}\n")
# Outside of the try: what the shadowed module raises is for the interpreter to report, as without us.
_run_shadowed()
