"""An import hook that hands the session manager's module to the probe right after it was executed.

Only this small module is loaded at interpreter start; the rest of the probe comes with the SDK.
"""

import sys

MODULE = "mcp.server.streamable_http_manager"


class Finder:
    """Finds MODULE with the other finders, and lets its own loader execute it; no other name is ours."""

    def __init__(self):
        self._searching = False

    def find_spec(self, name, path=None, target=None):
        if name != MODULE or self._searching:
            return None
        self._searching = True
        try:
            spec = self._find_elsewhere(name, path, target)
        finally:
            self._searching = False
        if spec is not None:
            try:
                _follow(spec.loader)
            except Exception as error:
                _report(error)
        return spec

    def _find_elsewhere(self, name, path, target):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                return spec
        return None


def _follow(loader):
    """Make this loader call the probe once after it executed the module; its type stays what it was."""
    if isinstance(loader, type):
        raise TypeError("the loader is a class")
    execute = loader.exec_module

    def exec_module(module):
        try:
            execute(module)
        finally:
            loader.__dict__.pop("exec_module", None)
        _attach(module)

    loader.exec_module = exec_module


def _attach(module):
    try:
        from . import attach

        attach.attach(module)
    except Exception as error:
        _report(error)


def _report(error):
    try:
        from . import listener, problems

        problems.note("hook", error)
        listener.ensure()
    except Exception:
        sys.stderr.write(f"mcp-retention-probe: not attached: {type(error).__name__}\n")


def install():
    """Watch for the module from now on, and attach at once where it is loaded already. Idempotent."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())
    if MODULE in sys.modules:
        _attach(sys.modules[MODULE])
