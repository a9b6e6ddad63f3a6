"""Edit tasks: each is solved by its reference with every set of tools, and by nothing less."""

import json

import pytest

from benchmark.agent.attempt import Job, attempt
from benchmark.agent.change import strip
from benchmark.agent.changes import MAKERS, changes
from benchmark.agent.contenders import CONTENDERS
from benchmark.agent.main import main
from benchmark.agent.sets import standard
from benchmark.agent.source import announced, cut, exported, placed, withdrawn
from benchmark.agent.strings import left, told

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
EXAMPLES = '''"""Numbers."""

__all__ = ["half", "twice"]


def half(n):
    """Half of it."""
    return n // 2


def twice(n):
    """Two times as much.

    >>> twice(2)
    4
    >>> twice(0)
    0
    """
    return 2 * n
'''
PACKAGES = {**standard(), "own": {"own/__init__.py": "", "own/numbers.py": EXAMPLES}}
FILES = {path: text for files in PACKAGES.values() for path, text in files.items()}
KINDS = ["rename", "move", "annotate", "style", "feature"]


@pytest.fixture(scope="module")
def tasks():
    return changes(PACKAGES, len(MAKERS))


def test_there_is_one_of_each_kind_and_they_are_the_same_each_time(tasks):
    assert [task.kind for task in tasks] == KINDS
    assert changes(PACKAGES, len(MAKERS)) == tasks


@pytest.mark.parametrize("contender", CONTENDERS)
def test_the_reference_solves_each_task(tasks, contender):
    done = [attempt(Job(task, contender, "scripted", turns=80), FILES) for task in tasks]
    assert [record["solved"] for record in done] == [True] * len(tasks)
    assert {(record["refused"], record["ended"]) for record in done} == {(0, "")}


def test_doing_nothing_solves_none(tasks):
    idle = [attempt(Job(task, "lines", "scripted:0"), FILES) for task in tasks]
    assert not any(record["solved"] for record in idle)


def test_edits_go_through_another_framework(tasks):
    records = [attempt(Job(t, "lines", "scripted", "llamaindex", turns=80), FILES) for t in tasks]
    assert all(record["solved"] for record in records)


SPOILT = {  # of the reference: text and what it becomes
    "rename": [
        ("DeprecationWarning", "UserWarning"),
        ("raise TypeError", "print"),
        ("_value", "_v"),
    ],
    "move": [("return", "return  # now"), ('"""', '""" ')],
    "annotate": [(": object", ""), (" -> object", " -> objekt"), ("return", "print(1); return")],
    "style": [("f'", "f'x"), ("import ", "import this, ")],
    "feature": [("2 * n", "3 * n"), ('"twice"', '"once"'), ("Half", "A half")],
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_quite_the_reference_is_no_solution(tasks, kind, tmp_path):
    task = tasks[KINDS.index(kind)]
    last, text = [*task.after.items()][-1]

    def judged(path, text):
        task.lay(tmp_path, FILES)
        for edit in task.edits(FILES):
            (tmp_path / edit.path).write_text(edit.after)
        (tmp_path / path).write_text(text)
        return task.solved(tmp_path, FILES)

    assert judged(last, text)
    for right, wrong in SPOILT[kind]:
        for path, whole in task.after.items():
            if right in whole:
                assert not judged(path, whole.replace(right, wrong, 1)), (path, right)
                break
        else:
            pytest.fail(f"{right} is nowhere in the reference")
    other = next(path for path in task.given(FILES) if path not in task.after)
    assert not judged(other, "x = 1\n")


def test_another_way_to_write_the_same_is_a_solution(tasks, tmp_path):
    (task,) = (task for task in tasks if task.kind == "feature")
    task.lay(tmp_path, FILES)
    text = EXAMPLES.replace("return 2 * n", "return n + n").replace("half", "half", 1)
    (tmp_path / task.path).write_text(text.replace('["half", "twice"]', '["twice", "half"]'))
    assert task.solved(tmp_path, FILES)


def test_a_new_name_has_a_sentinel(tasks, tmp_path):
    (task,) = (task for task in tasks if task.kind == "rename")
    task.lay(tmp_path, FILES)
    text = task.after[task.path]
    for more, right in (("_UNSET = object()", True), ("UNSET = object()", False)):
        (tmp_path / task.path).write_text(f"{text}\n\n{more}\n")
        for path in task.after.keys() - {task.path}:
            (tmp_path / path).write_text(task.after[path])
        assert task.solved(tmp_path, FILES) is right


def test_more_types_than_asked_for_are_no_other_code():
    bare = "if x:\n    def f(a): ...\n\n\nclass A:\n    def g(self): ...\n"
    typed = bare.replace("f(a)", "f(a: int) -> None").replace("g(self)", "g(self) -> None")
    assert strip(bare) == strip(typed)


@pytest.mark.parametrize(("one", "other", "same"), [
    ("x = 'a%s' % b", "x = f'a{b}'", True),
    ("x = 'a%s' % b", "x = f'a{str(b)}'", True),
    ("x = '%d%%' % b", "x = f'{b}%'", True),
    ("x = 'a%s' % repr(b)", "x = f'a{b!r}'", True),
    ("x = '%r %s' % (b, c)", "x = f'{b!r} {c}'", True),
    ("x = '%.2f' % b", "x = f'{b:.2f}'", True),
    ("x = 'a%s' % b", "x = f'a{c}'", False),
    ("x = 'a%s' % b", "x = f'{b}'", False),
    ("x = '%r' % b", "x = f'{b}'", False),
    ("x = '%5d' % b", "x = f'{b}'", False),
    ("x = 'a%s' % b", "y = f'a{b}'", False),
])  # fmt: skip
def test_strings_of_both_styles_are_compared_by_what_they_say(one, other, same):
    assert (told(one) == told(other)) is same
    assert left(one)
    assert not left(other)


@pytest.mark.parametrize("listed", ['["a", "b", "c"]', '(\n    "a",\n    "b",\n    "c",\n)'])
def test_names_are_withdrawn_and_announced(listed):
    text = f"__all__ = {listed}\n"
    for name in "abc":
        less = withdrawn(text, name)
        assert [one.value for one in exported(less).elts] == [x for x in "abc" if x != name]
        assert {one.value for one in exported(announced(less, name)).elts} == {*"abc"}


def test_a_function_is_cut_with_its_decorators_and_placed():
    text = "import a\n\n\n@a.b\ndef f():\n    pass\n\n\ndef g():\n    pass\n"
    rest, lines = cut(text, "f")
    assert rest == "import a\n\n\ndef g():\n    pass\n"
    assert lines == ["@a.b", "def f():", "    pass"]
    assert placed(rest, "g", lines) == f"{rest}\n\n" + "\n".join(lines) + "\n"


def test_the_whole_machinery_runs_offline(tmp_path, capsys):
    words = ["--set", "edits", "--quick", "--out", str(tmp_path), "--tools", "lines", "deepagents"]
    main(words)
    rows = [json.loads(line) for line in (tmp_path / "live.jsonl").read_text().splitlines()]
    assert len(rows) == 10
    assert all(row["solved"] for row in rows)
    assert "| lines | 5 | 100.0 %" in capsys.readouterr().out
    assert "kind of task" in (tmp_path / "live.html").read_text()
