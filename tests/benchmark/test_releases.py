"""Hunks of releases: two sets that have nothing in common, and say which of them they are."""

import io
import json
import tarfile

import pytest

from benchmark.hunks import Hunk, from_rows
from benchmark.mine import git, mine
from benchmark.releases import HELD_OUT, SEEN, commit
from benchmark.report import origin

OLD = "one\ntwo\nthree\n"


@pytest.fixture
def release(tmp_path):
    """An archive as registries have them: everything below one folder."""

    def made(version, **files):
        path = tmp_path / f"{version}.tar.gz"
        with tarfile.open(path, "w:gz") as tar:
            for name, text in files.items():
                info = tarfile.TarInfo(f"package-{version}/{name.replace('__', '.')}")
                info.size = len(text)
                tar.addfile(info, io.BytesIO(text.encode()))
        return path

    return made


def test_what_is_held_out_was_never_looked_at():
    names = [package.name for package in (*HELD_OUT, *SEEN, *SEEN)]
    assert all(names.count(package.name) == 1 for package in HELD_OUT)
    assert "bcrypt" not in {package.name for package in HELD_OUT}  # a hunk of it was looked at
    assert len({package.folder for package in (*HELD_OUT, *SEEN)}) == len(HELD_OUT) + len(SEEN)
    assert all("/" not in package.folder for package in HELD_OUT)


def test_each_version_is_a_commit_of_its_sources(tmp_path, release):
    folder = tmp_path / "repository"
    git(tmp_path, "init", "--quiet", "repository")
    commit(folder, release("1", a__py=OLD, b__py=OLD, c__bin="1"), "1")
    commit(folder, release("2", a__py=OLD.replace("two", "2"), c__bin="2"), "2")
    assert git(folder, "log", "--format=%s").decode().split() == ["2", "1"]
    assert git(folder, "ls-files").decode().split() == ["a.py"]  # b.py went, c.bin is no source
    out = tmp_path / "hunks.jsonl"
    assert mine(folder, out, 10, 16, "held-out") == 1
    (hunk,) = from_rows(out)
    assert (hunk.origin, hunk.old, hunk.new) == ("held-out", ["two"], ("2",))


def test_no_file_of_an_archive_is_put_outside(tmp_path, release):
    folder = tmp_path / "repository"
    git(tmp_path, "init", "--quiet", "repository")
    with pytest.raises(ValueError, match="outside"):
        commit(folder, release("1", **{"../../outside__py": OLD}), "1")
    assert not [*tmp_path.glob("outside*")]


def test_the_same_releases_give_the_same_hunks(tmp_path, release):
    archives = [release("1", a__py=OLD), release("2", a__py=OLD.replace("two", "2"))]
    texts = []
    for name in ("first", "second"):
        folder = tmp_path / name / "package"
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet")
        for version, archive in enumerate(archives):
            commit(folder, archive, str(version))
        mine(folder, tmp_path / f"{name}.jsonl", 10)
        texts.append((tmp_path / f"{name}.jsonl").read_bytes())
    assert texts[0] == texts[1]
    assert "set" not in json.loads(texts[0])  # a repository of the user's own is of neither set


def test_a_report_says_of_which_set_its_hunks_are():
    hunks = [
        Hunk(str(n), f"repository {n % 2}", "a.py", OLD, 0, 1, (), origin=name)
        for n, name in enumerate(["held-out", "held-out", "seen", ""])
    ]
    assert origin(hunks) == "4 hunks of 2 repositories (2 held-out, 1 seen, 1 of no named set)."
