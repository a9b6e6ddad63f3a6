"""Slips of weak models in edits by ID: what has one reading is done, the rest is asked about."""

import textwrap
from collections import Counter
from itertools import islice

import pytest

from fsagent_tools import MemoryFiles, Workspace
from fsagent_tools.edits.by_id import Change, resolve_changes, split_new
from fsagent_tools.errors import InvalidChange
from fsagent_tools.lines.hunks import rewrite
from tests.conformance.sample import EACH, places, wrapped

pytestmark = pytest.mark.full


def compiles(utf8):
    """As the check of Python does: `return` outside a function is an error, too."""
    try:
        compile(utf8, "a.py", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def among_lines(text, block, _):
    """Whether a line with text stands above the block and one below it."""
    above, below = text.split(block)
    return bool(above.split("\n")[-2].strip() and below.split("\n")[1].strip())


PLACES = [*islice((place for place in places() if among_lines(*place)), 4 * EACH)]


class Call:
    """The lines `start` to `stop` of `text` (0-based) become `new`; `meant` is the text then."""

    def __init__(self, text, block, indent):
        self.text, self.block, self.indent = text, block, indent
        self.lines = text.split("\n")
        self.start = text[: text.index(block)].count("\n")
        self.stop = self.start + block.count("\n") + 1
        self.off, self.new = 0, ""

    def intend(self, new):
        self.new = new
        rows = [*self.lines[: self.start], *new.split("\n"), *self.lines[self.stop :]]
        self.meant = "\n".join(rows)

    def flat(self):
        self.intend(textwrap.indent(wrapped(textwrap.dedent(self.block)), self.indent))
        self.new = textwrap.dedent(self.new)

    def deeper(self):
        self.flat()
        self.new = textwrap.indent(self.new, f"{self.indent}    ")

    def one_above(self):
        self.intend(f"{self.block}\n{self.indent}replayed()")
        self.off = -1

    def one_below(self):
        self.one_above()
        self.off = 1

    def repeats_above(self):
        self.intend(f"{self.block}  # x")
        self.new = f"{self.lines[self.start - 1]}\n{self.new}"

    def repeats_below(self):
        self.intend(f"{self.block}  # x")
        self.new = f"{self.new}\n{self.lines[self.stop]}"


KINDS = {"flat": 0.98, "deeper": 0.6, "repeats_above": 0, "repeats_below": 0,
         "one_above": 0, "one_below": 0}  # fmt: skip  # least that is done as meant
MOST = {"deeper": 4 * EACH, "one_above": 4 * EACH}  # calls of a kind that is not always refused
SILENT = {("one_above", False): 0.1}  # share of calls: no words are quoted, a bracket is beside


def result(call, style, *, quoting):
    """The words behind an ID are those of the line that was meant."""
    workspace = Workspace(files=MemoryFiles({"a.py": call.text}), line_ids=style)
    utf8 = call.text.encode()
    with workspace.reading("a.py") as document:
        document.show(document.lines.window(0, document.lines.count))
        ids = document.index.ids(0, document.lines.count)

        def named(line):
            words = " ".join(call.lines[line].split()[:2]) if quoting else ""
            return f"{document.style.spelled(ids[line + call.off])} {words}".strip()

        first, last = named(call.start), named(call.stop - 1)
        change = Change("replace", first, last, split_new(call.new))
        try:
            hunks, _ = resolve_changes({1: change}, document, utf8, compiles)
        except InvalidChange:
            return "refused"
        after = rewrite(document.lines, utf8, hunks).data
    return "meant" if after == call.meant.encode() else "other"


@pytest.mark.parametrize(("style", "quoting"), [("tag", False), ("tag", True), ("words", True)])
@pytest.mark.parametrize("kind", KINDS)
def test_slips_by_id_are_repaired_or_refused(kind, style, quoting):
    told = Counter[str]()
    sample = PLACES[: MOST.get(kind, EACH)]
    for place in sample:
        call = Call(*place)
        getattr(call, kind)()
        told[result(call, style, quoting=quoting)] += 1
    assert told["other"] <= SILENT.get((kind, quoting), 0) * len(sample), told
    assert told["meant"] >= KINDS[kind] * len(sample), told
