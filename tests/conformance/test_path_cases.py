"""Path cases from other projects' suites: what must be refused is, what must work does."""

import os

import pytest

from fsagent_tools import Policy, errors
from fsagent_tools.files.local import LocalFiles
from tests.conformance.rows import at_least, rows

pytestmark = pytest.mark.full

ROWS = rows("path_cases")
CLASSES = {
    "missing": errors.Missing,
    "not_a_dir": (errors.NotADirectory, errors.Missing),
    "loop": (errors.LinkLoop, errors.Missing),
    "invalid": (errors.InvalidPath, errors.OutsideWorkspace),
}


def fill(text, tmp):
    return text.replace("$ROOT", f"{tmp}/ROOT").replace("$TMP", str(tmp))


def build(setup, tmp):
    for step, path, detail in setup:
        at = tmp / path
        at.parent.mkdir(parents=True, exist_ok=True)
        match step:
            case "dir":
                at.mkdir(exist_ok=True, parents=True)
            case "file":
                at.write_text(detail)
            case "symlink":
                at.symlink_to(fill(detail, tmp))


def write(door, path):
    with door.lock(path, create_dirs=True) as target:
        target.write(b"written", expect=target.version)


def read(door, path):
    if door.stat(path + "/." if path.endswith("/") else path).kind == "directory":
        listing(door, path)
        return
    try:
        with door.open(path) as file:
            file.read()
    except errors.NotAFile:  # a link to a directory: opening it is what the case means
        listing(door, path)


def listing(door, path):
    with door.directory(path) as directory:
        directory.entries()


OPS = {
    "read": read,
    "write": write,
    "ls": listing,
    "stat": LocalFiles.place,
    "lstat": LocalFiles.stat,
    "mkdir": LocalFiles.make_directory,
    "move": lambda door, path: door.move(path, "moved"),
    "copy": lambda door, path: door.copy(path, "copied"),
    "remove": lambda door, path: door.remove(path, recursive=True),
    "move to": lambda door, path: door.move("their", path, overwrite=True),
    "copy to": lambda door, path: door.copy("their", path, overwrite=True),
}
LINK_ITSELF = {"lstat", "move", "remove", "move to", "copy to"}


def tree(top):
    return sorted(
        (str(p), os.readlink(p) if p.is_symlink() else p.is_file() and p.read_bytes())
        for p in top.rglob("*")
        if not p.is_relative_to(top / "ROOT")
    )


@pytest.fixture(params=["openat2", "walk"])
def walk(request):
    return request.param == "walk"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_row_holds_for_its_own_operation(row, tmp_path, walk):
    build(row["setup"], tmp_path)
    door = LocalFiles(tmp_path / "ROOT", Policy(), walk=walk)
    path, before = fill(row["request_path"], tmp_path), tree(tmp_path)
    operation = OPS.get(row["op"], listing)
    must_work = (
        row["allowed"] and row["realpath_inside"] and row["policy"] in ("beneath", "realpath")
    )
    refused = attempt(operation, door, path)
    door.close()
    assert tree(tmp_path) == before
    if refused is None:
        assert row["realpath_inside"], "reached outside"
        assert row.get("refusal") not in ("missing", "loop")
    else:
        assert not must_work, refused
        if row["policy"] in ("beneath", "realpath") and row.get("refusal") in CLASSES:
            assert isinstance(refused, CLASSES[row["refusal"]])


def attempt(operation, door, path):
    try:
        operation(door, path)
    except errors.ToolError as error:
        return error
    return None


@pytest.mark.parametrize("operation", OPS)
def test_no_operation_follows_an_escaping_row(operation, tmp_path, walk):
    escaping = [r for r in ROWS if r.get("refusal") == "escape" and r["realpath_inside"] is False]
    assert len(escaping) > at_least(5, 15)
    for row in escaping:
        top = tmp_path / row["id"]
        build(row["setup"], top)
        (top / "ROOT" / "their").write_text("ours")
        door, before = LocalFiles(top / "ROOT", Policy(), walk=walk), tree(top)
        path = fill(row["request_path"], top)
        # an operation on a link itself stays inside when the link's own place is inside
        own = os.path.realpath(os.path.dirname(f"{top}/ROOT/{path}".rstrip("/")))
        if operation in LINK_ITSELF and own.startswith(f"{top}/ROOT"):
            attempt(OPS[operation], door, path)
        else:
            assert attempt(OPS[operation], door, path), row["id"]
        door.close()
        assert tree(top) == before, row["id"]
