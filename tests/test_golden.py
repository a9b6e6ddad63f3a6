"""What a model sees is pinned: a changed name, description or schema is a change for users."""

import json
from pathlib import Path

import pytest

from fsagent_tools import TOOLSETS, select_tools
from fsagent_tools.toolkit.tokens import definition

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", TOOLSETS)
def test_what_a_model_sees_is_what_it_saw_before(name, request, tmp_path):
    path = GOLDEN / f"{name}.json"
    seen = {tool.name: definition(tool)["function"] for tool in select_tools(tmp_path, name)}
    if request.config.getoption("--update-golden"):
        path.write_text(json.dumps(list(seen.values()), indent=2, ensure_ascii=False) + "\n")
    pinned = {tool["name"]: tool for tool in json.loads(path.read_text())}
    assert seen == pinned, "if this is meant: --update-golden, and a line in CHANGELOG.md"


def test_every_golden_file_belongs_to_a_toolset():
    assert {path.stem for path in GOLDEN.glob("*.json")} == {*TOOLSETS}
