"""The house rules, executable."""

import ast
import graphlib
import re
import tomllib
from functools import partial
from pathlib import Path

import pytest

import fsagent_tools
from fsagent_tools import Policy
from fsagent_tools.files.local import LocalFiles
from scripts.growth import entered
from tests.conftest import eventually
from tests.imports import Package

ROOT = Path(__file__).parents[1]
CORE = Package(ROOT / "fsagent_tools")
ROOMS = tomllib.loads(Path(__file__).with_name("rooms.toml").read_text())
FRAMEWORKS = {"langchain", "langchain_core", "langgraph", "llama_index", "mcp", "deepagents", "ray"}
LATE = {  # modules whose functions import, and what: importing the package must stay cheap
    "fsagent_tools": {"fsagent_tools.*"},
    "fsagent_tools.actions.read": {"fsagent_tools.actions.grep"},
    "fsagent_tools.toolsets": {"fsagent_tools.toolsets.*"},
    "fsagent_tools.web.client": {"fsagent_tools.web.transport"},  # httpx: at the first fetch
    "fsagent_tools.cli.past": {"fsagent_tools.events.page"},
    "fsagent_tools.workspace.lazy": {  # what it shows to checkers
        one.target for one in CORE.imports("fsagent_tools.workspace.lazy") if one.typing
    },
}
UNREADABLE = {"fsagent_tools.toolkit.action"}  # no reader of the source can tell its imports
PUBLIC_MODULES = {f"fsagent_tools.{name}" for name in ("errors", "testing", "types")}
LONGEST_FILE, LONGEST_FUNCTION = 500, 60  # lines
READ_ENTERS, EDIT_ENTERS = 22, 37  # files between `Tool.call` and the disk, once all is warm
FIRST_EDIT_ENTERS = 48  # with history, of a process that has read
JOURNAL_ENTERS = 3  # more where what was is kept

FOLDERS = sorted({path.parent for path in CORE.files.values()} - {CORE.folder})
folders = pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: str(p.relative_to(CORE.folder)))


# Imports


def test_every_room_is_in_the_table_and_uses_only_rooms_below_it():
    order = [*ROOMS]
    assert {*order} == {CORE.room(module) for module in CORE.files} - {""}
    for place, (name, room) in enumerate(ROOMS.items()):
        wrong = {*room["uses"], *room.get("types", ())} - {*order[place + 1 :]}
        assert not wrong, f"tests/rooms.toml: {name} may not use {wrong}, which are above it"


def test_a_module_imports_only_what_its_room_may_use():
    wrong = []
    for module in CORE.files:
        room = CORE.room(module)
        uses = {room, *ROOMS.get(room, {}).get("uses", ())}
        types = uses | {*ROOMS.get(room, {}).get("types", ())}
        for one in CORE.imports(module):
            if one.target and room and CORE.room(one.target) not in (types if one.typing else uses):
                wrong.append(f"{module}:{one.line}: `{room}` may not import {one.target}")
    assert not wrong, "tests/rooms.toml"


def test_no_function_imports_and_every_import_can_be_read():
    wrong = []
    for module in CORE.files:
        hidden = {one.target for one in CORE.imports(module) if one.hidden and one.target}
        if hidden != LATE.get(module, set()):
            wrong.append(f"{module}: {hidden}: a first-party import hides inside a function")
        unread = [one.line for one in CORE.imports(module) if not one.target]
        if bool(unread) != (module in UNREADABLE):
            wrong.append(f"{module}: lines {unread}: what do they import?")
    assert not wrong


def reached(module):
    """The files that run when this one does, at once or late."""
    found = set()
    for one in CORE.imports(module):
        if one.target.endswith("*"):
            found |= {name for name in CORE.files if name.startswith(one.target[:-1])}
        elif one.target and not one.typing:
            found.add(one.target)
    return found - {module}


def test_no_files_import_each_other_in_a_circle():
    graph = {module: reached(module) for module in CORE.files}
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError


def test_the_readme_of_the_core_is_the_table_of_rooms(request):
    path = CORE.folder / "README.md"
    rows = "".join(
        f"| `{name}{'/' if (CORE.folder / name).is_dir() else '.py'}` | {room['is']} "
        f"| {', '.join(room['uses'])} |\n"
        for name, room in ROOMS.items()
    )
    head = "# The core\n\nImports point down this list only, and only where the last column says.\n"
    wanted = f"{head}\n| | | may import |\n|---|---|---|\n{rows}"
    if request.config.getoption("--update-golden"):
        path.write_text(wanted)
    assert path.read_text() == wanted, "made from tests/rooms.toml: --update-golden"


def test_the_adapters_import_only_what_is_public():
    for path in sorted((ROOT / "adapters").rglob("*.py")):
        for one in CORE.imports("", path.read_text()):
            public = one.target in {"fsagent_tools", *PUBLIC_MODULES}
            assert public, f"{path.name}:{one.line}: {one.target} is not public"
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "fsagent_tools":
                assert {alias.name for alias in node.names} <= {*fsagent_tools.__all__}


def test_the_nets_import_only_what_is_public():
    """What is inside is rebuilt beneath them."""
    for folder in ("outcomes", "faults"):
        for path in sorted((ROOT / "tests" / folder).glob("*.py")):
            for one in CORE.imports("", path.read_text()):
                public = one.target == "fsagent_tools" or one.target.startswith(
                    tuple(PUBLIC_MODULES)
                )
                assert public, f"{folder}/{path.name}:{one.line}: {one.target} is not public"


def test_the_core_knows_no_agent_framework():
    wrong = []
    for module, path in CORE.files.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if FRAMEWORKS & {name.split(".")[0] for name in names}:
                wrong.append(f"{module}:{node.lineno}")
    assert not [place for place in wrong if CORE.room(place.partition(":")[0]) != "testing"]


# Sizes


def test_files_and_functions_can_be_read_in_one_piece():
    wrong = []
    for module, path in CORE.files.items():
        text = path.read_text()
        if text.count("\n") > LONGEST_FILE:
            wrong.append(f"{module}: {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = node.end_lineno - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    wrong.append(f"{module}:{node.lineno}: {node.name}: {length} lines")
    assert not wrong


# One call


def settle(folder):
    """Until the file is so old that its stamps are trusted: a younger one is read again."""
    with LocalFiles(folder, Policy()).open("a.py") as file:
        assert eventually(lambda: not file.version.racy())


def read(tools, _):
    return partial(tools["read"].call, {"file_path": "a.py"})


def edit_lines(tools, text):
    first = read(tools, "")().text.split("\n")[0]
    changes = [{"line_id": first, "new_content": text}]
    return partial(tools["edit_lines"].call, {"file_path": "a.py", "changes": changes})


@pytest.mark.parametrize(
    ("prepare", "most", "history"),
    [
        (read, READ_ENTERS, True),
        (edit_lines, EDIT_ENTERS, False),
        (edit_lines, EDIT_ENTERS + JOURNAL_ENTERS, True),
    ],
    ids=["read", "edit", "edit with history"],
)
def test_a_call_for_which_all_is_warm_enters_few_files(prepare, most, history, tmp_path):
    (tmp_path / "a.py").write_text("one\ntwo\n")
    settle(tmp_path)
    tools = fsagent_tools.toolset("workspace").bind(
        fsagent_tools.Workspace(tmp_path, history=history)
    )
    assert prepare(tools, "1")().ok
    call = prepare(tools, "2")
    settle(tmp_path)
    assert 0 < len(entered(call)) <= most


def test_the_first_edit_of_a_session_imports_next_to_nothing(tmp_path):
    (tmp_path / "a.py").write_text("one\ntwo\n")
    tools = fsagent_tools.toolset("workspace").bind(fsagent_tools.Workspace(tmp_path))
    assert 0 < len(entered(edit_lines(tools, "1"))) <= FIRST_EDIT_ENTERS


# Words


@folders
def test_a_folder_says_what_each_of_its_files_is(folder):
    text = (folder / "README.md").read_text()
    assert 3 <= sum(bool(line.strip()) for line in text.splitlines()) <= 12
    files = {path.name for path in folder.glob("*.py") if not path.name.startswith("__")}
    named = {*re.findall(r"[\w.]+\.py", text)}
    every = "`*.py`" in text  # one sentence is true of all of them
    assert every or files <= named, f"{folder.name}/README.md does not say what {files - named} is"
    gone = {name for name in named if not any(CORE.folder.rglob(name))}
    assert not gone, f"{folder.name}/README.md tells of {gone}"


def test_no_public_name_is_defined_twice():
    homes: dict[str, list[str]] = {}
    for module, path in CORE.files.items():
        for node in ast.parse(path.read_text()).body if module != CORE.name else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names = [node.name]
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            else:
                continue
            for name in names:
                if name[0] != "_":
                    homes.setdefault(name, []).append(module)
    assert not {name: found for name, found in homes.items() if len(found) > 1}


def test_test_files_have_names_of_their_own():
    """pytest imports a file of a folder without `__init__.py` by its bare name."""
    bare = [
        p.name
        for p in Path(__file__).parent.rglob("test_*.py")
        if not (p.parent / "__init__.py").exists()
    ]
    assert len(bare) == len({*bare})
