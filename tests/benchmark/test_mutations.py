"""Each kind of small bug is other code that still parses, and none is made in prose."""

import ast

import pytest

from benchmark.agent.mutations import MUTATIONS, example
from benchmark.agent.tasks import differs, prose, tasks


def module(line):
    body = line + ("\n            pass" if line.endswith(":") else "")
    return f"def f(a, b):\n    for c in a:\n        {body}\n    return None\n"


def test_there_are_about_25_kinds_each_with_an_example():
    assert len({mutation.kind for mutation in MUTATIONS}) == len(MUTATIONS) >= 25
    assert example("first") == ("a = b[0]", "a = b[1]")
    assert example("break") == ("break", "continue")
    assert example("unheard of") is None


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.kind)
def test_the_bug_is_other_code_that_parses(mutation):
    text = module(mutation.right)
    every = {task.kind: task for task in tasks({"a.py": text}, 99)}
    task = every[mutation.kind]
    assert task.line == 3
    assert ast.dump(ast.parse(task.broken)) != ast.dump(ast.parse(task.meant))
    assert task.meant == text
    assert mutation.told in task.prompt
    assert "`f`" in task.prompt


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.kind)
def test_no_bug_is_made_in_prose(mutation):
    line = mutation.right
    assert mutation.change(f"        x = {line!r}  # {line}") is None
    text = f'def f(a, b):\n    """What it does.\n\n        {line}\n    """\n    pass\n'
    assert tasks({"a.py": text}, 99) == []


def test_a_bug_that_does_not_parse_is_none():
    broken_by_return = "def f(a):\n    return (\n        a\n    )\n"
    assert tasks({"a.py": broken_by_return}, 99) == []
    assert tasks({"old.py": "print 1 == 2\nif a and b:\n"}, 99) == []


def test_the_same_code_in_other_words_is_no_bug():
    (task, *_) = tasks({"a.py": module("return a")}, 1)
    assert differs(task)
    assert not any(task.kind == "return" for task in tasks({"a.py": "def f():\n    return\n"}, 9))


def test_prose_is_what_stands_in_texts_of_several_lines():
    text = 'a = 1\nb = """\nx and y\n"""\nc = "x and y"\nd = f"""{a}\n"""\n'
    assert prose(text) == {1, 2, 3, 5, 6}
