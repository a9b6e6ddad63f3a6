"""What a change made wrong, told around a write."""

import sys

import pytest

from fsagent_tools import lint
from fsagent_tools.errors import LintRejected
from fsagent_tools.lint import ServerAnswer
from fsagent_tools.problems import Problem, introduced
from tests.conftest import soon


def told(name, before, after, ask=None):
    found = lint.review("report", name, before, after, ask)
    return [(p.line, p.code) for p in found.problems]


def test_a_new_file_is_told_everything():
    assert told("a.yaml", None, b"a: 1\na: 2\n") == [(2, "duplicate-key")]


def test_what_was_wrong_before_is_not_told_even_when_it_moved():
    before = b"a: 1\na: 2\n"
    assert told("a.yaml", before, b"# note\n" + before) == []
    assert told("a.yaml", before, before + b"b: 1\nb: 2\n") == [(4, "duplicate-key")]


def test_an_error_that_another_one_hid_is_not_blamed_on_the_change():
    before = b"def f(:\n    pass\n\n\n\ndef g(:\n    pass\n"
    assert told("a.py", before, before.replace(b"f(:", b"f():")) == []


def test_an_error_in_the_changed_lines_is_told_although_the_file_was_broken():
    before = b"x = 1\n\n\n\ndef g(:\n    pass\n"
    assert told("a.py", before, before.replace(b"x = 1", b"x = = 1")) == [(1, "syntax")]


def line(name, before, after, ask=None):
    return lint.review("report", name, before, after, ask).line()


def test_one_line_holds_counts_the_first_problems_and_who_looked():
    assert line("a.json", b"{}", b'{"a" 1}') == (
        "lint: 1 error: 1:6: error: Expecting ':' delimiter [json syntax] (syntax only)"
    )
    assert line("a.json", b"{", b"{}") == "lint: no new problems (syntax only)"
    assert line("a.md", None, b"{{{") == ""
    assert line("a.xyz", None, b"{{{") == "lint: not checked: there is no parser for .xyz files"


def test_bytes_that_are_no_text_are_left_alone_and_other_encodings_are_text():
    assert lint.review("report", "a.json", None, b"\x00\x01") == lint.Report()
    assert told("a.json", None, '{"é": 1,}'.encode("utf-16")) == [(1, "syntax")]


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert "fsagent-tools[lint]" in line("a.yaml", None, b"a: 1")


def warns(word):
    """A server that is not content with a word."""

    def ask(text):
        at = [n for n, row in enumerate(text.split("\n"), 1) if word in row]
        return ServerAnswer([Problem(n, 1, "error", "undefined", "ty", "x") for n in at], ("ty",))

    return ask


def test_what_a_server_finds_new_is_added_and_the_server_named():
    assert told("a.py", b"", b"y\n", warns("y")) == [(1, "x")]
    assert told("a.py", b"y\n", b"y\n1\n", warns("y")) == []
    assert line("a.py", b"y\n", b"y\n1\n", warns("y")) == "lint: no new problems (syntax, ty)"
    assert line("a.go", None, b"y\n", warns("y")).endswith("undefined [ty x] (ty)")


def test_a_server_that_answered_knows_better_than_a_grammar():
    assert told("a.ts", None, b"let = = 1;\n", warns("nothing")) == []
    assert told("a.py", None, b"def\n", lambda text: ServerAnswer()) == [(1, "syntax")]


def test_who_did_not_answer_is_named():
    def late(text):
        return ServerAnswer(missing="no answer from ty yet")

    assert line("a.py", None, b"x\n", late) == (
        "lint: no new problems (syntax only: no answer from ty yet)"
    )
    assert line("a.go", None, b"x\n", late) == (
        "lint: not checked: there is no parser for .go files; no answer from ty yet"
    )


@pytest.mark.parametrize(("before", "after"), [(None, b"{"), (b"{}", b"{"), (b"[1]", b"[1,]")])
def test_reject_refuses_a_new_syntax_error(before, after):
    with pytest.raises(LintRejected, match=r"a\.json would have a syntax error: 1 error: 1:"):
        lint.review("reject", "a.json", before, after)


def test_reject_lets_warnings_and_old_errors_pass():
    assert lint.review("reject", "a.json", b"{}", b'{"a":1,"a":2}').problems
    assert not lint.review("reject", "a.json", b"{\n", b"{ \n").problems


def test_many_problems_of_a_long_text_are_compared_line_by_line():
    text = "x\n" * 500_000
    problems = [Problem(n, 1, "error", "wrong") for n in range(1, 20_000)]
    with soon():
        assert introduced(problems, problems, text, text) == []
