"""What a change made wrong, told around a write."""

import pytest

from fsagent_tools import lint
from fsagent_tools.errors import LintRejected
from fsagent_tools.problems import Problem


def told(name, before, after, **options):
    return [(p.line, p.code) for p in lint.report(name, before, after, **options).problems]


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


def test_one_line_holds_counts_and_the_first_problems():
    line = lint.report("a.json", b"{}", b'{"a" 1}').line()
    assert line == "lint: 1 error: 1:6: error: Expecting ':' delimiter [json syntax]"
    assert lint.report("a.json", b"{", b"{}").line() == ""


def test_what_cannot_be_checked_says_so():
    line = lint.report("a.json", None, b"[" + b" " * lint.MAX_LINTED_BYTES + b"]").line()
    assert line == "lint: not checked, 1,048,578 characters are over the limit of 1,048,576"


def test_bytes_that_are_no_text_are_left_alone():
    assert lint.report("a.json", None, b"\x00\x01") == lint.Report()


def test_a_file_in_another_encoding_is_checked_as_text():
    assert told("a.json", None, '{"é": 1,}'.encode("utf-16")) == [(1, "syntax")]


def test_a_failing_validator_does_not_fail_the_write(monkeypatch):
    def broken(source):
        raise ZeroDivisionError

    monkeypatch.setattr(lint.validators, "CHECKS", {".json": broken})
    assert lint.report("a.json", None, b"{}").line() == (
        "lint: not checked, the validator failed (ZeroDivisionError)"
    )


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    assert "fsagent-tools[lint]" in lint.report("a.yaml", None, b"a: 1").note


def test_the_language_server_is_asked_first_and_the_validator_without_an_answer():
    def ask(text):
        return [Problem(1, 1, "error", "undefined", "ty", "x")] if "y" in text else []

    assert told("a.py", b"", b"y\n", means=lint.Means(ask)) == [(1, "x")]
    assert told("a.py", b"y\n", b"y\n1\n", means=lint.Means(ask)) == []
    assert told("a.py", None, b"def\n", means=lint.Means(lambda text: None)) == [(1, "syntax")]


@pytest.mark.parametrize(("before", "after"), [(None, b"{"), (b"{}", b"{"), (b"[1]", b"[1,]")])
def test_reject_refuses_a_new_syntax_error(before, after):
    with pytest.raises(LintRejected, match=r"a\.json would have a syntax error: 1 error: 1:"):
        lint.review("reject", "a.json", before, after)


def test_reject_lets_warnings_and_old_errors_pass():
    assert lint.review("reject", "a.json", b"{}", b'{"a":1,"a":2}').problems
    assert not lint.review("reject", "a.json", b"{\n", b"{ \n").problems


def test_off_does_nothing():
    assert lint.review("off", "a.json", None, b"{") == lint.Report()
