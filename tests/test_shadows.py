"""A program in the root: what a model writes there does not become part of it."""

import subprocess
import sys

import pytest

AGENT = """
import sys
from fsagent_tools import Workspace, toolset
workspace = Workspace(".")
tools = toolset("workspace").bind(workspace)
assert tools["write"].call({"file_path": "x.txt", "content": "x"}).ok
if sys.argv[1:]:
    for name in [*sys.stdlib_module_names, "httpx", "PIL", "gone"]:
        if name not in sys.modules:
            with open(name + ".py", "w") as file:
                file.write("print('RAN', __name__)")
for name, arguments in [
    ("read", {"file_path": "a.pdf"}),
    ("read", {"file_path": "a.png"}),
    ("grep", {"pattern": "gone", "path": "x.txt"}),
    ("edit_lines", {"file_path": "x.txt", "changes": []}),
    ("write", {"file_path": "a.yaml", "content": "a: 1"}),
    ("bash", {"command": "true"}),
    ("webfetch", {"url": "http://127.0.0.1:1"}),
    ("lsp", {"file_path": "x.json"}),
]:
    print(name, tools[name].call(arguments).code)
workspace.close()
"""
HOST = """
from fsagent_tools import Workspace, toolset
def approve(request):
    import colorsys, helper
    return helper.here
tools = toolset("workspace").bind(Workspace(".", approve=approve))
print(tools["write"].call({"file_path": "x.txt", "content": "x"}).code)
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4\n")
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")

    def run(program, *words):
        (tmp_path / "agent.py").write_text(program)
        command = [sys.executable, "agent.py", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        return done.stdout

    return run


def test_modules_that_a_model_wrote_are_not_imported_by_a_call(run):
    usual = run(AGENT)
    assert "INTERNAL_ERROR" not in usual
    assert run(AGENT, "shadowed") == usual


def test_code_of_the_host_in_the_root_imports_what_is_beside_it(run, tmp_path):
    (tmp_path / "helper.py").write_text("here = True\n")
    (tmp_path / "colorsys.py").write_text("print('RAN')\n")
    assert run(HOST) == "RAN\nOK\n"
