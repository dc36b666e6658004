"""Your server: FastMCP over Streamable HTTP, on the port of its first argument."""

import sys

from mcp.server.fastmcp import FastMCP

server = FastMCP("example", port=int(sys.argv[1]))


@server.tool()
def echo(text: str) -> str:
    return text


if __name__ == "__main__":
    server.run("streamable-http")
