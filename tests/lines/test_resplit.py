"""A text split with the lines of an older one: the same lines, and mostly the same objects."""

import random

from hypothesis import given
from hypothesis import strategies as st

from fsagent_tools.lines.resplit import resplit
from fsagent_tools.lines.source import split

LINE = st.sampled_from([b"", b"}", b"one", b"two\r", b"x" * 70, b"a long line " * 9])
TEXT = st.tuples(st.lists(LINE, max_size=40), st.booleans()).map(
    lambda pair: b"\n".join(pair[0]) + b"\n" * pair[1]
)


@st.composite
def edited(draw):
    lines = draw(st.lists(LINE, max_size=60))
    after = [*lines]
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(after)))
        stop = start + draw(st.integers(0, 12))
        after[start:stop] = draw(st.lists(LINE, max_size=8))
    ends = draw(st.tuples(st.booleans(), st.booleans()))
    texts = (b"\n".join(each) + b"\n" * end for each, end in zip((lines, after), ends, strict=True))
    return tuple(texts)


@given(st.one_of(edited(), st.tuples(TEXT, TEXT)), st.sampled_from([b"\n", b"\r"]))
def test_the_lines_are_those_of_the_text(texts, newline):
    old, new = texts
    assert resplit(new, old, split(old, newline), newline) == split(new, newline)


def test_lines_that_stayed_are_not_made_again():
    rng = random.Random(2)
    before = [b"def function_%d(self): return %d" % (n, n % 7) for n in range(20_000)]
    after = [*before]
    for number in range(30):
        at = rng.randrange(len(after))
        after[at : at + rng.randrange(20)] = [b"new line %d" % number] * rng.randrange(20)
    old, new = (b"\n".join([*lines, b""]) for lines in (before, after))
    known = split(old, b"\n")
    lines = resplit(new, old, known, b"\n")
    assert lines == after
    assert len({*map(id, lines)} & {*map(id, known)}) > len(after) - 30 * 30
