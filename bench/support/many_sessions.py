"""A process with the real probe, whose registry grows to the number on each line of its standard input.

It needs no SDK: the module that stands for it has the shape that the probe watches.
"""

import sys

from mcp.server import streamable_http_manager as sdk

manager = sdk.StreamableHTTPSessionManager()
for line in sys.stdin:
    for number in range(len(manager._server_instances), int(line)):
        manager._server_instances[f"{number:032x}"] = sdk.StreamableHTTPServerTransport()
    print(len(manager._server_instances), flush=True)
