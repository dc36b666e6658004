"""Builds the MCP server with whatever settings the installed mcp has, and serves it in this process."""

import contextlib
import dataclasses
import importlib
import importlib.metadata
import inspect
import os
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

# mcp and uvicorn are imported in the functions: with several workers only the workers load them, so that an
# observer finds session managers in the processes that serve and nowhere else.


@dataclasses.dataclass(frozen=True)
class Settings:
    """What was asked for; "default" leaves an argument out, so that the build's own default rules."""

    host: str
    port: int
    allowed_hosts: "list[str]"
    idle_timeout: "float | str | None"
    max_sessions: "int | str | None"
    stateless: bool
    json_response: bool


def serve(listener: socket.socket, settings: Settings, ready: "Callable[[dict[str, Any]], None]") -> None:
    """Serves until SIGTERM; `ready` is told what this process serves once it answers."""
    import uvicorn

    app, description = build_app(settings)

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets=sockets)
            if self.started:
                ready(description)

    # An open event stream never ends by itself: a second after SIGTERM whatever still runs is cancelled.
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
    Server(config).run(sockets=[listener])


def build_app(settings: Settings) -> "tuple[Any, dict[str, Any]]":
    """The ASGI application, and what it is: process id, version, settings in force, settings it lacks."""
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    manager, lacks = build_manager(settings)

    class Endpoint:
        # An instance, not a function: Starlette then hands over every method and the raw ASGI call.
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await manager.handle_request(scope, receive, send)

    async def health(_request: Any) -> PlainTextResponse:
        return PlainTextResponse("ok\n")

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    routes = [Route("/healthz", health), Route("/mcp", endpoint=Endpoint())]
    description = {
        "pid": os.getpid(),
        "mcp": importlib.metadata.version("mcp"),
        "lacks": lacks,
        "idleTimeout": None if settings.stateless else getattr(manager, "session_idle_timeout", None),
        "maxSessions": None if settings.stateless else getattr(manager, "max_sessions", None),
    }
    return Starlette(routes=routes, lifespan=lifespan), description


def build_manager(settings: Settings) -> "tuple[Any, list[str]]":
    """The session manager, and the names of the settings that were asked for and that it does not have."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    known = inspect.signature(StreamableHTTPSessionManager.__init__).parameters
    arguments: "dict[str, Any]" = {
        "app": build_lowlevel_server(),
        "json_response": settings.json_response,
        "stateless": settings.stateless,
    }
    if "security_settings" in known:
        arguments["security_settings"] = build_security(settings)
    lacks = []
    # Stateless mode has no sessions to end or to count, and some builds refuse these arguments in it.
    wanted = [
        ("idleTimeout", "session_idle_timeout", settings.idle_timeout),
        ("maxSessions", "max_sessions", settings.max_sessions),
    ]
    for name, argument, value in wanted:
        if settings.stateless or value == "default":
            continue
        if argument in known:
            arguments[argument] = value
        elif value is not None:
            lacks.append(name)
    return StreamableHTTPSessionManager(**arguments), lacks


def build_lowlevel_server() -> Any:
    """The low-level server with the two tools. Log level warning: at info, builds log whole session ids."""
    import anyio

    try:
        server = importlib.import_module("mcp.server.mcpserver").MCPServer("mcp-retention", log_level="WARNING")
    except ModuleNotFoundError:
        server = importlib.import_module("mcp.server.fastmcp").FastMCP("mcp-retention", log_level="WARNING")

    @server.tool()
    async def echo(text: str) -> str:
        """Answers with the same text."""
        return text

    @server.tool()
    async def sleep(seconds: float) -> str:
        """Answers after that many seconds."""
        await anyio.sleep(seconds)
        return f"slept {seconds} s"

    # 2.x and 1.x name it differently; both keep it from the user's eyes.
    return getattr(server, "_lowlevel_server", None) or server._mcp_server


def build_security(settings: Settings) -> Any:
    """Protection against DNS rebinding: only our own host and port, and localhost, are answered."""
    from mcp.server.transport_security import TransportSecuritySettings

    own = {bracketed(settings.host), "127.0.0.1", "localhost", "[::1]"}
    hosts = [f"{host}:{settings.port}" for host in sorted(own)]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts + settings.allowed_hosts,
        allowed_origins=[f"http://{host}" for host in hosts],
    )


def bracketed(host: str) -> str:
    """A host as it stands in a URL: IPv6 addresses in brackets."""
    return f"[{host}]" if ":" in host else host
