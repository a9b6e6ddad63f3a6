"""No write waits for a check, and no text makes a check take more than its length."""

import time
import warnings
from contextlib import contextmanager
from threading import Event

import pytest

from fsagent_tools import Policy, Workspace, lint
from fsagent_tools.edits.placeholders import elided
from fsagent_tools.errors import Denied
from fsagent_tools.files.port import Place
from fsagent_tools.lint.introduced import introduced
from fsagent_tools.lint.places import LATE, Source, Undecided
from fsagent_tools.lint.validators import validator_of
from fsagent_tools.policy import Limits
from fsagent_tools.problems import Problem
from fsagent_tools.process import reader
from fsagent_tools.services import Services, lazy
from tests.conftest import soon

LARGE = 100_000
HUGE = 1_000_000
NO_TIME = 0.0


@contextmanager
def held():
    """A function that does not return before the block has ended."""
    end = Event()
    try:
        yield lambda *args: end.wait()
    finally:
        end.set()


def test_a_write_goes_on_while_a_check_does(monkeypatch):
    with held() as hold:
        monkeypatch.setattr(lint.validators, "CHECKS", {".x": hold})
        monkeypatch.setattr(lint.places, "LINT_SECONDS", 0.01)
        assert lint.report("a.x", None, b"x" * LARGE).line() == f"lint: not checked, {LATE}"


def test_a_check_that_is_still_starting_is_not_waited_for(monkeypatch):
    with held() as hold:
        monkeypatch.setattr(reader, "start_reader", hold)
        with pytest.raises(TimeoutError):
            reader.run_reader(["/bin/true"], ["/bin"], b"", 0.01, Limits())


class Loading:
    """A module that is loaded no sooner than `end` is called."""

    def __init__(self, hold):
        self._hold = hold

    def __getattr__(self, name):
        self._hold()
        raise Denied(name)


def test_the_first_write_of_a_process_does_not_wait_till_servers_are_loaded(monkeypatch, tmp_path):
    with held() as hold:
        monkeypatch.setattr(lazy, "pool", Loading(hold), raising=False)
        written = Workspace(tmp_path, lint="report").write("a.json", b'{"a" 1}')
        assert written.lint.line().startswith("lint: 1 error")


def test_what_is_loaded_for_the_first_check_counts_as_its_time(monkeypatch, tmp_path):
    now, given = [100.0], []

    class Lint:
        due, Means = staticmethod(lint.due), lint.Means

        def review(self, mode, name, before, after, means):
            given.append(means.until)
            return lint.Report()

    def loaded(name):
        now[0] += 0.5
        return Lint()

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.delattr(lazy, "lint", raising=False)
    monkeypatch.setitem(lazy._LOADERS, "lint", lambda: loaded("lint"))
    place = Place("a.x", str(tmp_path / "a.x"), "a.x", "")
    Services(tmp_path, Policy()).review("report", place, None, b"")
    monkeypatch.delattr(lazy, "lint", raising=False)
    assert given == [100.0 + lint.places.LINT_SECONDS]


def test_what_was_asked_before_the_end_starts_no_server_after_it(tmp_path):
    services = Services(tmp_path, Policy())
    asked = services._asked(tmp_path / "a.json")
    services.close()
    assert asked("{") is None
    assert services.servers.check(tmp_path / "a.txt", "", 1).told == ()
    services.close()


@pytest.mark.parametrize("name", ["a.py", "a.ts", "a.json", "a.yaml", "a.toml"])
def test_whether_a_text_parses_does_not_depend_on_the_time(no_time, name):
    text = {"a.py": "a = 1", "a.ts": "f(1);", "a.toml": "a = 1"}.get(name, "[1]")
    large = "\n" * (1 << 17) + text
    assert lint.judge(name)(large.encode()) is True
    assert lint.judge(name)(large.replace("1", "1 [", 1).encode()) is False
    assert lint.judge(name)(b"\n" * (1 << 18) + text.encode()) == "beyond"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("def f():\n    return 1\n", True),
        ("class A:\n    def f():\n        pass\n    return 1\n", False),
        ("for a in b:\n    break\nelse:\n    break\n", False),
        ("while a:\n    if b:\n        continue\n", True),
        ("match a:\n    case 1:\n        return\n", False),
        ("a = '\\d'\nb = f'{a}\\d'\n", True),
        ("a = \\d\n", False),
        ("%matplotlib inline\n", None),
        ("(" * 900, False),
    ],
)
def test_python_is_judged_without_a_process_and_without_a_warning(text, right):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lint.judge("a.py")(text.encode()) is right


ENDLESS = [
    ("a.jsonl", "1\n" * LARGE),
    ("a.jsonl", "x\n" * LARGE),
    ("a.yaml", "a: 1\n" * LARGE),
]


@pytest.mark.parametrize(("name", "text"), ENDLESS, ids=lambda value: repr(value[:9]))
def test_validators_look_at_the_clock_themselves(name, text):
    with pytest.raises(Undecided, match="takes longer"):
        validator_of(name)(Source(name, text, lint.Means(until=NO_TIME)))


def test_a_walk_over_faults_looks_at_the_clock():
    pytest.importorskip("tree_sitter_javascript")
    with pytest.raises(Undecided, match="takes longer"):
        validator_of("a.js")(Source("a.js", "} " * 1000, lint.Means(until=NO_TIME)))


CROOKED = [
    ("a.json", "{% " * (HUGE // 3)),
    ("a.json", "<%" * (HUGE // 2)),
    ("a.js", "{" * (HUGE // 5)),
    ("a.py", "\n" * (HUGE - 2) + "(("),
    ("a.py", " " * (HUGE - 2) + "(("),
    ("a.yaml", "".join(f"%TAG !a{n}! x\n" for n in range(60_000)) + "--- a\n"),
    ("a.jsonc", '"\\' * (HUGE // 2)),
    ("a.jsonl", "x\n" * (HUGE // 2)),
    ("a.jsonl", '{"a":1,"a":2}\n' * (HUGE // 14)),
]


@pytest.mark.parametrize(("name", "text"), CROOKED, ids=lambda value: repr(value[:9]))
def test_no_text_takes_more_than_its_length(name, text):
    with soon():
        lint.report(name, None, text.encode())


def test_many_problems_of_a_long_text_are_compared_line_by_line():
    text = "x\n" * (HUGE // 2)
    problems = [Problem(n, 1, "error", "wrong") for n in range(1, 20_000)]
    with soon():
        assert introduced(problems, problems, text, text) == []


@pytest.mark.parametrize(
    "line", [f"# {'.' * HUGE}x", f"# existing {' ' * HUGE}x", "#" + " )" * HUGE]
)
def test_a_long_line_is_no_placeholder(line):
    with soon():
        assert not elided([f"{line}...".encode()], [])
