"""Where the probe listens: opens the socket that the environment asks for, privately or not at all."""

import contextlib
import os
import socket
import stat

DIRECTORY_VARIABLE = "MCP_RETENTION_PROBE_DIR"
LISTEN_VARIABLE = "MCP_RETENTION_PROBE_LISTEN"

# Of struct sockaddr_un on Linux, without the closing NUL; other systems have less and say so themselves.
_LONGEST_PATH = 107
_BACKLOG = 128


class Refused(Exception):
    """The probe will not listen there; the message is one line for the operator."""


def open_listener():
    """(listening socket, files to remove at the end), or None where nothing is asked for.

    Raises Refused, or OSError where the system will not.
    """
    directory = os.environ.get(DIRECTORY_VARIABLE) or None
    listen = os.environ.get(LISTEN_VARIABLE) or None
    if directory is not None:
        directory = os.path.abspath(directory)
    if listen is not None:
        return _open_tcp(listen, directory)
    if directory is not None:
        return _open_unix(directory)
    return None


def _open_unix(directory):
    path = os.path.join(directory, f"{os.getpid()}.sock")
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise Refused(f"the socket's path is longer than {_LONGEST_PATH} bytes: {path}")
    _prepare(directory)
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(path)
        try:
            # Nobody can connect before listen, so the socket is never open to others. The umask would do it
            # in one step, but it belongs to the whole process.
            os.chmod(path, 0o660 if _open_to_group(directory) else 0o600)
            listener.listen(_BACKLOG)
        except BaseException:
            os.unlink(path)
            raise
    except BaseException:
        listener.close()
        raise
    return listener, [path]


def _open_tcp(listen, directory):
    host, port = _loopback(listen)
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
        files = []
        if directory is not None:
            _prepare(directory)
            files.append(_write_address(directory, host, listener.getsockname()[1]))
    except BaseException:
        listener.close()
        raise
    return listener, files


def _loopback(listen):
    host, colon, port = listen.strip().rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise Refused(f"{LISTEN_VARIABLE} is not host:port")
    if host == "localhost":
        # Not looked up: what a resolver says is not sure to be loopback.
        host = "127.0.0.1"
    if host != "::1" and not _is_loopback4(host):
        raise Refused(f"{LISTEN_VARIABLE} is not an address on loopback")
    return host, int(port)


def _is_loopback4(host):
    try:
        return socket.inet_pton(socket.AF_INET, host)[0] == 127
    except OSError:
        return False


def _prepare(directory):
    """Create the directory for its owner alone; refuse one in which others can put or replace files."""
    with contextlib.suppress(FileExistsError):
        os.makedirs(os.path.dirname(directory), exist_ok=True)
        os.mkdir(directory, 0o700)
    status = os.stat(directory)
    if not stat.S_ISDIR(status.st_mode):
        raise Refused(f"{DIRECTORY_VARIABLE} is not a directory: {directory}")
    if status.st_mode & 0o022 or status.st_uid not in (0, os.geteuid()):
        raise Refused(f"{DIRECTORY_VARIABLE} is writable by others: {directory}")


def _open_to_group(directory):
    """Whether the operator gave the directory to a group that reads probes: set-group-id and readable by it.

    A file in such a directory has the directory's group, which the server itself need not be a member of. Group
    access without the bit would be access for the server's own group, which nobody asked for.
    """
    asked = stat.S_ISGID | stat.S_IRGRP | stat.S_IXGRP
    return os.stat(directory).st_mode & asked == asked


def _remove_stale(path):
    """Remove what a dead process with our id left; refuse where somebody still answers.

    That happens where containers share the directory, each with process ids of its own.
    """
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise Refused(f"there is something else at the path of the socket: {path}")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        try:
            client.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
        except FileNotFoundError:
            return
    raise Refused(f"another process listens at {path}")


def _write_address(directory, host, port):
    path = os.path.join(directory, f"{os.getpid()}.addr")
    fresh = f"{path}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(fresh)
    text = f"[{host}]:{port}\n" if ":" in host else f"{host}:{port}\n"
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    if _open_to_group(directory):
        os.fchmod(descriptor, 0o640)
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(text)
    # In one step, so that a reader never sees half of it.
    os.replace(fresh, path)
    return path
