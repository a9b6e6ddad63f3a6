"""Docstrings of the public names: each is there, and its examples run."""

import doctest
import inspect

import pytest

import fsagent_tools
from fsagent_tools import types

NAMES = {n: getattr(of, n) for of in (fsagent_tools, types) for n in of.__all__}
OWN = {n: o for n, o in NAMES.items() if inspect.isclass(o) or inspect.isfunction(o)}
USED = {"EventLog", "MemoryFiles", "Outcome", "Policy", "Tool", "ToolError", "Toolset", "Workspace"}


@pytest.mark.parametrize("name", OWN)
def test_a_public_name_is_documented_and_its_examples_run(name, shop, monkeypatch):
    monkeypatch.chdir(shop)
    assert inspect.getdoc(OWN[name])
    runner = doctest.DocTestRunner()
    for found in doctest.DocTestFinder(recurse=False).find(OWN[name], name, globs={**NAMES}):
        runner.run(found)
    assert runner.failures == 0


def test_what_everybody_uses_has_an_example():
    used = USED | {"emitting", "execute", "select_tools", "toolset"}
    assert not [name for name in used if ">>>" not in inspect.getdoc(NAMES[name])]
