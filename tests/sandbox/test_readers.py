"""Searches read beneath their directory only, whatever its names lead to meanwhile."""

import ctypes
import subprocess
import threading

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.process.reader import start_reader
from fsagent_tools.sandbox import landlock

if not landlock.abi():
    pytest.skip("this kernel has no Landlock", allow_module_level=True)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("cat inside.txt; cat ../outside.txt", "inside"),
        ("cat inside.txt; ls ..", "inside"),
        ("cat inside.txt; echo x > inside.txt", "inside"),
        ("cat inside.txt; exec 3<>/dev/udp/127.0.0.1/9 && echo open", "inside"),
    ],
)
def test_a_reader_reads_its_own_directory_and_changes_nothing(tmp_path, script, words):
    root = tmp_path / "root"
    root.mkdir()
    (root / "inside.txt").write_text("inside")
    (tmp_path / "outside.txt").write_text("outside")
    argv = ["/bin/bash", "-c", script]
    with start_reader(
        argv, [str(root), "/bin", "/usr/bin"], str(root), subprocess.DEVNULL
    ) as process:
        output, _ = process.communicate()
    assert (output.decode(), process.returncode) == (words, 1 if "ls" not in script else 2)
    assert (root / "inside.txt").read_text() == "inside"


def test_a_directory_that_becomes_a_link_leaks_nothing_into_a_search(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder, text in ((root / "d", "nothing"), (outside, "TOPSECRET")):
        folder.mkdir(parents=True)
        for number in range(30):
            (folder / f"f{number}.txt").write_text(text)
    (root / "link").symlink_to(outside)
    done, libc = threading.Event(), ctypes.CDLL(None)

    def flip():
        names = str(root / "d").encode(), str(root / "link").encode()
        while not done.is_set():
            libc.renameat2(-100, names[0], -100, names[1], 2)  # RENAME_EXCHANGE

    flipper = threading.Thread(target=flip)
    flipper.start()
    grep = toolset("workspace").bind(Workspace(root))["grep"]
    try:
        told = [grep.call({"pattern": "TOPSECRET"}).text for _ in range(100)]
    finally:
        done.set()
        flipper.join()
    assert not [text for text in told if "txt" in text]
