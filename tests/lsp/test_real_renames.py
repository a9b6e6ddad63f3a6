"""Names of real packages are renamed, and their tests still pass."""

import ast
import os
import random
import re
import subprocess
import sys
import tarfile
import tokenize
from contextlib import closing

import pytest

from fsagent_tools import Workspace, toolset
from tests.conftest import PATIENCE

from .conftest import BIN

pytestmark = pytest.mark.full

SEED, NAMES = 36, 20
PACKAGES = (  # as PyPI has them, the directory of the sources, that of the tests
    ("toolz==1.0.0", "toolz", "toolz/tests"),
    ("more-itertools==10.5.0", "more_itertools", "tests"),
    ("click==8.1.7", "src/click", "tests"),
)
PLAIN = ("-p", "no:cacheprovider", "-p", "no:asyncio", "-W", "ignore")
NOTED = re.compile(r"stands also where \w+ knows no use of it: (.*)\.")


def unpacked(requirement, folder):
    """The sources with their tests."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    if subprocess.run([*command, requirement, "-d", folder], check=False).returncode:
        pytest.skip(f"{requirement} cannot be had")
    (archive,) = folder.glob(f"{requirement.partition('=')[0]}*.tar.gz")
    return archive


def outcome_of(root, tests):
    """How they end, as pytest says it at last."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *PLAIN, tests],
        cwd=root, capture_output=True, text=True, check=False, timeout=10 * PATIENCE,
        env={**os.environ, "PYTHONPATH": f"{root}/src:{root}", "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    last = run.stdout.strip().splitlines()[-1]
    return re.sub(r" in [\d.]+s.*| warnings?", "", last), run.stdout


def in_code(root, place, name):
    """Whether the name stands at `path:line` in code, or alone in a string."""
    path, _, line = place.partition(":")
    if not path.endswith((".py", ".pyi")):
        return not path.endswith((".md", ".rst", ".txt"))
    with tokenize.open(root / path) as file:
        tokens = [
            one for one in tokenize.generate_tokens(file.readline) if one.start[0] == int(line)
        ]
    return any(one.string.strip("'\"") == name for one in tokens)


def declared(folder):
    """(path, name, line) of all functions, methods and classes that are no protocol of Python's."""
    for file in sorted(folder.rglob("*.py")):
        if "test" in str(file.relative_to(folder)):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
            if isinstance(node, kinds) and not node.name.startswith("__"):
                yield file, node.name, node.lineno


@pytest.mark.slow
@pytest.mark.parametrize(("requirement", "sources", "tests"), PACKAGES)
def test_tests_pass_after_renaming_names(requirement, sources, tests, tmp_path):
    """Of a random sample those of which nothing in the code is told to be left."""
    if not (BIN / "ty").exists():
        pytest.skip("ty is not installed")
    with tarfile.open(unpacked(requirement, tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    root = next(p.parent for p in tmp_path.glob("*/PKG-INFO"))
    before, said = outcome_of(root, tests)
    assert "passed" in before, said
    done, left, refused = [], [], []
    with closing(Workspace(root)) as workspace:
        rename = toolset("refactor").showing({"rename": ["timeout"]}).bind(workspace)["rename"]
        names = [*declared(root / sources)]
        random.Random(SEED).shuffle(names)
        for file, name, line in names:
            if len(done) == NAMES:
                break
            path, new = file.relative_to(root).as_posix(), f"{name}_renamed"
            line = next((n for f, other, n in declared(root / sources)
                         if f == file and other == name), line)  # fmt: skip
            out = rename.call({"file_path": path, "name": name, "line": line, "new_name": new,
                               "timeout": PATIENCE})  # fmt: skip
            if not out.ok:
                refused.append((path, name, out.text))
                continue
            noted = NOTED.search(out.data["note"])
            places = noted[1].split(", ") if noted else []
            code = [p for p in places if p.startswith("and ") or in_code(root, p, name)]
            if code:  # such as an attribute of what has no type
                workspace.undo()
                left.append((path, name, code))
            else:
                done.append((path, name))
    after, said = outcome_of(root, tests)
    counts = f"{len(done)} renamed, {len(left)} undone as told to leave places"
    told = f"{requirement}: {counts}, {len(refused)} refused; {before} -> {after}"
    sys.stdout.write(f"{told}\n{refused}\n")
    assert after == before, said
    assert len(done) == NAMES
