"""Byte patches told as line hunks: applied to the old lines they give the new ones."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fsagent_tools.lines.patches import hunks_of
from fsagent_tools.lines.source import Lines, split
from fsagent_tools.lines.splice import Hunk, patch, rewrite

TEXT = st.lists(st.sampled_from([b"a", b"b", b"\n", b"\r\n", b"\r"]), max_size=25).map(b"".join)


def applied(old, hunks):
    lines = list(old)
    for hunk in reversed(hunks):
        lines[hunk.start : hunk.stop] = hunk.new
    return lines


@st.composite
def patched(draw):
    text = draw(TEXT)
    places = draw(st.lists(st.integers(0, len(text)), max_size=6).map(sorted))
    news = draw(st.lists(TEXT, min_size=3, max_size=3))
    pairs = zip(places[::2], places[1::2], news, strict=False)
    return text, [(start, stop, new) for start, stop, new in pairs]


@given(patched(), st.sampled_from([b"\n", b"\r"]))
def test_hunks_of_patches_lead_from_the_old_lines_to_the_new(case, newline):
    text, patches = case
    lines = Lines.of(text, newline)
    new = patch(lines, text, patches)
    hunks = list(hunks_of(lines, patches))
    assert applied(split(text, newline), hunks) == split(new.data, newline)
    assert new.lines.count == len(split(new.data, newline))
    assert new.lines.between(0, new.lines.count) == split(new.data, newline)
    assert all(a.stop <= b.start for a, b in pairwise(hunks))


def test_patches_that_touch_are_told_together():
    text = b"abc\ndef\nq"
    lines = Lines.of(text, b"\n")
    patches = [(0, 4, b"a"), (4, 8, b"")]
    assert applied(split(text, b"\n"), list(hunks_of(lines, patches))) == [b"aq"]


def test_a_patch_names_only_the_lines_that_change():
    text = b"one\ntwo\nthree\nfour\n"
    lines = Lines.of(text, b"\n")
    (hunk,) = hunks_of(lines, [(4, 14, b"two\n3\n")])
    assert (hunk.start, hunk.stop, hunk.new) == (2, 3, (b"3",))
    (hunk,) = hunks_of(lines, [(4, 8, b"")])
    assert (hunk.start, hunk.stop, hunk.new) == (1, 2, ())
    (hunk,) = hunks_of(lines, [(8, 8, b"new\n")])
    assert (hunk.start, hunk.stop, hunk.new) == (2, 2, (b"new",))


def test_a_line_behind_half_an_ending_completes_it():
    text = b"a\r\nb\r"  # the last line reads as `b`
    lines = Lines.of(text, b"\n")
    out = rewrite(lines, text, [Hunk(2, 2, (b"c",))])
    assert out.data == b"a\r\nb\r\nc"
    assert out.lines.between(0, 3) == [b"a", b"b", b"c"]
