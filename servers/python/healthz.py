"""Ends with 0 where the URL given answers 200. Without urllib: a container's health check counts against its memory."""

import socket
import sys


def is_healthy(url: str) -> bool:
    """@param url of http alone, with its port"""
    address, _, path = url.removeprefix("http://").partition("/")
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(f"GET /{path} HTTP/1.0\r\nHost: {address}\r\n\r\n".encode())
        return connection.recv(64).split(b" ")[1:2] == [b"200"]


if __name__ == "__main__":
    sys.exit(0 if is_healthy(sys.argv[1]) else 1)
