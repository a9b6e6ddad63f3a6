"""Which indentation a replacement gets, where the quote's differs from the file's."""

import pytest

from fsagent_tools.edits.matching import Evidence
from fsagent_tools.edits.replace import find
from fsagent_tools.errors import InvalidChange
from fsagent_tools.lint import judge


def edited(text, old, new, **options):
    found = find(text.encode(), old, new, **options)
    return found.apply(text.encode()).decode(), found.how


def python(text):
    return judge("a.py")(text) is True


NESTED = "def f(x):\n    if x:\n        return 1\n    return 0\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        (NESTED, "return 1", "if x > 3:\n    return 3\nreturn 1",
         NESTED.replace("return 1", "if x > 3:\n            return 3\n        return 1")),
        (NESTED, "return 1\n", "if x > 3:\n    return 3\nreturn 1\n",
         NESTED.replace("return 1", "if x > 3:\n            return 3\n        return 1")),
        ("def f():\n    alpha\n", "alpha", "if x:\n    alpha",
         "def f():\n    if x:\n        alpha\n"),
        ("def f():\n    alpha\n", "alpha", "if x:\n    alpha\n\n    beta",
         "def f():\n    if x:\n        alpha\n\n        beta\n"),
        ("\tcall()\n", "call()", "when {\n\tcall()\n}", "\twhen {\n\t\tcall()\n\t}\n"),
    ],
)  # fmt: skip
def test_later_lines_get_the_indentation_that_the_quote_lacks(text, old, new, expected):
    result, how = edited(text, old, new)
    assert result == expected
    assert how.startswith("re-indented by")


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (NESTED, "return 1", "if x > 3:\n            return 3\n        return 1"),
        (NESTED, "return 1\n    return 0", "return 2\n    return 0"),
        ("    one\n\nlast()\n", "one\n\nlast()", "two\n\nlast()"),
        ("    alpha(1,\n          2)\n", "alpha(1,\n          2)", "alpha(1,\n          3)"),
        ("    a = 1\n    b = 2\n", "a = 1", "a = 1\n\n    c = 3"),
        ("    x = old\n", "old", "new(\n1,\n)"),
    ],
)
def test_new_text_in_the_files_columns_is_left_alone(text, old, new):
    result, how = edited(text, old, new)
    assert (result, how) == (text.replace(old, new), "")


def test_blanks_that_end_a_new_line_stay_where_neither_the_file_nor_the_quote_has_them():
    result, _ = edited("    one\n    two\n", "one\ntwo", "one\nthree  ")
    assert result == "    one\n    three  \n"


def test_a_new_text_that_brought_the_indentation_along_does_not_get_it_twice():
    result, how = edited(NESTED, "return 1", "        return 2\n        # done")
    assert result == NESTED.replace("return 1", "return 2\n        # done")
    assert how == "with the indentation that was sent"


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ('import (\n\t"iter"\n\t"sync"\n)\n', '    "iter"', '\t"iter"\n\t"slices"',
         'import (\n\t"iter"\n\t"slices"\n\t"sync"\n)\n'),
        ("x = [\n  LOCAL,\n  WEB,\n]\n", "LOCAL,\nWEB,", "  LOCAL,\n  WEB,\n  ASK,",
         "x = [\n  LOCAL,\n  WEB,\n  ASK,\n]\n"),
        ("def f():\n    if alpha:\n        b()\n", "if alpha:\n    b()",
         "    if alpha:\n        b()\n        c()",
         "def f():\n    if alpha:\n        b()\n        c()\n"),
    ],
)  # fmt: skip
def test_new_text_that_has_the_files_indentation_already_keeps_it(text, old, new, expected):
    assert edited(text, old, new) == (expected, "with the indentation that was sent")


@pytest.mark.parametrize(
    ("text", "old", "new", "expected", "how"),
    [
        ("class A:\n    def f():\n        b()\n", "def f():\n    b()", "def f():\n    c()\n    d()",
         "class A:\n    def f():\n        c()\n        d()\n", "re-indented by 4 columns"),
        ("    one()\n    two()\n", "   one()\n   two()", "   one()\n   three()",
         "    one()\n    three()\n", "re-indented by 1 column"),
        ("    alpha = 1\n", "        alpha = 1", "        alpha = 2\n        y = 2",
         "    alpha = 2\n    y = 2\n", "re-indented by 4 columns"),
        ("one()\ntwo()\n", "    one()\n    two()", "    one()\n    three()",
         "one()\nthree()\n", "re-indented by 4 columns"),
        ("    x = f(one,\n            two)\n    y\n",
         "x = f(one,\n    two)", "if x:\n    x = f(two)",
         "    if x:\n        x = f(two)\n    y\n", "re-indented by 4 columns"),
        ("    first()\n        second()\n", "first()\nsecond()\n", "first()\nsecond()\nthird()\n",
         "    first()\n        second()\n        third()\n", "re-indented like the lines there"),
    ],
)  # fmt: skip
def test_text_that_drifted_as_a_whole_moves_back(text, old, new, expected, how):
    assert edited(text, old, new) == (expected, how)


def test_a_continuation_says_nothing_about_levels():
    text = "def f(a):\n    total = compute(a,\n            other)\n    return total\n"
    old = "total = compute(a,\n    other)\nreturn total"
    new = "total = compute(a,\n    other)\nif total:\n    log()\n    return total\nreturn None"
    expected = text.replace(
        "    return total", "    if total:\n        log()\n        return total\n    return None"
    )
    assert edited(text, old, new)[0] == expected


def test_new_text_at_the_depth_of_its_place_is_taken_as_sent():
    text = "class A:\n    class B:\n        def f():\n            return value\n"
    new = "            return value\n\n        def g():\n            return 2"
    result, how = edited(text, "        return value", new)
    assert result == text.replace("            return value", new)
    assert how == "with the indentation that was sent"


def test_lines_that_went_different_ways_go_as_those_in_their_place():
    text = "    first()\n\n        third()\n"
    result, how = edited(text, "first()\n\nthird()\n", "first()\n\nfourth()\n")
    assert result == text.replace("third", "fourth")
    assert how == "re-indented like the lines there"


def test_without_a_threshold_text_goes_in_as_sent():
    exact = Evidence(None, parses=python)
    new = "if x > 3:\n    return 3\nreturn 1"
    assert edited(NESTED, "return 1", new, evidence=exact)[0] == NESTED.replace("return 1", new)


METHODS = """class A:
    def f(self):
        x = 1
        return x

    def g(self):
        return 2
"""
BODY = "        x = 1\n        return x"
BETWEEN = "        return x\n\n    def g(self):"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BODY, "y = 1\n        return y"),
        (BODY, "x = (\n            1\n        )\n        return x"),
        (BODY, "x = (\n    1\n)\nreturn x"),
        (BETWEEN, "if x:\n            return x\n\n    def g(self):"),
        ("    def f(self):\n        x = 1", "def f(self, y):\n        x = 1"),
    ],
)
def test_an_exact_quote_is_never_moved_but_asked_about_where_it_would_not_parse(old, new):
    with pytest.raises(InvalidChange, match="in two ways") as refusal:
        edited(METHODS, old, new, evidence=Evidence(parses=python))
    assert "re-indented by" in refusal.value.hint
    result, how = edited(METHODS, old, new)  # nobody can tell
    assert (result, how) == (METHODS.replace(old, new), "")


def test_where_two_other_readings_parse_they_are_shown_and_nothing_is_done():
    text = "- name: x\n  image: a\n  ports: 1\n"
    sure = Evidence(parses=lambda text: b"\nbuild" not in text)
    with pytest.raises(InvalidChange, match="in two ways") as refusal:
        edited(text, "  image: a", "build:\n  context: y", evidence=sure)
    assert "Or re-indented:\n  build:" in refusal.value.hint


def test_no_more_readings_are_parsed_than_decide():
    asked = []
    sure = Evidence(parses=lambda text: bool(asked.append(text)) or True)
    with pytest.raises(InvalidChange):
        edited(METHODS, BODY, "    y = 1\n    return y", evidence=sure)
    assert asked[0] == METHODS.encode()  # what did not parse before tells nothing
    assert len(asked) == 3


BROKEN = """\
def f(a, b):
    if a:
            if (a == b or
                    a == 2 or
                    b == 3):
                return 0
            return 1
"""
QUOTED = "if (a == b or\n    a == 2 or\n    b == 3):\n    return 0"


@pytest.mark.parametrize(
    ("new", "there"),
    [
        ("if a == b:\n    x = 1\n    y = 2\n    return 0", (12, 16, 16, 16)),
        ("if a == b:\n    a = 3\nelif b:\n    return 4", (12, 16, 12, 16)),
    ],
)
def test_a_block_behind_a_long_condition_moves_as_a_whole(new, there):
    lines = edited(BROKEN, QUOTED, new)[0].splitlines()[2 : 2 + len(there)]
    assert tuple(len(line) - len(line.lstrip()) for line in lines) == there


def test_a_continuation_that_changes_moves_with_its_block_and_one_that_does_not_stays():
    new = QUOTED.replace("a == 2 or", "a == 7 or")
    there = BROKEN.replace("        a == 2 or", "    a == 7 or")
    assert edited(BROKEN, QUOTED, new) == (there, "re-indented by 12 columns")


WIDER = "x = 1\n    if a:\n        b()\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        (WIDER, "  if a:\n    b()\n", "  if a:\n    b()\n    if d:\n      e()\n",
         WIDER + "        if d:\n            e()\n"),
        ("if a:\n    b()\n", "if a:\n  b()\n", "if a:\n  if d:\n    b()\n",
         "if a:\n    if d:\n        b()\n"),
        ("if a:\n  b()\n", "if a:\n    b()\n", "if a:\n    if d:\n        b()\n",
         "if a:\n  if d:\n    b()\n"),
        (WIDER, "  if a:\n      b()\n", "  if a:\n      b()\n      c()\n",  # a shift
         WIDER + "        c()\n"),
    ],
)  # fmt: skip
def test_a_quote_in_other_steps_of_blanks_gives_its_new_lines_those_of_the_file(
    text, old, new, expected
):
    assert edited(text, old, new)[0] == expected
