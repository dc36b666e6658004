"""A probe inside an MCP server process: counts its managers' sessions and answers on a private socket."""

NAME = "python"
VERSION = "0.1.0"
