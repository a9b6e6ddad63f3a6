"""A program in the root: what a model writes there does not become part of it."""

import importlib
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from contextvars import copy_context
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions

import pytest

from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.runtime import shadows

AGENT = """
import asyncio
import sys
from importlib.metadata import packages_distributions
from fsagent_tools import EventLog, Workspace, execute, select_tools, toolset
way = sys.argv[1]
if way == "deepagents":
    from fsagent_tools_deepagents import FsAgentBackend
if way == "langchain":
    from fsagent_tools_langchain import get_tools
if way == "llamaindex":
    from fsagent_tools_llamaindex import get_tools
Workspace(".").write_bytes("x.txt", b"x")
if sys.argv[2:]:
    for name in {*sys.stdlib_module_names, *packages_distributions(), "gone"} - {*sys.modules}:
        if name.isidentifier():
            with open(name + ".py", "w") as file:
                file.write("print('RAN', __name__)")
CALLS = [
    ("read", {"file_path": "a.pdf"}),
    ("read", {"file_path": "a.png"}),
    ("grep", {"pattern": "gone", "path": "x.txt"}),
    ("edit_lines", {"file_path": "x.txt", "changes": []}),
    ("write", {"file_path": "a.yaml", "content": "a: 1"}),
    ("write", {"file_path": "x.txt", "content": 1}),
    ("bash", {"command": "true"}),
    ("webfetch", {"url": "http://127.0.0.1:1"}),
    ("lsp", {"file_path": "x.json"}),
]
def tools(workspace):
    return toolset("workspace").bind(workspace)
def direct(workspace):
    workspace.edit_text("x.txt", "x", "y", occurrences="all")
    workspace.find("*.txt"), workspace.search("gone"), workspace.run("true")
    workspace.checkpoint(), workspace.undo(), workspace.diff()
    workspace.close()
if way == "call":
    for name, arguments in CALLS:
        print(name, tools(workspace := Workspace("."))[name].call(arguments).code)
    print(tools(workspace)["bash"].preview({"command": "ls"}).tool)
elif way == "acall":
    for name, arguments in CALLS:
        print(name, asyncio.run(tools(Workspace("."))[name].acall(arguments)).code)
elif way == "methods":
    direct(Workspace("."))
elif way == "approved":
    direct(Workspace(".", approve=lambda _: True, approve_direct=True, log=EventLog("log")))
elif way == "execute":
    for name, arguments in CALLS:
        print(name, execute(name, arguments, ".")["success"])
elif way == "deepagents":
    backend = FsAgentBackend(".")
    backend.write("/y.txt", "one"), backend.edit("/y.txt", "one", "two"), backend.read("/a.png")
    print(backend.grep("two", "/"), backend.glob("*.pdf"), backend.execute("true").exit_code)
else:
    for tool in get_tools("."):
        for arguments in [given for name, given in CALLS if name == tool.core.name]:
            tool.invoke(arguments) if way == "langchain" else tool.call(**arguments)
"""
EVERYTHING = """
import sys
from fsagent_tools import Workspace, toolset
tools = toolset("workspace").bind(Workspace("/", history=False))
for name in sys.argv[1:]:
    print(tools["read"].call({"file_path": name}).code)
"""
HOST = """
from fsagent_tools import Workspace, toolset
def approve(request):
    import colorsys, helper
    return helper.here
tools = toolset("workspace").bind(Workspace(".", approve=approve))
print(tools["write"].call({"file_path": "x.txt", "content": "x"}).code)
"""

LIBRARY = """
def take(name):
    return __import__(name, fromlist=["its"]).here
def made(name):
    scope = {}
    exec(f"def take(): import {name}; return {name}.here", scope)
    return scope["take"]()
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


WAYS = ["call", "acall", "methods", "approved", "execute"]


@pytest.mark.full
@pytest.mark.parametrize("way", [*WAYS, "deepagents", "langchain", "llamaindex"])
def test_modules_that_a_model_wrote_are_not_imported_whatever_way_is_taken(run, way):
    usual = run(AGENT, way)
    assert "INTERNAL_ERROR" not in usual
    shadowed = run(AGENT, way, "shadowed")
    assert "RAN" not in shadowed
    assert way == "deepagents" or shadowed == usual  # a glob finds what was planted


@pytest.mark.full
def test_the_command_line_imports_nothing_from_where_it_is_started(tmp_path):
    (tmp_path / "c.yaml").write_text("max_file_size: 1MB\n")
    for name in {*sys.stdlib_module_names, *packages_distributions()}:
        if name.isidentifier() and name not in ("sys", "builtins"):
            (tmp_path / f"{name}.py").write_text("print('RAN', __name__)")
    start = "import sys; del sys.path[0]; import fsagent_tools.cli; sys.path.insert(0, '')"
    for words in (["write", "x", "y"], ["read", "x"], ["bash", "true"], ["undo"], ["grep", "y"]):
        code = f"{start}; sys.exit(fsagent_tools.cli.main({['--config', 'c.yaml', *words]}))"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "RAN" not in done.stdout + done.stderr, words
        assert not done.stderr.startswith("Traceback"), done.stderr


def test_code_of_the_host_in_the_root_imports_what_is_beside_it(run, tmp_path):
    (tmp_path / "helper.py").write_text("here = True\n")
    (tmp_path / "colorsys.py").write_text("print('RAN')\n")
    assert run(HOST) == "RAN\nOK\n"


def test_code_of_the_host_that_is_in_no_file_imports_from_the_root(tmp_path):
    (tmp_path / "helper.py").write_text("here = True\n")
    (tmp_path / "colorsys.py").write_text("print('RAN')\n")
    command = [sys.executable, "-c", HOST]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "RAN\nOK\n"


NOTICE = """
import sys
from fsagent_tools import Workspace, toolset
for _ in range(2):
    print(toolset("workspace").bind(Workspace(sys.argv[1]))["read"].call({"file_path": "a"}).code)
"""


@pytest.mark.parametrize("inside", [True, False])
def test_a_host_that_imports_from_the_workspace_is_told_once(tmp_path, inside):
    (tmp_path / "root").mkdir()
    place = tmp_path / ("root" if inside else ".")
    (place / "agent.py").write_text(NOTICE)
    command = [sys.executable, place / "agent.py", tmp_path / "root"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.count(f"sys.path has {tmp_path / 'root'}, which tools may") == inside
    assert inside or not done.stderr


def test_the_command_line_which_is_guarded_as_a_whole_tells_of_no_import(tmp_path):
    command = [sys.executable, "-m", "fsagent_tools.cli", "ls"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "sys.path" not in done.stderr


def test_python_itself_may_lie_in_the_root(run, tmp_path):
    done = run(EVERYTHING, os.__file__, str(tmp_path / "a.pdf"))
    assert done == "OK\nFILE_READ_ERROR\n"


@pytest.mark.parametrize("file", [os.__file__, os.path.realpath(sys.executable), pytest.__file__])
def test_no_tool_writes_to_the_python_that_runs(file):
    assert not Policy().explain("write", file).allowed


during = shadows.importing  # a call of a workspace whose tools may change these places


class Project:
    """A root and a library, both where modules are looked for, and a call that runs."""

    def __init__(self, folder, monkeypatch):
        self.root, self.outside = folder / "root", folder / "outside"
        self.monkeypatch, self.before = monkeypatch, {*sys.modules}
        self.outside.mkdir()
        self.root.mkdir()
        for place in (self.outside, self.root):
            monkeypatch.syspath_prepend(place)
        self.has("outside/library", LIBRARY)
        import library

        self.library = library

    def has(self, name, text="here = 'installed'"):
        file = self.root.parent / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        importlib.invalidate_caches()

    @contextmanager
    def calling(self, *places):
        with during([self.root, *places]):
            yield self.library


@pytest.fixture
def project(tmp_path, monkeypatch):
    project = Project(tmp_path, monkeypatch)
    yield project
    for name in {*sys.modules} - project.before:
        if (file := getattr(sys.modules[name], "__file__", None)) and str(tmp_path) in file:
            del sys.modules[name]


@pytest.fixture
def shadowed(project):
    project.has("root/shadowed", "here = 'written'")
    project.has("outside/shadowed")
    return project


def test_what_is_installed_is_found_before_what_is_in_the_root(shadowed):
    with shadowed.calling() as library:
        assert library.take("shadowed") == "installed"


def test_what_only_the_root_has_is_refused(project):
    project.has("root/only_here")
    with project.calling() as library, pytest.raises(ModuleNotFoundError, match="outside"):
        library.take("only_here")
    assert project.library.take("only_here")  # no call runs


def test_a_part_of_a_package_that_has_others_elsewhere_comes_from_outside(project):
    project.has("root/split/shadowed", "here = 'written'")
    project.has("outside/split/shadowed")
    project.has("outside/split/known")
    project.has("root/split/only_here", "here = 'written'")
    assert project.library.take("split.known")
    with project.calling() as library:
        assert library.take("split.shadowed") == "installed"
        with pytest.raises(ModuleNotFoundError):
            library.take("split.only_here")


def test_a_package_of_the_host_goes_on_importing_its_own_parts(project):
    project.has("root/package/__init__", "here = True")
    project.has("root/package/part", "here = 'of the host'")
    assert project.library.take("package")
    with project.calling() as library:
        assert library.take("package.part") == "of the host"


def test_an_editable_installation_is_found_though_the_root_has_its_name(project):
    project.has("elsewhere/edited")
    (project.root / "edited").mkdir()

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None) -> ModuleSpec | None:
            file = project.root.parent / f"elsewhere/{name}.py"
            return importlib.util.spec_from_file_location(name, file) if file.exists() else None

    project.monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    with project.calling() as library:
        assert library.take("edited") == "installed"


def test_code_of_no_file_is_not_the_hosts_for_that(shadowed):
    shadowed.monkeypatch.chdir(shadowed.root)
    with shadowed.calling() as library:
        assert library.made("shadowed") == "installed"


@pytest.mark.parametrize("place", [b"bytes", 1, "", "gone"])
def test_what_else_python_passes_over_in_its_path_is_passed_over(shadowed, place, tmp_path):
    if place in ("", "gone"):  # where there is no working directory any more
        gone = tmp_path / "gone"
        gone.mkdir()
        shadowed.monkeypatch.chdir(gone)
        gone.rmdir()
    sys.path.insert(0, place)  # `syspath_prepend` of the fixture takes it back
    with shadowed.calling() as library:
        assert library.take("shadowed") == "installed"


def test_what_a_call_has_started_imports_as_ever_when_it_is_over(project):
    project.has("root/late")
    with project.calling():
        context = copy_context()
    assert context.run(project.library.take, "late") == "installed"


def test_no_call_imports_from_the_root_of_another_one(shadowed, tmp_path):
    with shadowed.calling():
        pass
    with during([tmp_path / "another"]):
        assert shadowed.library.take("shadowed") == "installed"


def test_a_further_root_is_one_too(shadowed, tmp_path):
    policy = Policy(allowed_paths=["**", f"{shadowed.root}/**"])
    services = Workspace(tmp_path / "main", policy=policy).services
    assert str(shadowed.root) in services.changeable


def test_a_thread_of_a_call_imports_as_the_call_does(shadowed):
    found = []
    with shadowed.calling() as library:
        thread = shadows.Thread(target=lambda: found.append(library.take("shadowed")))
        thread.start()
        thread.join()
    assert found == ["installed"]


def test_a_thread_of_the_host_imports_as_ever_while_a_call_runs(shadowed):
    found = []
    with shadowed.calling() as library:
        thread = threading.Thread(target=lambda: found.append(library.take("shadowed")))
        thread.start()
        thread.join()
    assert found == ["written"]


def test_after_a_call_that_raised_imports_are_as_before(shadowed, monkeypatch):
    def approve(_):
        raise ZeroDivisionError

    tools = toolset("workspace").bind(Workspace(shadowed.root, approve=approve))
    with pytest.raises(ZeroDivisionError):
        tools["write"].call({"file_path": "x", "content": "x"})
    assert shadowed.library.take("shadowed") == "written"
