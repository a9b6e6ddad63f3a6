"""Looking for text ends when its caller wants, however hostile the text; steps are counted."""

import random
import threading
import time

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.call import changed, patience
from fsagent_tools.edits.matching import Evidence
from fsagent_tools.edits.replace import find
from fsagent_tools.edits.similarity import suggest
from fsagent_tools.errors import Cancelled, TimedOut

DICE = random.Random(1)
WORDS = ["".join(DICE.choices("abcdefghijklmnop", k=12)) for _ in range(300)]
LINES = [f"value {word} = function({word}, other)" for word in WORDS]
MISSPELT = "\n".join(
    line.replace(word, word[:5] + word[6:]) for line, word in zip(LINES, WORDS, strict=True)
)
CRLF = "a\r\nb\r\n"


class Enough(Exception):
    pass


def stopping(most):
    """A check that gives up at call number `most`."""
    calls = iter(range(most))

    def check():
        if next(calls, None) is None:
            raise Enough

    return check


@pytest.mark.parametrize(
    ("text", "old", "new", "steps"),
    [
        ("\n".join(LINES), MISSPELT, "x", len(LINES)),
        (CRLF * 300 + "end\n", CRLF, "a\r\nc\r\n", 299),
    ],
)
def test_every_few_lines_the_work_may_end(text, old, new, steps):
    with pytest.raises(Enough):
        find(text.encode(), old, new, occurrences="all", evidence=Evidence(check=stopping(steps)))


def test_so_may_looking_for_similar_text():
    with pytest.raises(Enough):
        suggest(b"value = 1\n" * 10, "valeu = 1\nvalue = 2", 3, stopping(2))


def test_patience_ends_with_the_caller_or_the_time():
    cancelled = threading.Event()
    with changed(cancelled=cancelled):
        check = patience(1000, "Looking")
    check()
    cancelled.set()
    with pytest.raises(Cancelled):
        check()
    with pytest.raises(TimedOut, match=r"Looking took longer than -1 s\."):
        patience(-1, "Looking")()


def test_time_that_others_had_is_not_counted():
    check = patience(0.2, "Looking")
    time.sleep(0.3)  # as on a machine that is busy elsewhere
    check()


def test_a_cancelled_edit_writes_nothing(root):
    (root / "a.txt").write_text("\n".join(LINES))
    cancelled = threading.Event()
    cancelled.set()
    with changed(cancelled=cancelled):
        call = {"file_path": "a.txt", "old_string": MISSPELT, "new_string": "x"}
        out = toolset("compact").bind(Workspace(root))["Edit"].call(call, gate=False)
    assert out.code == "CANCELLED"
    assert (root / "a.txt").read_text() == "\n".join(LINES)
