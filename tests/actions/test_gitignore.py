"""What `gitignore` leaves out is what git leaves out: random trees, with git as the judge."""

import random
import shutil
import subprocess

import pytest

from fsagent_tools import Workspace, toolset

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")

NAMES = ("a", "b", "ab", "c.py", "d.txt", "x y", "src", "lib", "out", ".h")
PIECES = (*NAMES, "*", "*.py", "?", "[ab]", "a*", "**", "[!a]*", r"\a", r"x\ y")
ODD = ("/", "//", "!/", "#c", "!", r"\#a", r"\!a", "**/", "/**", "a/**", "**/a", "a**b", "a  ")
TREES = 60
EVERYTHING = {"gitignore": True, "include_noise": True, "include_hidden": True}


def pattern(rng):
    if rng.random() < 0.1:
        return rng.choice(ODD)
    text = "/".join(rng.choices(PIECES, k=rng.choice((1, 1, 1, 2, 3))))
    return rng.choice(("", "", "", "!")) + rng.choice(("", "", "/")) + text + rng.choice(("", "/"))


def rules(rng, most):
    return "\n".join(pattern(rng) for _ in range(rng.randint(1, most))) + "\n"


def plant(rng, root):
    for _ in range(rng.randint(3, 14)):
        path = root.joinpath(*rng.choices(NAMES, k=rng.randint(1, 4)))
        if not any(parent.is_file() for parent in path.parents) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
    folders = sorted(p for p in [root, *root.rglob("*")] if p.is_dir() and ".git" not in p.parts)
    for folder in rng.sample(folders, min(len(folders), rng.randint(1, 3))):
        (folder / ".gitignore").write_text(rules(rng, 5))
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_text(rules(rng, 2))


def by_git(root, tmp_path):
    command = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    nothing = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    told = subprocess.run(
        command, cwd=root, env=nothing, capture_output=True, text=True, check=True
    )
    return {path for path in told.stdout.split("\0") if path and not path.startswith(".ai/")}


@pytest.mark.parametrize("seed", range(TREES))
def test_a_tree_is_what_git_sees(seed, tmp_path):
    root = tmp_path / "tree"
    subprocess.run(["git", "init", "-q", root], check=True)
    plant(random.Random(seed), root)
    glob = toolset("workspace").with_defaults({"glob": EVERYTHING}).bind(Workspace(root))["glob"]
    assert {*glob.call({"pattern": "**/*"}).data["files"]} == by_git(root, tmp_path)
