"""Calls in the forms that weak models send: what has one reading is done."""

from collections import Counter

import pytest

from fsagent_tools.edits.matching import Evidence
from fsagent_tools.edits.replace import find
from fsagent_tools.errors import ToolError
from tests.conformance.sample import EACH, FLAT_SAMPLES, KINDS, calls
from tests.conftest import parses

pytestmark = pytest.mark.full

CALLS = calls()


def result(call, evidence):
    try:
        found = find(call.text.encode(), call.old, call.new, evidence=evidence)
    except ToolError as error:
        return error.code
    after = found.apply(call.text.encode()).decode()
    assert not parses(call.text) or parses(after), f"{call.old}\n->\n{call.new}"
    return "meant" if after == call.meant else "other"


def test_there_are_enough_calls_of_every_kind():
    assert Counter(call.kind for call in CALLS) == dict.fromkeys(KINDS, EACH)
    assert len(CALLS) >= 300


@pytest.mark.parametrize("evidence", [Evidence(), Evidence(parses=parses)], ids=["bare", "parser"])
@pytest.mark.parametrize("kind", KINDS)
def test_calls_are_done_as_meant_or_refused(kind, evidence):
    mine = [call for call in CALLS if call.kind == kind]
    told = Counter(result(call, evidence) for call in mine)
    if mine[0].meant is None:
        assert not told["meant"] + told["other"], told
    else:
        assert told["meant"] >= 0.98 * len(mine), told


@pytest.mark.parametrize(("name", "text", "line"), FLAT_SAMPLES)
def test_a_line_quoted_without_its_indentation_becomes_two_in_any_language(name, text, line):
    bare = line.strip()
    found = find(text.encode(), bare, f"{bare}\nreplayed: {name}")
    indent = line[: len(line) - len(bare)]
    assert found.apply(text.encode()).decode() == text.replace(
        line, f"{line}\n{indent}replayed: {name}"
    )
