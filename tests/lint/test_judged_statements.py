"""A changed Python text is judged by its changed statements as by all of it."""

import random
from pathlib import Path

import pytest

from fsagent_tools.lint import judging

OWN = sorted(Path(judging.__file__).parents[1].rglob("*.py"))
SLIPS = [
    "else:\n", "x = 1; \\\n", "\\\n", "  y\n", "return\n", "'''\n", "@d\n", "(\n", ")\n", "if x:\n",
    "# c \\\n", "\x0c\n", "x\x0cy\n", "def f(): return 1\n", "break\n", "\x00\n", "a; b = '\\d'\n",
    "\r", "\n", "class C:\n    return 1\n", "async def f():\n    await x\n", "\u2028\n", '"""\n',
]  # fmt: skip


def whole(text):
    try:
        return not judging.astray(judging.python_tree(text))
    except (SyntaxError, ValueError):
        return False


def beside(text):
    try:
        judging.parse_python("a.py", text)
    except (SyntaxError, ValueError):
        return False
    return True


def changed(lines, pick):
    """A few lines near each other replaced, removed, doubled or with a slip among them."""
    at = pick.randrange(len(lines) + 1)
    end = min(len(lines), at + pick.choice((0, 1, 1, 2, 5)))
    new = lines[at:end]
    for _ in range(pick.choice((0, 1, 1, 2))):
        new.insert(pick.randrange(len(new) + 1), pick.choice([*SLIPS, pick.choice(lines)]))
    if pick.random() < 0.3 and new:
        new[-1] = pick.choice(("    ", "", "\t")) + new[-1].lstrip()
    return [*lines[:at], *new, *lines[end:]]


@pytest.mark.parametrize("seed", range(20))
def test_changed_statements_tell_what_the_whole_text_does(seed, monkeypatch):
    pick, parsed = random.Random(seed), []
    monkeypatch.setattr(judging, "_latest", {})
    monkeypatch.setattr(
        judging,
        "python_tree",
        lambda text, real=judging.python_tree: parsed.append(text) or real(text),
    )
    lines = pick.choice(OWN).read_text().splitlines(keepends=True)
    judging.parse_python("a.py", "".join(lines))
    alike = alone = 0
    for _ in range(150):
        text = "".join(after := changed(lines, pick))
        parsed.clear()
        found = beside(text)
        alone += found and text not in parsed
        assert found == whole(text), text
        if found:
            lines, alike = text.splitlines(keepends=True), alike + 1
        elif pick.random() < 0.2:
            lines = after
        if len(lines) < 20:
            break
    assert alike < 10 or alone > alike / 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1; \\\ny = 2\nz = 3\n", "x = 1; \\\nif y:\n    a\nz = 3\n"),
        ("if a:\n    b\nc\n", "if a:\n    b\nelse:\n    d\nc\n"),
        ("if a:\n    b\nc\n", "if a:\nc\n"),
        ("a = '''\nb\n'''\nc\n", "a = '''\nb\nc\n"),
        ("@d\ndef f(): ...\nc\n", "@d\nc\n"),
        ("a\nb\n", ""),
        ("", "a\n"),
        ("a = [\n1]; b = 2\nc\n", "a = [\n1]; b = 3\n)\nc\n"),
        ("for x in y:\n    break\nc\n", "break\nc\n"),
    ],
)
def test_boundaries_that_a_change_moves(before, after):
    assert beside(before) == whole(before)
    assert beside(after) == whole(after)


@pytest.mark.parametrize("text", ['x = rf"\\{a}"\n', "x = r'\\{'\n"])
def test_a_backslash_before_a_brace_hides_no_value(text):
    judging.parse_python("a.py", text)


def test_a_backslash_before_a_brace_is_wrong_outside_of_strings():
    with pytest.raises(SyntaxError):
        judging.python_tree("x = \\{1}\n")
