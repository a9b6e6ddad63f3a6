import pytest

from fsagent_tools.edits.matching import EXACTLY, Evidence
from fsagent_tools.edits.replace import find
from fsagent_tools.errors import InvalidArguments, InvalidChange, MultipleMatches, NoMatch


def edited(text, old, new, **options):
    found = find(text.encode(), old, new, **options)
    return found.strategy, found.apply(text.encode()).decode()


@pytest.mark.parametrize(
    ("strategy", "text", "old", "new", "expected"),
    [
        ("exact", "a\nb\nc\n", "b", "B", "a\nB\nc\n"),
        ("exact", "cost: x\n", "x", r"$1 \g<0> \1", "cost: $1 \\g<0> \\1\n"),
        ("exact", "a\nalpha    = 1\n", "    = 1", "    = 2", "a\nalpha    = 2\n"),
        ("exact", "é 漢字 😀\n", "漢字", "ж", "é ж 😀\n"),
        ("trailing_space", "alpha  \nb\t\nc\n", "alpha\nb\n", "alpha\nB\n", "alpha  \nB\nc\n"),
        ("line_endings", "a\r\nb\r\nc\r\n", "a\nb\n", "a\nB\nX\n", "a\r\nB\r\nX\r\nc\r\n"),
        ("line_endings", "a\rb\rc\r", "a\nb\n", "a\nB\n", "a\rB\rc\r"),
        ("white_space", "size  =  1\ny = 2\n", "size = 1", "size = 3", "size = 3\ny = 2\n"),
        ("white_space", "\tif alpha:\n\t\tb\n", "    if alpha:\n        b",
         "    if alpha:\n        c\n        d",
         "\tif alpha:\n\t\tc\n\t\td\n"),
        ("indentation", "    alpha\n    b\n    c\n", "alpha\nb\n", "alpha\nB\n",
         "    alpha\n    B\n    c\n"),
        ("exact", "    a\n    b\n", "a\n", "if x:\n    a\n", "    if x:\n        a\n    b\n"),
        ("fuzzy", "def compute_total(items):\n    return sum(items)\n",
         "def compute_totla(items):\n    return sum(items)\n",
         "def compute_totla(items):\n    return max(items)\n",
         "def compute_total(items):\n    return max(items)\n"),
    ],
)  # fmt: skip
def test_each_strategy_finds_and_writes_in_the_files_form(strategy, text, old, new, expected):
    assert edited(text, old, new) == (strategy, expected)


def test_tabs_become_the_files_spaces():
    text = "  when {\n    b\n  }\n"
    old, new = "\twhen {\n\t\tb\n\t}", "\twhen {\n\t\tb\n\t\tif c {\n\t\t\td\n\t\t}\n\t}"
    assert edited(text, old, new)[1] == "  when {\n    b\n    if c {\n      d\n    }\n  }\n"


def test_an_exact_match_of_whole_lines_is_not_indented_again():
    text = "    a = f(\n        1)\n"
    assert edited(text, "    a = f(\n        1)", "    a = f(\n  2)") == (
        "exact",
        "    a = f(\n  2)\n",
    )


def test_lines_of_a_mixed_file_keep_their_endings():
    assert edited("a\r\nb\nc\r\n", "a\r\nb\n", "a\r\nB\n")[1] == "a\r\nB\nc\r\n"
    assert edited("a\r\nb\nc\r\n", "b", "x\r\ny")[1] == "a\r\nx\ny\nc\r\n"


def test_a_newline_sought_in_a_crlf_file_takes_its_carriage_return_along():
    assert edited("a\r\nb\r\n", "\nb", "\nc")[1] == "a\r\nc\r\n"
    assert edited("a\r\nb\r\n", "\nb", "c")[1] == "ac\r\n"


@pytest.mark.parametrize(("text", "ended"), [("a\nbeta", "a\nbeta\n"), ("beta", "beta\n")])
def test_a_last_line_may_get_the_ending_that_it_lacks(text, ended):
    assert edited(text, "beta", "beta\n") == ("exact", ended)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("a\nb\nc\n", "b", "x\n", "a\nx\nc\n"),
        ("a\nb\nc\n", "b\n", "x", "a\nx\nc\n"),
        ("a\n\nb\n", "a\n", "c", "c\nb\n"),
        ("a\nb\nc\n", "b\n", "", "a\nc\n"),
    ],
)
def test_the_line_ending_behind_a_quote_is_the_files(text, old, new, expected):
    assert edited(text, old, new)[1] == expected


def test_a_blank_line_more_at_the_end_than_in_the_quote_is_asked_about():
    with pytest.raises(InvalidChange, match="ends with a blank line"):
        find(b"a\nb\nc\n", "b", "x\n\n")
    assert edited("a\nb\nc\n", "b\nc", "x\n\nc")[1] == "a\nx\n\nc\n"


def test_without_a_threshold_a_newline_more_or_less_than_in_the_quote_is_asked_about():
    for old, new in (("b", "x\n"), ("b\n", "x")):
        with pytest.raises(InvalidChange, match="ends with a newline and"):
            find(b"a\nb\nc\n", old, new, evidence=Evidence(None))


def test_for_a_host_it_is_the_one_that_was_sent():
    exact = {"evidence": EXACTLY}
    assert edited("a\nb\nc\n", "b", "x\n", **exact)[1] == "a\nx\n\nc\n"
    assert edited("a\nb\nc\n", "b\n", "x", **exact)[1] == "a\nxc\n"
    assert edited("a\nb\n", "b\n", "x", **exact)[1] == "a\nx"


def test_a_host_is_told_what_is_doubtful_and_a_model_asked():
    with pytest.raises(InvalidChange, match="repeats the line"):
        find(b"a\nb\nc\n", "b", "x\nc", evidence=Evidence(None))
    found = find(b"a\nb\nc\n", "b", "x\nc", evidence=EXACTLY)
    assert found.apply(b"a\nb\nc\n") == b"a\nx\nc\nc\n"
    assert "repeats the line" in found.how


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("return foobar", "return foo\n", "return baz\n"),
        ("return foobar", "return  foo", "return baz"),
        ("return foobar", "return foo ", "return baz "),
        ("hello\n", "  hell  ", "x"),
        ("x foo y", "x foo\n", "z\n"),
        ("count = limit_1 + 5\n", "count = limit_1 + 6\n", "count = 0\n"),
        ("version = 1.2.3 of this\n", "version = 1.2.4 of this\n", "version = 2\n"),
        ("before_context(lines)\n", "after_context(lines)\n", "x()\n"),
        ("total = sum(prices)\n# the price\nprince = 1\n", "total = sum(prince)\n", "x\n"),
        ("some text\n", "\n\n\n", "x"),
        ("if count < limit_of_all:\n", "if count > limit_of_lal:\n", "x\n"),
        ("total = first_amount + other\n", "total = first_amuont - other\n", "x\n"),
        ("send_all(message, retries)\n", "send_lal(message, retries())\n", "x\n"),
    ],
)
def test_what_is_merely_like_the_text_is_not_touched(text, old, new):
    with pytest.raises(NoMatch):
        find(text.encode(), old, new)


@pytest.mark.parametrize(
    ("text", "old", "count", "lines"),
    [("aaaa", "aa", 3, [1, 1, 1]), ("x\ny\nx\n", "x", 2, [1, 3]), ("  a\n\ta\n", "a\n", 2, [1, 2])],
)
def test_several_matches_name_count_and_lines(text, old, count, lines):
    with pytest.raises(MultipleMatches, match=f"{count} places") as refusal:
        find(text.encode(), old, "new\n")
    told = refusal.value.details
    assert (told["count"], told["lines"]) == (count, lines)


def test_several_fuzzy_places_are_refused_even_for_all():
    text = b"compute_something(first)\n  compute_something(first)\n"
    with pytest.raises(MultipleMatches):
        find(text, "\tcompute_somethign(first)\n", "x\n", occurrences="all")


def test_it_is_told_where_there_are_more_occurrences():
    text = b"a\na\na\n"
    for chosen, told in (
        ("first", "replaced 1 of 3 occurrences (line 1)"),
        (2, "replaced 2 of 3 occurrences (lines 1, 2)"),
        (3, ""),
        ("all", ""),
    ):
        assert find(text, "a", "b", occurrences=chosen).how == told
    assert find(b"aaaa", "aa", "b", occurrences="all").apply(b"aaaa") == b"bb"


def test_without_a_threshold_the_exact_text_counts_whatever_its_line_endings():
    found = find(b"a\r\nb\r\n", "a\nb", "a\nX\nb", evidence=Evidence(None))
    assert (found.strategy, found.apply(b"a\r\nb\r\n")) == ("line_endings", b"a\r\nX\r\nb\r\n")
    for text, old in [("\tsize = 1\n", "    size = 1"), ("size = 1 \nb", "size = 1\nb")]:
        find(text.encode(), old, "x", evidence=Evidence(0.85))
        with pytest.raises(NoMatch):
            find(text.encode(), old, "x", evidence=Evidence(None))
    assert find(b"  x", "x", "y\nz", evidence=EXACTLY).apply(b"  x") == b"  y\nz"


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [("all", "c\nX\nc\r\nY\n"), (2, "a\nb\nX\nc\r\nY\n"), ("first", "a\nb\nX\nc\r\nY\n")],
)
def test_occurrences_of_which_a_later_one_has_the_quoted_line_endings(chosen, expected):
    assert edited("a\nb\nX\na\r\nb\r\nY\n", "a\r\nb", "c", occurrences=chosen)[1] == expected


def test_very_many_occurrences_share_one_replacement():
    found = find(b"a," * 20_000, ",", ";", occurrences="all")
    assert (found.count, len(found.hunks)) == (20_000, 1)
    assert found.apply(b"a," * 20_000) == b"a;" * 20_000
    lines = b"  a\n" * 20_000
    assert find(lines, "a\n", "b\nc\n", occurrences="all").apply(lines) == b"  b\nc\n" * 20_000


@pytest.mark.parametrize(
    ("old", "new", "options", "named"),
    [
        ("", "x", {}, "`old_string` is empty"),
        ("a", "a", {}, "the same"),
        ("a", "\ud800", {}, "new_string"),
        ("\udcff", "x", {}, "old_string"),
        ("a\n", "a\r\n", {}, "Nothing would change"),
        ("a", "b", {"occurrences": 0}, "occurrences"),
        ("a", "b", {"occurrences": True}, "occurrences"),
        ("a", "b", {"occurrences": "some"}, "occurrences"),
        ("a", "b", {"evidence": Evidence(0)}, "fuzzy_threshold"),
        ("a", "b", {"evidence": Evidence(1.5)}, "fuzzy_threshold"),
    ],
)
def test_bad_arguments_are_named(old, new, options, named):
    with pytest.raises(InvalidArguments, match=named):
        find(b"a\nb\n", old, new, **options)


@pytest.mark.parametrize("new", ["if x != 1:", "if x != 1:\n        pass"])
def test_text_that_is_exchanged_as_sent_is_not_said_to_be_re_indented(new):
    text = b"def f(x):\n    if x == 1:\n        return x\n"
    found = find(text, "if x == 1:", new)
    assert found.apply(text) == text.replace(b"if x == 1:", new.encode())
    assert not found.how


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[LID:a3f2c1] def g():\n", "x", "prefixes"),
        ("  12\tdef f():", "x", "prefixes"),
        ("def f():\\n    return 1", "x", "escapes"),
        ("DEF F():", "x", "other case is at line 1"),
        ("def g():\n    pass", "    return 1", "already at line 2"),
        ("def f():\n    # ... existing code ...\n", "x", "has a placeholder"),
        ("nothing like this", "x", "Read the file again"),
    ],
)
def test_a_miss_says_which_slip_it_was(old, new, told):
    with pytest.raises(NoMatch) as refusal:
        find(b"def f():\n    return 1\n", old, new)
    assert told in str(refusal.value)


def test_a_lower_threshold_allows_what_the_default_refuses():
    text = b"function foo() {}\n"
    with pytest.raises(NoMatch):
        find(text, "function bar() {}", "x")
    assert (
        find(text, "function bar() {}", "x", evidence=Evidence(0.7, typos_only=False)).strategy
        == "fuzzy"
    )


def test_a_newline_at_the_very_start_takes_nothing_from_the_end():
    assert edited("\n\n\r", "\n", "alpha", occurrences="first")[1] == "alpha\n\r"


@pytest.mark.parametrize("kept", ['x = "a  b"', "x = (  'a'  )", "x\t=\t`1`"])
def test_a_line_with_quotes_that_is_repeated_keeps_all_its_white_space(kept):
    quoted = " ".join(kept.split())
    done = edited(f"{kept}\ny = 1\n", f"{quoted}\ny = 1", f"{quoted}\ny = 2")
    assert done == ("white_space", f"{kept}\ny = 2\n")
