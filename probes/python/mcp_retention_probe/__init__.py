"""A probe inside an MCP server process: counts its managers' sessions and answers on a private socket."""

NAME = "mcp-retention-probe-python"
VERSION = "0.1.0"
