"""What happens at the same time loses nothing, tears nothing, and leads nowhere else."""

import ctypes
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from fsagent_tools import Workspace, toolset

pytestmark = pytest.mark.full

SWAPPER = (
    "import ctypes,sys\nc=ctypes.CDLL(None)\na,b=[x.encode() for x in sys.argv[1:]]\n"
    "print(1, flush=True)\nwhile c.renameat2(-100,a,-100,b,2)==0: pass\n"
)


def test_a_directory_that_becomes_a_link_meanwhile_leads_nothing_out(start, root, outside):
    assert ctypes.CDLL(None).renameat2
    (root / "dir").mkdir()
    (root / "link").symlink_to(outside)
    tools = start("filesystem")
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, root / "dir", root / "link"], stdout=subprocess.PIPE
    )
    swapper.stdout.readline()
    try:
        for number in range(200):
            tools["write"].call({"path": f"dir/{number}", "content": "ours\n"})
            assert "TOP-DRAWER" not in tools["read"].call({"path": "dir/key.txt"}).text
            tools["rm"].call({"path": "dir/key.txt"})
    finally:
        swapper.kill()
        swapper.communicate()
    assert [path.name for path in outside.iterdir()] == ["key.txt"]


def test_edits_of_many_threads_to_one_file_are_all_there(start, root):
    count = 24
    (root / "a.txt").write_text("".join(f"line {n};\n" for n in range(count)))
    tools = [start("filesystem")["edit"] for _ in range(4)]

    def edit(number):
        words = {"old_string": f"line {number};", "new_string": f"LINE {number};"}
        return tools[number % 4].call({"path": "a.txt", **words})

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(edit, range(count)))
    text = (root / "a.txt").read_text()
    for number, out in enumerate(told):
        assert out.ok == (f"LINE {number};" in text), out.text
    assert all(out.ok for out in told), [out.text for out in told if not out.ok]


def test_a_reader_never_sees_half_a_write(start, root):
    one, other = "a\n" * 200_000, "b\n" * 200_000
    (root / "a.txt").write_text(one)
    tool, done, seen = start()["write"], threading.Event(), set()

    def watch():
        while not done.is_set():
            text = (root / "a.txt").read_text()
            seen.add((len(text), text[:1] == text[-2:-1]))

    watcher = threading.Thread(target=watch)
    watcher.start()
    for content in [other, one] * 5:
        tool.call({"file_path": "a.txt", "content": content})
    done.set()
    watcher.join()
    assert seen <= {(400_000, True)}


def test_an_edit_by_id_of_a_line_that_another_changed_is_refused(start, root):
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    mine, theirs = start(), start("filesystem")
    line_id = mine["read"].call({"file_path": "a.txt"}).text.split("\n")[1][5:11]
    assert theirs["edit"].call({"path": "a.txt", "old_string": "two", "new_string": "ZWEI"}).ok
    change = {"line_id": line_id, "new_content": "2"}
    out = mine["edit_lines"].call({"file_path": "a.txt", "changes": [change]})
    assert not out.ok
    assert (root / "a.txt").read_text() == "one\nZWEI\nthree\n"


def test_an_edit_by_id_finds_its_line_where_another_moved_it(start, root):
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    tools = start()
    line_id = tools["read"].call({"file_path": "a.txt"}).text.split("\n")[1][5:11]
    (root / "a.txt").write_text("new\nhead\none\ntwo\nthree\n")
    change = {"line_id": line_id, "new_content": "2"}
    assert tools["edit_lines"].call({"file_path": "a.txt", "changes": [change]}).ok
    assert (root / "a.txt").read_text() == "new\nhead\none\n2\nthree\n"


def test_a_file_that_went_meanwhile_is_not_made_again_by_an_edit(start, root):
    (root / "a.txt").write_text("one\ntwo\n")
    tools = start()
    line_id = tools["read"].call({"file_path": "a.txt"}).text.split("\n")[0][5:11]
    (root / "a.txt").unlink()
    change = {"line_id": line_id, "new_content": "1"}
    out = tools["edit_lines"].call({"file_path": "a.txt", "changes": [change]})
    assert out.code == "FILE_NOT_FOUND"
    assert not (root / "a.txt").exists()


def test_a_directory_is_made_by_all_who_want_it_at_once(root):
    def write(number):
        with_own = Workspace(root)
        tool = toolset("workspace").bind(with_own)["write"]
        out = tool.call({"file_path": f"a/b/c/{number}", "content": "x\n"})
        with_own.close()
        return out

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(write, range(16)))
    assert all(out.ok for out in told), [out.text for out in told if not out.ok]
    assert len(list((root / "a/b/c").iterdir())) == 16
