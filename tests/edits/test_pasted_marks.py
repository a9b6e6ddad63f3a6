"""Marks of a read, or a line beside, that came along into new text."""

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.edits.matching import Evidence
from fsagent_tools.edits.replace import find
from fsagent_tools.errors import InvalidChange, NoMatch

TEXT = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"


@pytest.mark.parametrize(
    "new",
    [
        "2\t    x = 3\n3\t    return x",
        "7: x = 3\n8: \n9: return x",
        "[LID:a3f2c1]     return 3",
    ],
)
def test_new_text_with_the_marks_of_a_read_is_refused(new):
    with pytest.raises(InvalidChange, match=r"numbers of the lines|line ID"):
        find(TEXT.encode(), "    return 1", new)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (TEXT, "    return 1", "    17: 'x',"),
        (TEXT, "    return 1", "    2\treturn 3"),
        ("{\n    1: 'a',\n}\n", "    1: 'a',", "    1: 'a',\n    2: 'b',"),
        ("a\tb\n1\t2\n", "1\t2", "2\t3"),
        (TEXT, "    return 1", "    cafe|x\n    abc|y"),
    ],
)
def test_numbers_that_belong_to_the_text_stay(text, old, new):
    assert find(text.encode(), old, new).apply(text.encode()).decode() == text.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1\tdef f():\n3\t    return 1", "1\tdef f(x):\n3\t    return x"),
        ("1\tdef f():\n    return 1", "1\tdef f(x):\n    return x"),
        ("4\t\n5\tdef g():\n    return 2", "def g(x):\n    return x"),
        ("1\tdef f():\n2\t    return 1", "1\tdef f(x):\n    return x"),
        ("2\t    return 1", "2\t    return x"),
        ("1\tdef h():\n2\t    return 1", "1\tdef f(x):\n2\t    return x"),
    ],
)
def test_marks_that_are_not_clearly_those_of_a_read_are_not(old, new):
    with pytest.raises((NoMatch, InvalidChange)):
        find(TEXT.encode(), old, new)


def test_numbers_in_a_file_are_text():
    text = "1\tone\n2\ttwo\none\ntwo\n"
    found = find(text.encode(), "1\tone\n2\ttwo", "1\tone\n2\tthree")
    assert found.apply(text.encode()).decode() == "1\tone\n2\tthree\none\ntwo\n"


def test_of_several_places_none_may_get_the_line_beside_it_twice():
    text = "a()\nclose()\nb()\na()\nclose()\n"
    with pytest.raises(InvalidChange, match="repeats the line below"):
        find(text.encode(), "a()", "a(1)\nclose()", occurrences="all")
    found = find(b"x = 1\ny = 1\nx = 2\n", "x", "y", occurrences="all")
    assert found.count == 2


@pytest.mark.parametrize(
    ("line", "content", "where"),
    [(3, "    return 1\n    more()\n", "above"), (5, "def h():\n    pass\ndef g():\n", "below")],
)
def test_an_insertion_that_repeats_the_line_beside_it_is_told(root, line, content, where):
    (root / "a.py").write_text(TEXT)
    tools = toolset("filesystem").bind(Workspace(root))
    out = tools["insert"].call({"path": "a.py", "line": line, "content": content})
    assert out.ok
    assert f"repeats the line {where}, which stays" in out.text


CODE = 'import a\n\n\ndef f(x):\n    if x < 2:\n        say("few")\n    return x\n'
BLOCK = '    if x < 2:\n        say("few")'


@pytest.mark.parametrize(
    ("new", "what"),
    [
        ('```python\n    if x < 3:\n        say("few")\n```', "a code fence"),
        ('+    if x < 3:\n+        say("few")', "the signs of a diff"),
        ('5:     if x < 3:\n6:         say("few")', "the numbers of the lines"),
    ],
)
def test_marks_that_were_copied_with_new_text_are_refused(new, what):
    with pytest.raises(InvalidChange, match=what):
        find(CODE.encode(), BLOCK, new)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (CODE, "import a", "```\nimport a\n```"),
        (CODE, BLOCK + "\n    return x", '    +if x < 3:\n    +    say("few")\n    return x'),
        ("a < b &amp; c\n", "a < b &amp; c", "d &lt; b"),
        ("one\n+ two\n", "one", "+ three"),
        ("x\n", "x", "+1"),
        ("    x = y\n", "y", "+z"),
        (CODE, "import a", "4 of these"),
        ('say “a”\nsay "b"\n', 'say "b"', "say “c”"),
    ],
)
def test_what_belongs_to_a_text_or_is_the_only_change_is_taken(text, old, new):
    assert find(text.encode(), old, new).apply(text.encode()).decode() == text.replace(old, new)


@pytest.mark.parametrize("answer", [False, None])
def test_marks_are_refused_where_a_parser_does_not_tell_that_they_are_needed(answer):
    evidence = Evidence(parses=lambda _: answer)
    with pytest.raises(InvalidChange, match="a code fence"):
        find(b"a\nx\n", "x", "```\nb\n```", evidence=evidence)


def test_what_parses_only_as_it_came_is_meant():
    def parses(text):
        return True

    put = "1: b\n2: c"
    found = find(b"a\nx\n", "x", put, evidence=Evidence(parses=parses))
    assert found.apply(b"a\nx\n").decode() == f"a\n{put}\n"


@pytest.mark.parametrize("new", ["```\nb\n```", "+b", "2 | b", "2\tb"])
def test_marks_that_only_a_paste_has_are_refused_though_the_text_parses(new):
    with pytest.raises(InvalidChange, match=r"code fence|signs of a diff|numbers of the lines"):
        find(b"a\nx\n", "x", new, evidence=Evidence(parses=lambda text: True))


def test_entities_of_a_file_are_its_text():
    text = "a &lt; b\nc < d\n"
    assert (
        find(text.encode(), "a &lt; b", "a &gt; b").apply(text.encode()).decode()[:8] == "a &gt; b"
    )
