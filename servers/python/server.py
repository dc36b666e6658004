"""A small MCP server for measuring: Streamable HTTP at /mcp with the tools echo and sleep, health at /healthz.

Runs under mcp 1.8.0 to 2.x. See README.md beside this file for the arguments and the ready line.
"""

import os
import sys

# Python leaves the script's own directory out where PYTHONSAFEPATH is set.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import argparse
import math
import socket

import processes
from serving import Settings, serve


def main() -> int:
    options = parse_arguments()
    listener = bind(options.host, options.port)
    settings = Settings(
        host=options.host,
        port=listener.getsockname()[1],
        allowed_hosts=options.allowed_host,
        idle_timeout=options.idle_timeout,
        max_sessions=options.max_sessions,
        stateless=options.stateless,
        json_response=options.json_response,
    )
    if options.workers > 1:
        return processes.run_workers(options.workers, listener, settings)
    processes.end_with_stdin()
    serve(listener, settings, lambda description: processes.announce(settings, [description]))
    return 0


def bind(host: str, port: int) -> socket.socket:
    """A bound socket, so that port 0 gives a port that nobody else can take before the server listens."""
    family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, proto)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address)
    return listener


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="server.py", description=__doc__.splitlines()[0])
    parser.add_argument("--idle-timeout", type=idle_timeout, default="default", metavar="SECONDS|none|default")
    parser.add_argument("--max-sessions", type=max_sessions, default="default", metavar="N|none|default")
    parser.add_argument("--stateless", action="store_true", help="no sessions at all")
    parser.add_argument("--json-response", action="store_true", help="answer with JSON instead of an event stream")
    parser.add_argument("--workers", type=whole_number, default=1, metavar="N", help="processes on the one port")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: any free port (default)")
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="HOST:PORT",
        help="a further Host header to accept, for example behind a proxy; HOST:* for any port",
    )
    return parser.parse_args()


def idle_timeout(text: str) -> "float | str | None":
    if text in ("none", "default"):
        return None if text == "none" else text
    seconds = float(text)
    if not (math.isfinite(seconds) and seconds > 0):
        raise argparse.ArgumentTypeError("must be a positive number of seconds, none or default")
    return seconds


def max_sessions(text: str) -> "int | str | None":
    if text in ("none", "default"):
        return None if text == "none" else text
    return whole_number(text)


def whole_number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be a whole number above 0")
    return number


if __name__ == "__main__":
    sys.exit(main())
