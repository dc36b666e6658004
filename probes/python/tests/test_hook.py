"""How the probe gets into a process, and that it stays out of the way there."""

import os
import tempfile
import textwrap
import unittest
from pathlib import Path

import support

MODULE = "mcp/server/streamable_http_manager.py"
# Reads the program's own snapshot, as an observer would.
READ = f"""
import json, os, sys
sys.path.insert(0, {str(support.TESTS)!r})
import support
def own():
    return support.fetch(os.path.join(os.environ["MCP_RETENTION_PROBE_DIR"], f"{{os.getpid()}}.sock"))[1]
"""


class HookTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.place = Path(temporary.name)
        self.directory = self.place / "probe"

    def write(self, name, source):
        """A file below a directory of its own; returns the directory."""
        file = self.place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(source))
        return file.parent

    def fake_sdk(self, source):
        self.write("sdk/mcp/__init__.py", "")
        self.write("sdk/mcp/server/__init__.py", "")
        self.write(f"sdk/{MODULE}", source)
        return self.place / "sdk"

    def run_python(self, source, *path, **variables):
        variables.setdefault("MCP_RETENTION_PROBE_DIR", self.directory)
        done = support.run(source, *path, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_only_the_hook_is_loaded_until_the_sdk_is(self):
        show = "print([m for m in sys.modules if 'mcp' in m], 'threading' in sys.modules)"
        done = self.run_python(f"import sys; {show}")
        self.assertEqual(done.stdout, "['mcp_retention_probe', 'mcp_retention_probe.hook'] False\n")
        self.assertEqual(done.stderr, "")
        self.assertFalse(self.directory.exists())

    def test_attaches_when_the_module_is_imported_and_leaves_with_the_process(self):
        done = self.run_python(
            READ + "import mcp.server.streamable_http_manager as m\n"
            "manager, loader = m.StreamableHTTPSessionManager(), m.__loader__\n"
            "print(own()['supported'], len(own()['managers']), type(loader).__name__, vars(loader))",
            support.FAKE_SDK,
        )
        self.assertRegex(done.stdout, r"^True 1 SourceFileLoader \{'name': '[^']*', 'path': '[^']*'\}\n$")
        self.assertEqual(done.stderr, "")
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_switched_off_or_not_asked_for(self):
        program = "import sys, mcp.server.streamable_http_manager as m; m.StreamableHTTPSessionManager()\n"
        program += "print([n for n in sys.modules if 'probe' in n])"
        for variables in ({"MCP_RETENTION_PROBE": "off"}, {"MCP_RETENTION_PROBE_DIR": ""}):
            done = self.run_python(program, support.FAKE_SDK, **variables)
            self.assertEqual((done.stdout, done.stderr), ("[]\n", ""))
        self.assertFalse(self.directory.exists())

    def test_the_shadowed_sitecustomize_runs_as_if_we_were_not_there(self):
        other = self.write("other/sitecustomize.py", "import sys; mark = 'theirs'; sys.flag = __file__")
        program = "import sys, sitecustomize; print(sitecustomize.mark, sys.flag == sitecustomize.__file__)"
        for variables in ({}, {"MCP_RETENTION_PROBE": "off"}, {"MCP_RETENTION_PROBE_DIR": ""}):
            done = self.run_python(program, other, **variables)
            self.assertEqual((done.stdout, done.stderr), ("theirs True\n", ""))

    def test_the_shadowed_one_may_fail_and_may_chain_itself(self):
        other = self.write("other/sitecustomize.py", "raise RuntimeError('theirs')")
        done = self.run_python("print('runs')", other)
        self.assertEqual(done.stdout, "runs\n")
        self.assertIn("RuntimeError: theirs", done.stderr)
        chaining = f"""
            import sys
            print('second')
            sys.path = [p for p in sys.path if p != {str(self.place / "chains")!r}]
            del sys.modules['sitecustomize']
            import sitecustomize
        """
        chains = self.write("chains/sitecustomize.py", chaining)
        last = self.write("last/sitecustomize.py", "print('third')")
        done = self.run_python("print('runs')", chains, last)
        self.assertEqual((done.stdout, done.stderr), ("second\nthird\nruns\n", ""))

    def test_the_shadowed_one_runs_also_when_the_probe_fails(self):
        broken = self.place / "broken"
        (broken / "mcp_retention_probe").mkdir(parents=True)
        (broken / "sitecustomize.py").write_text((support.PROBE / "sitecustomize.py").read_text())
        (broken / "mcp_retention_probe" / "__init__.py").write_text("raise OSError('broken')")
        other = self.write("other/sitecustomize.py", "print('theirs')")
        path = os.pathsep.join((str(broken), str(other)))
        done = self.run_python("print('runs')", PYTHONPATH=path)
        self.assertEqual(done.stdout, "theirs\nruns\n")
        self.assertEqual(done.stderr, "mcp-retention-probe: not attached: OSError\n")

    def test_an_unknown_shape_is_told_and_the_host_is_fine(self):
        sdk = self.fake_sdk("""
            class StreamableHTTPSessionManager:
                def __init__(self, app):
                    self.sessions = [app]
                def handle_request(self):
                    return self.sessions
        """)
        done = self.run_python(
            READ + "import mcp.server.streamable_http_manager as m\n"
            "print(m.StreamableHTTPSessionManager('app').handle_request())\n"
            "taken = own(); print(taken['supported'], taken['managers'])\n"
            "print(sorted(problem['where'] for problem in taken['problems']))",
            sdk,
        )
        expected = "['app']\nFalse []\n['manager.watch', 'sdk.manager', 'sdk.transport']\n"
        self.assertEqual((done.stdout, done.stderr), (expected, ""))

    def test_an_empty_module_is_told_too(self):
        done = self.run_python(
            READ + "import mcp.server.streamable_http_manager\nprint(own()['supported'])", self.fake_sdk("")
        )
        self.assertEqual((done.stdout, done.stderr), ("False\n", ""))

    def test_what_the_module_raises_passes(self):
        sdk = self.fake_sdk("raise SystemError('theirs')")
        done = self.run_python(
            "try:\n    import mcp.server.streamable_http_manager\n"
            "except SystemError as error:\n    print(error)",
            sdk,
        )
        self.assertEqual((done.stdout, done.stderr), ("theirs\n", ""))

    def test_the_module_is_attached_to_again_when_it_is_reloaded(self):
        done = self.run_python(
            READ + "import importlib, mcp.server.streamable_http_manager as m\n"
            "manager = importlib.reload(m).StreamableHTTPSessionManager()\nprint(len(own()['managers']))",
            support.FAKE_SDK,
        )
        self.assertEqual((done.stdout, done.stderr), ("1\n", ""))


if __name__ == "__main__":
    unittest.main()
