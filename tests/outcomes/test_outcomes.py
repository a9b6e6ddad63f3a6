"""Every toolset answers, and leaves on disk, what is recorded."""

import os
import shutil
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conformance.battery import Unsupported
from tests.outcomes import golden, rows, sessions
from tests.outcomes.stage import play

pytestmark = pytest.mark.full

KINDS = (*rows.KINDS, "session")
CASES = {
    (toolset, kind): [s for s in found if s.id.split("/")[1] == kind]
    for toolset in rows.TOOLSETS
    for found in [[*rows.scenarios(toolset), *sessions.scenarios(toolset)]]
    for kind in KINDS
}
PROGRAMS = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
SHOWN = 60_000  # characters of a difference
RECORD = "pytest tests/outcomes --update-golden"


@cache
def recorded_once():
    return golden.load()


def lacking(scenario, recorded):
    """What it needs and this machine lacks; a server of another version has other words."""
    for name in sorted(scenario.needs):
        if not (shutil.which(name, path=PROGRAMS) or find_spec(name)):
            yield f"{name} is not installed"
    wanted = recorded.get("servers")
    if wanted and wanted != servers(scenario):
        yield f"recorded with {wanted}"


def servers(scenario):
    found = {}
    for name in ("ruff", "ty"):
        if name in scenario.needs:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                continue
    return found


def played(scenario):
    told = servers(scenario)
    return {**play(scenario), **({"servers": told} if told else {})}


@pytest.mark.parametrize(
    "case", [case for case, found in CASES.items() if found], ids=lambda case: " ".join(case)
)
def test_a_toolset_answers_and_leaves_what_is_recorded(case, request):
    recorded, now, skipped = recorded_once(), {}, {}
    updating = request.config.getoption("--update-golden")
    for scenario in CASES[case]:
        old = recorded.get(scenario.id, {})
        reasons = [*lacking(scenario, {} if updating else old)]
        try:
            if not reasons:
                now[scenario.id] = played(scenario)
        except Unsupported as reason:
            reasons = [str(reason)]
        if reasons:
            skipped[scenario.id] = reasons[0]
    if updating:
        golden.update(now)
    old = {name: recorded[name] for name in now if name in recorded}
    different = golden.difference(old, now) if not updating else ""
    if different:
        pytest.fail(f"{different[:SHOWN]}\n\nif this is meant: {RECORD}", pytrace=False)
    if skipped and not now:
        pytest.skip("; ".join(sorted({*skipped.values()})))


def test_what_is_recorded_is_what_is_played_and_small(request):
    known = {scenario.id for found in CASES.values() for scenario in found}
    if request.config.getoption("--update-golden"):
        golden.update({}, gone={*golden.load()} - known)
    else:
        stale = {*golden.load()} - known
        assert not stale, f"no longer played: {RECORD}"
    assert golden.PATH.stat().st_size <= golden.MOST_BYTES


def test_the_sessions_call_every_tool_with_every_parameter_that_it_shows(request):
    if request.config.getoption("--update-golden"):
        pytest.skip("another process may be recording them")
    assert not sessions.unplayed(golden.load(), rows.TOOLSETS)
