"""Faults planted into installed packages are found, and no bill is clean that no server gave."""

import random
import re
import shutil
import sys
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from fsagent_tools import Workspace, toolset

from .conftest import BIN, NODE, NODE_BIN

pytestmark = pytest.mark.full

SEED, FAULTS, MAX_BYTES = 59, 13, 60_000
SITE = Path(pytest.__file__).parents[1]
GO = Path("/usr/lib/go-1.19/src")
MODULES = NODE / "node_modules"
TOP = r"(?:def|class) .*:$"  # and not within a string: those of these packages have none at the end


@dataclass(frozen=True)
class Package:
    """An installed package with files to plant into; fault: a line, numbered, for where a statement
    begins; start: the lines that begin one.
    """

    server: str
    program: str
    source: Path
    pattern: str
    fault: str
    start: str
    extra: tuple[str, str] = ("note.txt", "")


PACKAGES = {
    "python: click": Package(
        "ty", "ty", SITE / "click", "[a-z]*.py", "planted_{0}: int = undefined_{0}", TOP
    ),
    "python: rich": Package(
        "ruff", "ruff", SITE / "rich", "[a-z]*.py", "print(undefined_{0})", TOP
    ),
    "python: tenacity": Package(
        "basedpyright", "basedpyright-langserver", SITE / "tenacity", "[a-z]*.py",
        "planted_{0}: int = 's'", TOP,
    ),
    "go: tabwriter": Package(
        "gopls", "gopls", GO / "text/tabwriter", "tabwriter.go", "var planted{0} int = nope{0}",
        r"func |type |// [A-Z]", ("go.mod", "module example.org/p\n\ngo 1.19\n"),
    ),
    "typescript: vscode-jsonrpc": Package(
        "typescript-language-server", "typescript-language-server",
        MODULES / "vscode-jsonrpc/lib/common", "*.d.ts",
        "export declare const planted{0}: Nope{0};",
        r"export ", ("tsconfig.json", "{}"),
    ),
    "json: npm": Package(
        "vscode-json", "vscode-json-language-server", MODULES / "typescript", "package.json",
        '"planted{0}" 1,', r' {4}"',
    ),
    "yaml: npm": Package(
        "yaml", "yaml-language-server", MODULES / "reusify/.github/workflows", "*.yml",
        "planted: [{0}\n", r"\w",
    ),
    "shell: git": Package(
        "bash", "bash-language-server", Path("/usr/lib/git-core"), "git-sh-setup",
        'if [ "$planted{0}" = 1 ; then :; fi', r"\w+ ?\(\) ?\{",
    ),
}  # fmt: skip


def planted(package, folder, pick):
    """Files with one fault each, and its line."""
    start = re.compile(rf"(?m)^(?:{package.start})")
    texts = {file: file.read_text() for file in sorted(folder.glob("*"))}
    files = [f for f, text in texts.items() if len(text) < MAX_BYTES and start.search(text)]
    for number in range(FAULTS):
        file = pick.choice(files)
        lines = (before := texts[file]).splitlines()
        at = pick.choice([n for n, line in enumerate(lines) if start.match(line)])
        changed = [*lines[:at], package.fault.format(number), *lines[at:]]
        file.write_text("\n".join(changed) + "\n")
        yield f"package/{file.name}", at + 1
        file.write_text(before)


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKAGES)
def test_faults_planted_into_installed_packages_are_found(name, tmp_path, monkeypatch):
    package = PACKAGES[name]
    monkeypatch.setenv("PATH", f"{NODE_BIN}:{BIN}:/usr/bin:/bin")
    if not (shutil.which(package.program) and package.source.exists()):
        pytest.skip(f"{package.program} or {package.source} is not installed")
    (tmp_path / "package").mkdir()
    for file in package.source.glob(package.pattern):
        suffix = ".sh" if package.server == "bash" else ""
        shutil.copy(file, tmp_path / f"package/{file.name}{suffix}")
    (tmp_path / package.extra[0]).write_text(package.extra[1])
    counts = Counter[str]()
    servers = {name.partition(":")[0]: [package.server]}
    with closing(Workspace(tmp_path, servers=servers)) as workspace:
        lsp = toolset("workspace").showing({"lsp": ["timeout"]}).bind(workspace)["lsp"]
        for path, line in planted(package, tmp_path / "package", random.Random(SEED)):
            text = lsp.call({"file_path": path, "timeout": 60}).text
            found = {int(n) for n in re.findall(rf"(?m)^{re.escape(path)}:(\d+):", text)}
            near = any(line <= one <= line + 2 for one in found)
            kind = "found" if near else "not checked" if "Not checked" in text else "missed"
            counts[kind] += 1
            if kind != "found":
                sys.stderr.write(f"{name} {path}:{line} {kind}: {text[:200]}\n")
    assert counts["missed"] == 0
    assert counts["found"] >= 0.95 * FAULTS
