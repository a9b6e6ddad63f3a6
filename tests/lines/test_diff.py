"""The diff of an edit is what the patch program makes the new file from."""

import shutil
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fsagent_tools.lines.diff import unified
from fsagent_tools.lines.hunks import Hunk, refine, rewrite
from fsagent_tools.lines.source import Lines, split

pytestmark = pytest.mark.skipif(not shutil.which("patch"), reason="needs patch")
LINE = st.sampled_from(["", "a", "b", "}", "x y", "ä", "-- c", "++ d", "@@ -1 +1 @@"])
TEXT = st.tuples(st.lists(LINE, min_size=1, max_size=12), st.booleans()).map(
    lambda pair: ("\n".join(pair[0]) + "\n" * pair[1]).encode()
)


def patched(folder, old, diff):
    (folder / "a").write_bytes(old)
    command = ["patch", "-s", "--posix", "-o", "b", "a"]
    made = subprocess.run(command, cwd=folder, input=diff.encode() + b"\n", capture_output=True)
    assert made.returncode == 0, made.stdout.decode() + diff
    return (folder / "b").read_bytes()


def whole(old, new):
    lines = Lines.of(old, b"\n")
    return list(refine(Hunk(0, lines.count, tuple(split(new, b"\n"))), split(old, b"\n")))


@pytest.mark.parametrize("context", [0, 1, 3])
def test_patch_makes_the_new_text_from_the_diff(tmp_path, context):
    @settings(max_examples=60)
    @given(TEXT, TEXT)
    def check(old, new):
        assume(old.strip(b"\n") and new.strip(b"\n"))
        lines, fresh = Lines.of(old, b"\n"), Lines.of(new, b"\n")
        diff = unified("a", lines, whole(old, new), context=context,
                       ends_with_newline=fresh.ends_with_newline)  # fmt: skip
        if old == new:
            assert diff == ""
        else:
            assert patched(tmp_path, old, diff) == new

    check()


def test_patch_makes_the_new_text_from_the_diff_of_hunks(tmp_path):
    @settings(max_examples=60)
    @given(TEXT, st.data())
    def check(old, data):
        lines = Lines.of(old, b"\n")
        assume(lines.count)
        cuts = sorted(data.draw(st.sets(st.integers(0, lines.count), min_size=2, max_size=6)))
        hunks = []
        for start, stop in zip(cuts[::2], cuts[1::2], strict=False):
            new = tuple(b"n%d" % n for n in range(data.draw(st.integers(0, 3))))
            hunks.append(Hunk(start, stop, new))
        new = rewrite(lines, old, hunks)
        assume(new.data)
        ends = new.lines.ends_with_newline
        diff = unified("a", lines, hunks, ends_with_newline=ends)
        assert patched(tmp_path, old, diff) == new.data

    check()
