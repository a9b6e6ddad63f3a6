"""Listing files and directories: what is found, left out, and in which order."""

import json
import os

import pytest

from fsagent_tools import Policy, Tool, Workspace
from fsagent_tools.types import Entry
from tests.conftest import soon


@pytest.fixture
def run(tmp_path):
    def call(action, policy=None, arguments=None, **hidden):
        tool = Tool(Entry(action, show=("path",)), Workspace(tmp_path, policy=policy))
        outcome = tool.call(arguments or {}, **hidden)
        json.dumps(outcome.to_dict()).encode()
        return outcome

    return call


@pytest.fixture
def find(run):
    def call(pattern, path=".", policy=None, **hidden):
        return run("glob", policy, {"pattern": pattern, "path": path}, **hidden)

    return call


def put(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("**/*.py", ["a.py", "s/b.py", "s/t/c.py"]),
        ("*.py", ["a.py", "s/b.py", "s/t/c.py"]),
        ("./*.py", ["a.py"]),
        ("s/*.py", ["s/b.py"]),
        ("s/**/*.py", ["s/b.py", "s/t/c.py"]),
        ("s/**", ["s/.h", "s/b.py", "s/d.js", "s/t/c.py"][1:]),
        ("s/", ["s/b.py", "s/d.js", "s/t/c.py"]),
        ("**/{b,c}.*", ["s/b.py", "s/t/c.py"]),
        ("s/.*", ["s/.h"]),
        (".h", ["s/.h"]),
        (".x/**", [".x/y"]),
        ("*/y", []),
        ("*/*", ["s/b.py", "s/d.js"]),
    ],
)
def test_patterns_find_files_beneath_path(tmp_path, find, pattern, found):
    put(tmp_path, "a.py", "s/b.py", "s/d.js", "s/t/c.py", "s/.h", ".x/y")
    out = find(pattern)
    assert out.data["files"] == found
    assert (out.data["count"], out.data["truncated"]) == (len(found), False)
    if found:
        assert out.text.partition("\nLeft out (")[0] == "\n".join(found)


def test_results_are_relative_to_the_root_or_absolute(tmp_path, find):
    put(tmp_path, "s/b.py")
    assert find("*.py", "s").text == "s/b.py"
    assert find("*.py", "s", absolute=True).text == str(tmp_path / "s/b.py")
    assert find(f"{tmp_path}/s/*.py").text == "s/b.py"


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "s/../../*", "{a,../b}*", "/*"])
def test_a_pattern_cannot_leave_the_root(tmp_path, find, pattern):
    out = find(pattern)
    assert out.code == "PATH_OUTSIDE_WORKSPACE"
    assert "pattern:" in out.text


@pytest.mark.parametrize("pattern", ["", "\0", "[", "{a", "\\", "{a,b}" * 15, "x" * 5000])
def test_a_bad_glob_is_refused(tmp_path, find, pattern):
    out = find(pattern)
    assert (out.code, out.text[:15]) == ("INVALID_GLOB", "Error: pattern:")


def test_the_first_results_by_name_are_shown_and_the_rest_announced(tmp_path, find):
    names = sorted([f"{d}/{f}.py" for d in "abc" for f in "xyz"] + ["b.py", "0.py"])
    put(tmp_path, *names)
    by_name = sorted(names, key=lambda name: name.split("/"))
    for most in range(1, len(names)):
        out = find("*.py", max_results=most)
        assert out.data["files"] == by_name[:most]
        assert out.data["truncated"]
        assert f"First {most} of " in out.text
    assert find("*.py", max_results=len(names)).data["files"] == by_name


def test_newest_first_when_sorted_by_time(tmp_path, find):
    put(tmp_path, "a", "b", "s/c")
    for age, name in enumerate(["b", "s/c", "a"]):
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    assert find("*", sort="mtime").data["files"] == ["b", "s/c", "a"]
    assert find("*", sort="mtime", max_results=1).data["truncated"]


def test_directories_are_found_when_asked_for(tmp_path, find):
    put(tmp_path, "s/t/a")
    assert find("*", kind="dir").data["files"] == ["s", "s/t"]
    assert find("s/*", kind="any").data["files"] == ["s/t"]
    assert find("**/t", kind="any").data["files"] == ["s/t"]


def test_noise_is_left_out_unless_it_is_named(tmp_path, find):
    noise = ["node_modules", "__pycache__", ".git", "venv", "dist", "build", "p.egg-info", ".svn"]
    put(tmp_path, *(f"{name}/x" for name in noise), "src/dist")
    out = find("**/*", include_hidden=True)
    assert out.data["files"] == ["src/dist"]
    missing = find("y")
    told = "Left out (dependencies and builds): .svn, __pycache__, build, dist, node_modules"
    told += " and 2 more. To see one, give its path."
    assert missing.text.endswith(told)
    assert out.text == f"src/dist\n{told}"
    assert len(find("x", include_hidden=True, include_noise=True).data["files"]) == 7
    assert find("dist/**").data["files"] == ["dist/x"]
    assert find("*", "node_modules").data["files"] == ["node_modules/x"]
    assert find(".git/*").data["files"] == [".git/x"]


def test_the_cache_and_temporary_files_are_never_listed(tmp_path, find, run):
    put(tmp_path, ".ai/cache/x", ".ai/notes", ".fsagent-tmp-1-ab")
    assert find("**/*", include_hidden=True).data["files"] == [".ai/notes"]
    assert run("ls", include_hidden=True).text == ".ai/"
    (tmp_path / ".ai/notes").unlink()
    assert run("ls", include_hidden=True).text == "Nothing to list in '.'."


def test_gitignore_files_are_honoured_when_asked_for(tmp_path, find):
    put(tmp_path, "a.log", "s/b.log", "s/keep.log", "out/x", "s/out", "s/t/d", "s/{x}")
    (tmp_path / ".gitignore").write_text("# c\n*.log\nout/\n!keep.log\n\\#x\n{x}\n")
    (tmp_path / "s/.gitignore").write_text("/t/d\n")
    assert find("**/*", gitignore=True).data["files"] == ["s/keep.log", "s/out"]
    assert find("*", "s", gitignore=True).data["files"] == ["s/keep.log", "s/out"]
    assert len(find("**/*").data["files"]) == 7


def test_links_are_files_only_when_they_lead_to_one_inside(tmp_path, find):
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    put(outside, "secret")
    put(tmp_path, "s/a")
    for name, target in {"in": "s/a", "out": outside / "secret", "gone": "x", "d": "s"}.items():
        (tmp_path / name).symlink_to(target)
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "far").symlink_to(outside)
    assert find("*").data["files"] == ["in", "s/a"]
    assert find("*", follow_symlinks=True).data["files"] == ["d/a", "in"]  # s is d, listed once
    assert find("*", "far").code == "PATH_OUTSIDE_WORKSPACE"


def test_what_the_policy_denies_is_not_listed(tmp_path, find, run):
    put(tmp_path, "a", "s/b", ".env")
    denied = Policy(denied_paths=(".env", "s/**"))
    assert find("**/*", policy=denied, include_hidden=True).data["files"] == ["a"]
    assert run("ls", denied, include_hidden=True).text == "a"


def test_a_very_deep_tree_is_walked_without_many_descriptors(tmp_path, find):
    fd = os.open(tmp_path, os.O_RDONLY)
    for _ in range(400):
        os.mkdir("deep-directory", dir_fd=fd)
        inner = os.open("deep-directory", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(os.open("bottom", os.O_CREAT, dir_fd=fd))
    os.close(fd)
    with soon():
        out = find("bottom")
    assert out.data["files"] == ["deep-directory/" * 400 + "bottom"]


def test_names_that_are_no_text_are_shown_escaped(tmp_path, find, run):
    for name in (b"a\nb", b"c\xff", b"\x1b[31m"):
        with open(os.path.join(os.fsencode(tmp_path), name), "w"):
            pass
    assert find("*").text.splitlines() == ["\\x1b[31m", "a\\nb", "c\\xff"]
    assert run("ls").text.splitlines() == ["\\x1b[31m", "a\\nb", "c\\xff"]


def test_an_unreadable_directory_is_counted(tmp_path, find, monkeypatch):
    put(tmp_path, "a", "closed/b")
    real = os.open

    def refuse(path, flags, *rest, **options):
        if path == "closed":
            raise PermissionError(13, "Permission denied", path)
        return real(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", refuse)  # root may read anything
    out = find("b")
    assert "1 directory could not be read." in out.text


def test_ls_puts_directories_first_and_marks_them(tmp_path, run):
    put(tmp_path, "README.md", "src/x", "tests/y", "a", "node_modules/z", ".hidden")
    out = run("ls")
    left_out = "Left out (hidden, dependencies and builds): .hidden, node_modules."
    left_out += " To see one, give its path."
    assert out.text == f"src/\ntests/\nREADME.md\na\n{left_out}"
    assert out.data["entries"][0] == {"name": "src", "type": "directory"}
    assert out.data["entries"][-1] == {"name": "a", "type": "file"}


def test_ls_filters_descends_and_measures_when_asked_to(tmp_path, run):
    put(tmp_path, "a.py", "s/b.py", "s/c.md")
    assert run("ls", recursive=True).text == "s/\na.py\ns/b.py\ns/c.md"
    assert run("ls", pattern="*.py").text == "a.py"
    assert run("ls", pattern="*.py", recursive=True, sizes=True).text == (
        "a.py (1 bytes)\ns/b.py (1 bytes)"
    )
    assert run("ls", max_results=1).text.endswith("First 1 of 2 entries.")
    put(tmp_path, ".h")
    assert run("ls", include_hidden=True).text == "s/\n.h\na.py"


def test_ls_says_what_links_and_other_things_are(tmp_path, run):
    put(tmp_path, "s/a")
    (tmp_path / "f").symlink_to("s/a")
    (tmp_path / "d").symlink_to("s")
    (tmp_path / "out").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "p")
    assert run("ls").text == "d/\ns/\nf\nout@\np"
    kinds = {e["name"]: e["type"] for e in run("ls").data["entries"]}
    assert kinds == {"d": "directory", "s": "directory", "f": "file"} | {
        "out": "symlink",
        "p": "other",
    }


def test_ls_of_nothing_a_file_or_the_outside_says_so(tmp_path, run):
    put(tmp_path, ".h")
    assert "Nothing to list in '.'" in run("ls").text
    assert run("ls", arguments={"path": ".h"}).code == "NOT_A_DIRECTORY"
    assert run("ls", arguments={"path": "nope"}).code == "FILE_NOT_FOUND"
    assert run("ls", arguments={"path": ".."}).code == "PATH_OUTSIDE_WORKSPACE"


def test_a_listing_is_as_long_as_an_answer_of_read(tmp_path, run):
    put(tmp_path, *(f"d/{n:04}{'x' * 200}" for n in range(400)))
    listed, found = run("ls", path="d"), run("glob", pattern="d/*", max_results=1000)
    for out in (listed, found):
        assert len(out.text) < 52_000
        assert out.data["truncated"]
        assert f"First {out.data['count']} " in out.text
    assert "of 400 entries" in listed.text


def test_a_name_is_found_by_the_pattern_that_it_is_shown_as(find, tmp_path):
    (tmp_path / "lit\tx.txt").write_text("")
    assert find("lit\\tx.txt").text == find("lit*").text == "lit\\tx.txt"
