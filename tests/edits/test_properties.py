import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from fsagent_tools.edits.matching import EXACTLY
from fsagent_tools.edits.replace import find
from fsagent_tools.edits.similarity import suggest
from fsagent_tools.errors import InvalidArguments, ToolError
from fsagent_tools.lines.source import Lines
from fsagent_tools.text import newline_of

pytestmark = pytest.mark.full

PIECES = st.sampled_from(
    ["a", "b", "foo", " ", "  ", "\t", "\n", "\r\n", "\r", "(", "é", "漢", "\f"]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)
SOME = st.lists(PIECES, min_size=1, max_size=6).map("".join)


@given(TEXTS, SOME, SOME, st.sampled_from(["unique", "first", "all", 1, 2]))
@example("\r\na\r", "a", "a\n", "unique")
@settings(max_examples=400, deadline=None)
def test_every_line_outside_the_hunks_survives(text, old, new, occurrences):
    raw = text.encode()
    try:
        found = find(raw, old, new, occurrences=occurrences)
    except ToolError:
        return
    lines = Lines.of(raw, newline_of(raw))
    result = found.apply(raw)
    kept = [(0, 0), *((hunk.stop, hunk.growth) for hunk in found.hunks)]
    ends = [*(hunk.start for hunk in found.hunks), lines.count]
    shift = 0
    after = Lines.of(result, lines.newline)
    for (start, growth), stop in zip(kept, ends, strict=True):
        shift += growth
        assert after.between(start + shift, stop + shift) == lines.between(start, stop)
    result.decode()


@given(TEXTS, st.integers(0, 60), st.integers(1, 6), SOME, st.sampled_from(["first", "all", 2]))
@example("\t  a  a", 1, 3, "a", "all")
@example("\n", 0, 1, "a", "first")
@settings(max_examples=400, deadline=None)
def test_exact_text_means_what_str_replace_means(text, start, length, new, occurrences):
    text, new = text.replace("\r", "."), new.replace("\r", ".")
    old = text[start : start + length]
    assume(old and old != new)
    count = {"first": 1, "all": -1}.get(occurrences, occurrences)
    try:
        found = find(text.encode(), old, new, occurrences=occurrences, evidence=EXACTLY)
    except InvalidArguments:
        assert text.replace(old, new, count) == text
        return
    assert found.apply(text.encode()).decode() == text.replace(old, new, count)


@given(TEXTS, SOME)
@settings(max_examples=100, deadline=None)
def test_suggestions_name_lines_that_exist(text, old):
    for suggestion in suggest(text.encode(), old):
        assert 1 <= suggestion.line <= suggestion.end_line
        assert 0.5 < suggestion.similarity <= 1
