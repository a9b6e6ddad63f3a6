from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from fsagent_tools.edits.finding import find
from fsagent_tools.edits.suggest import suggest
from fsagent_tools.errors import InvalidChange, ToolError

PIECES = st.sampled_from(
    ["a", "b", "foo", " ", "  ", "\t", "\n", "\r\n", "\r", "(", "é", "漢", "\f"]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)
SOME = st.lists(PIECES, min_size=1, max_size=6).map("".join)


@given(TEXTS, SOME, SOME, st.sampled_from(["unique", "first", "all", 1, 2]))
@settings(max_examples=400, deadline=None)
def test_every_byte_outside_the_spans_survives(text, old, new, occurrences):
    raw = text.encode()
    try:
        found = find(raw, old, new, occurrences=occurrences)
    except ToolError:
        return
    result, end, rest = found.apply(raw), 0, 0
    for replacement in found.replacements:
        kept = raw[end : replacement.span.start]
        assert result[rest : rest + len(kept)] == kept
        rest += len(kept) + len(replacement.text)
        end = replacement.span.end
    assert result[rest:] == raw[end:]
    result.decode()


@given(TEXTS, st.integers(0, 60), st.integers(1, 6), SOME)
@example("\t  a  a", 1, 3, "a")
@settings(max_examples=300, deadline=None)
def test_exact_matches_mean_what_str_replace_means(text, start, length, new):
    text, new = text.replace("\r", "."), new.replace("\r", ".").replace("\n", "|").strip()
    old = text[start : start + length]
    assume(old and new and old != new)
    raw = text.encode()
    try:
        every = find(raw, old, new, occurrences="all")
    except InvalidChange:
        return
    assert every.apply(raw).decode() == text.replace(old, new)
    try:
        found = find(raw, old, new, occurrences="first")
    except InvalidChange:  # a line beside it would stand twice
        return
    assert found.apply(raw).decode() == text.replace(old, new, 1)


@given(TEXTS, SOME, SOME)
@settings(max_examples=200, deadline=None)
def test_a_number_means_as_many_of_all(text, old, new):
    assume(not new[:1].isspace() and len(new.splitlines()) < 2)  # else its indentation is judged
    raw = text.encode()
    try:
        every = find(raw, old, new, occurrences="all")
    except ToolError:
        return
    for number in range(1, len(every.replacements) + 2):
        try:
            some = find(raw, old, new, occurrences=number).replacements
        except InvalidChange:  # a line beside it would stand twice
            return
        except ToolError:  # nothing would change
            some = every.replacements[:number]
            assert all(raw[r.span.start : r.span.end] == r.text for r in some)
        assert some == every.replacements[:number]


@given(TEXTS, SOME)
@settings(max_examples=100, deadline=None)
def test_suggestions_name_lines_that_exist(text, old):
    for suggestion in suggest(text.encode(), old):
        assert 1 <= suggestion.line <= suggestion.end_line
        assert 0.5 < suggestion.similarity <= 1
