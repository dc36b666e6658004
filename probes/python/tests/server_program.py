"""A real server on the installed SDK: prints its port, takes the manager's settings as JSON.

POST /control/<what> changes the registry in ways that no SDK does.
"""

import asyncio
import contextlib
import json
import socket
import sys

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount, Route

try:
    from mcp.server.fastmcp import FastMCP as Server
except ImportError:
    from mcp.server.mcpserver import MCPServer as Server

server = Server("probe-test")


@server.tool()
async def wait(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "done"


low_level = server._mcp_server if hasattr(server, "_mcp_server") else server._lowlevel_server
manager = StreamableHTTPSessionManager(low_level, **json.loads(sys.argv[1]))


@contextlib.asynccontextmanager
async def lifespan(app):
    async with manager.run():
        yield


async def control(request):
    match request.path_params["what"]:
        case "put-unseen":
            dict.__setitem__(manager._server_instances, "unseen", object())
        case "take-unseen":
            dict.popitem(manager._server_instances)
        case "replace":
            manager._server_instances = {}
    return Response()


app = Starlette(
    routes=[
        Route("/control/{what}", control, methods=["POST"]),
        # 2.x serves the public application object itself, 1.x the method.
        Mount("/mcp", app=manager.asgi_app if hasattr(manager, "asgi_app") else manager.handle_request),
    ],
    lifespan=lifespan,
)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
