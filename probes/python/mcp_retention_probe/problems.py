"""What the probe could not do. Errors end here and never reach the host."""

import functools

from .registry import lock

_problems = {}


class UnknownShape(Exception):
    """The SDK, or a host, has something else where the probe looks; the message is a sentence of our own."""


def note(where, problem):
    """Count a problem at a fixed place: an exception, or a sentence of our own about the SDK's shape.

    Of an exception only the type and the place in the code are kept: its message may hold a session id.
    """
    last = problem if isinstance(problem, str) else _describe(problem)
    with lock:
        count = _problems[where][0] if where in _problems else 0
        _problems[where] = (count + 1, last)


def listed():
    """The problems so far, as the snapshot has them."""
    with lock:
        return [{"where": where, "count": count, "last": last} for where, (count, last) in _problems.items()]


def quietly(where):
    """Decorate a function that runs within the host: its errors are noted, and it returns None instead."""

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except Exception as error:
                note(where, error)
                return None

        return call

    return decorate


def _describe(error):
    if isinstance(error, UnknownShape):
        return str(error)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    file = trace.tb_frame.f_code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{type(error).__name__} at {file}:{trace.tb_lineno}"
