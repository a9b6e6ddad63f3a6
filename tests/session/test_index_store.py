"""Line indexes on disk: where they live, when they go, and that a broken one harms nobody."""

import json
import os
import subprocess
import sys
import tempfile
import time
from hashlib import blake2b, sha256
from pathlib import Path
from threading import Thread
from zlib import crc32

import pytest

from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.files.resolve import Signature
from fsagent_tools.session import index_store, texts

FOLDER = ".ai/cache/tools/read/line_index"
TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def file(root):
    (root / "a.txt").write_text(TEXT)
    return root / "a.txt"


def index_of(root, path="a.txt"):
    return root / FOLDER / f"{sha256(path.encode()).hexdigest()[:16]}.json"


def test_a_read_saves_the_documented_facts(root, file, session):
    ids = session.ids()
    data = json.loads(index_of(root).read_text())
    assert data["file_path"] == "a.txt"
    assert data["size"] == len(TEXT)
    assert data["content_hash"] == "blake2b:" + blake2b(TEXT.encode(), digest_size=32).hexdigest()
    assert data["last_modified"] == pytest.approx(file.stat().st_mtime)
    assert data["runs"][0][1] == "".join(ids)


def test_a_new_session_does_not_hash_a_text_that_is_as_it_was(file, sessions, monkeypatch):
    while Signature.of(file.stat()).racy():
        time.sleep(0.001)
    ids = sessions().ids()
    hashed = []
    monkeypatch.setattr(texts, "blake2b", lambda raw, **_: hashed.append(raw) or blake2b(raw))
    assert sessions().ids() == ids
    assert not hashed
    file.write_text(TEXT.replace("two", "2"))
    session = sessions(staleness="file")
    assert session.edit({"line_id": ids[0], "new_content": "1"}).code == "STALE_LINE_IDS"
    assert hashed


def test_the_cache_ignores_itself(root, file, session):
    session.read()
    assert (root / ".ai/cache/.gitignore").read_text() == "*\n"
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    listed = subprocess.run(status, cwd=root, capture_output=True, text=True, check=True).stdout
    assert ".ai" not in listed


NEST = "[" * 100_000
ZEROS = "0" * 16  # a checksum
BROKEN = {
    "empty": "",
    "no JSON": "{",
    "binary": "\0\xff",
    "a list": "[]",
    "nothing in it": "{}",
    "deep": NEST,
    "of another file": {"file_path": "b.txt"},
    "older": {"version": 0},
    "infinite": {"line_count": float("inf")},
    "an infinite run": {"runs": [[float("inf"), "", ""]]},
    "runs of another kind": {"runs": 5},
    "a run without hashes": {"runs": [[0, "aaaaaa"]]},
    "hashes of another length": {"runs": [[0, "aaaaaa", "00"]]},
    "hashes that are no hex": {"runs": [[0, "aaaaaa", "zz"]]},
    "an ID live and retired": {"runs": [[0, "aaaaaa", "00" * 8]], "retired": "aaaaaa"},
    "an ID that is no hex": {"runs": [[0, "zzzzzz", ZEROS]], "check": crc32(b"zzzzzz")},
    "an ID in capitals": {"runs": [[0, "AAAAAA", ZEROS]], "check": crc32(b"AAAAAA")},
    "runs that overlap": {"runs": [[0, "aaaaaabbbbbb", "00" * 16], [1, "cccccc", "00" * 8]]},
    "a run behind the end": {"runs": [[7, "aaaaaa", "00" * 8]]},
    "a negative run": {"runs": [[-1, "aaaaaa", "00" * 8]]},
    "a count too small": {"line_count": 1},
    "a count too large": {"line_count": 10**12},
    "a negative count": {"line_count": -1},
    "no signature": {"signature": None},
    "a signature of texts": {"signature": ["a"] * 5},
    "no content hash": {"content_hash": None},
    "a check in the future": {"checked_ns": 10**30},
    "a check that is text": {"checked_ns": "now"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_index_is_rebuilt(root, file, sessions, name):
    ids = sessions().ids()
    wrong = BROKEN[name]
    if isinstance(wrong, dict) and wrong:
        wrong = json.dumps({**json.loads(index_of(root).read_text()), **wrong})
    index_of(root).write_text(str(wrong))
    session = sessions()
    assert session.read().ok
    again = session.ids()
    assert len(set(again)) == 3
    assert session.edit({"line_id": again[1], "new_content": "TWO"}).ok
    assert file.read_text() == "one\nTWO\nthree\n"
    assert sessions().ids()[0] == again[0]
    assert ids


def test_an_id_that_a_forged_index_gives_to_two_lines_names_neither(root, file, sessions):
    ids = sessions().ids()
    index = index_of(root)
    index.write_text(index.read_text().replace(ids[1], ids[0]))
    session = sessions()
    out = session.edit({"line_id": ids[0], "new_content": "x"})
    assert not out.ok
    assert file.read_text() == TEXT


def test_ids_swapped_in_the_index_do_not_reach_other_lines(root, file, sessions):
    ids = sessions().ids()
    data = json.loads(index_of(root).read_text())
    start, joined, hashes = data["runs"][0]
    data["runs"] = [[start, joined, hashes[16:32] + hashes[:16] + hashes[32:]]]
    data["content_hash"] = data["signature"] = "x"
    index_of(root).write_text(json.dumps(data))
    out = sessions().edit({"line_id": ids[0], "new_content": "x"})
    assert file.read_text() == TEXT or out.code == "OK"


@pytest.mark.parametrize("broken", [None, "{"])
def test_a_session_survives_the_loss_of_its_index(root, file, session, broken):
    ids = session.ids()
    if broken:
        index_of(root).write_text(broken)
    else:
        index_of(root).unlink()
    assert session.edit({"line_id": ids[1], "new_content": "TWO"}).ok
    assert file.read_text() == "one\nTWO\nthree\n"


def test_an_index_unused_for_a_month_goes_and_a_used_one_stays(root, file, sessions):
    (root / "b.txt").write_text("b\n")
    (root / "c.txt").write_text("c\n")
    first = sessions()
    ids, _ = first.ids(), first.ids("b.txt")
    month = time.time() - 31 * 24 * 3600
    for path in ("a.txt", "b.txt"):
        os.utime(index_of(root, path), (month, month))
    session = sessions()
    assert session.ids() == ids
    session.read("c.txt")
    assert index_of(root).exists()
    assert not index_of(root, "b.txt").exists()
    assert index_of(root, "c.txt").exists()


def test_what_a_killed_process_left_behind_is_swept_at_once(root, file, sessions):
    sessions().read()
    dead = subprocess.Popen(["true"])
    dead.wait()
    litter = root / FOLDER / f".fsagent-tmp-{dead.pid}-00"
    litter.write_text("half an index")
    (root / "b.txt").write_text("b\n")
    sessions().read("b.txt")
    assert not litter.exists()


@pytest.mark.parametrize("link", [".ai", ".ai/cache", ".ai/cache/tools/read/line_index"])
def test_a_link_in_the_place_of_the_cache_is_not_followed(root, tmp_path, file, session, link):
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(outside)
    ids = session.ids()
    assert session.edit({"line_id": ids[0], "new_content": "ONE"}).ok
    assert list(outside.iterdir()) == []


def test_a_linked_index_file_is_not_followed(root, tmp_path, file, sessions):
    ids = sessions().ids()
    stolen = tmp_path / "index.json"
    index_of(root).rename(stolen)
    before = stolen.read_bytes()
    index_of(root).symlink_to(stolen)
    session = sessions()
    assert session.ids() == ids
    assert session.edit({"line_id": ids[0], "new_content": "ONE"}).ok
    assert stolen.read_bytes() == before


def test_a_file_in_the_place_of_the_cache_costs_only_persistence(root, file, session):
    (root / ".ai").write_text("a file")
    ids = session.ids()
    assert session.edit({"line_id": ids[0], "new_content": "ONE"}).ok
    assert session.edit({"line_id": ids[1], "new_content": "TWO"}).ok
    assert (root / ".ai").read_text() == "a file"


def test_a_read_only_policy_writes_no_index(root, file, sessions):
    session = sessions(policy=Policy(readonly=True))
    assert session.ids() == session.ids()
    assert [p.name for p in root.iterdir()] == ["a.txt"]


def test_cache_dir_takes_the_indexes(root, tmp_path, file, sessions):
    cache = tmp_path / "deep" / "cache"
    for policy in (Policy(readonly=True), Policy()):
        ids = sessions(cache_dir=cache, policy=policy).ids()
        assert [p.name for p in root.iterdir()] == ["a.txt"]
        assert [p.name for p in cache.iterdir()] == [index_of(root).name]
    assert sessions(cache_dir=cache).edit({"line_id": ids[0], "new_content": "ONE"}).ok


def test_the_strict_toolset_drops_the_index_on_disk(root, file, sessions):
    session = sessions("line_ids")
    ids = session.ids()
    assert index_of(root).exists()
    assert session.edit({"line_id": ids[0], "new_content": "ONE"}).ok
    assert not index_of(root).exists()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become somebody else")
def test_a_root_without_write_permission_keeps_indexes_in_memory():
    script = """
import logging, os, sys, tempfile
from fsagent_tools import Workspace, toolset

def session(root):
    tools = toolset("workspace").bind(Workspace(root))
    read = tools["read"].call({"file_path": "a.txt"}).text
    changes = [{"line_id": read[5:11], "new_content": "x"}]
    return read, tools["edit_lines"].call({"file_path": "a.txt", "changes": changes}).code

with tempfile.TemporaryDirectory() as other:  # imports what others may not read
    open(f"{other}/a.txt", "w").write("one\\n")
    session(other)
os.setgroups([]), os.setgid(65534), os.setuid(65534)
print(*session(sys.argv[1]), sep="\\n")
"""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
        root = Path(folder)
        root.chmod(0o755)
        (root / "a.txt").write_text(TEXT)
        run = [sys.executable, "-c", script, root]
        out = subprocess.run(run, capture_output=True, text=True, check=False)
        if "Permission" in out.stderr:
            pytest.skip("this interpreter is not readable for others")
        assert "one\n" in out.stdout, out.stderr
        assert out.stdout.splitlines()[-1] == "PERMISSION_DENIED"
        assert [p.name for p in root.iterdir()] == ["a.txt"]


def test_every_path_has_its_own_index(root, session):
    for name in ("a.txt", "A.txt", "ä.txt", "a b.txt"):
        (root / name).write_text(TEXT)
        session.read(name)
    assert len(list((root / FOLDER).glob("*.json"))) == 4


def test_sessions_of_two_styles_leave_each_other_s_ids_alone(root, file, sessions):
    (tag,) = sessions().ids(offset=2, limit=1)
    words = sessions(line_ids="words")
    word = words.read(offset=3, limit=1).text.split("\t")[0]
    change = {"line_id": f"{word} three", "new_content": "third"}
    assert sessions(line_ids="tag").edit({"line_id": tag, "new_content": "second"}).ok
    assert sessions(line_ids="words").edit(change).ok
    assert file.read_text() == "one\nsecond\nthird\n"


def test_the_folder_that_one_thread_uses_stays_open_when_another_opens_it_too(
    root, session, monkeypatch
):
    (root / "a.txt").write_text(TEXT)
    session.read()  # makes the folder
    store, found, got = index_store.IndexStore(root, None, memory_only=False), [], []

    def while_another_asks(fd, *, create):
        if not found:
            found.append(Thread(target=lambda: got.append(store.file("a.txt"))))
            found[0].start()
            found[0].join(0.1)
        return opened(fd, create=create)

    opened = index_store._folder_beneath
    monkeypatch.setattr(index_store, "_folder_beneath", while_another_asks)
    mine = store.file("a.txt")
    found[0].join()
    assert os.path.samestat(os.fstat(mine[0]), os.fstat(got[0][0]))


def test_a_home_directory_gets_no_directory_of_ours(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    (home / "a.txt").write_text("one\ntwo\n")
    first = toolset("workspace").bind(Workspace(home))["read"].call({"file_path": "a.txt"})
    again = toolset("workspace").bind(Workspace(home))["read"].call({"file_path": "a.txt"})
    assert first.ok
    assert first.text == again.text
    assert sorted(os.listdir(home)) == [".local", "a.txt"]
    assert list((home / ".local" / "state" / "fsagent").glob("*/line_index/*.json"))


def test_only_what_may_be_a_project_keeps_something_of_ours():
    assert index_store.is_project("/srv/app")
    for place in ("/", "/home/one", "/Users/one", "/root"):
        assert not index_store.is_project(place)
