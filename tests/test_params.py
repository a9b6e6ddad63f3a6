"""How parameters are declared, and what is made of what a model sends."""

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.toolkit.params import Field, Params, accepted


class WindowParams(Params):
    path: str = Field(description="File.")
    limit: int = Field(3, ge=1, description="Most lines.")
    tags: dict[str, str] = Field(default_factory=dict)
    plain: bool = False


def test_values_that_fit_and_values_that_are_converted_are_taken():
    given = accepted(WindowParams, {"path": "a", "limit": 2})
    assert (given.path, given.limit, given.tags, given.plain) == ("a", 2, {}, False)
    assert given.given == {"path", "limit"}
    sent = accepted(WindowParams, {"path": "a", "limit": "2", "plain": "true"})
    assert (sent.limit, sent.plain, sent.given) == (2, True, {"path", "limit", "plain"})
    assert given.changed(limit=5).limit == 5
    assert given.limit == 2


def test_zero_is_no_value_of_an_optional_limit(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    tools = toolset("workspace").bind(Workspace(tmp_path))
    for name, sent in {
        "read": {"file_path": "a.txt", "offset": 0, "limit": 0},
        "bash": {"command": "cat a.txt", "timeout": 0},
    }.items():
        assert "two" in tools[name].call(sent).text
    assert tools["read"].call({"file_path": "a.txt", "offset": 0.0}).ok
    whole = toolset("workspace").showing({"read": ["end_line"]}).bind(Workspace(tmp_path))["read"]
    assert not whole.call({"file_path": "a.txt", "end_line": 0}).ok  # which says something


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({}, "path: this argument is required."),
        ({"path": "a", "limit": 0}, "limit: should be at least 1 (got 0)."),
        ({"path": "a", "other": 1}, "other: there is no such key here; leave it out."),
    ],
)
def test_what_does_not_fit_is_refused(sent, told):
    with pytest.raises(InvalidArguments) as caught:
        accepted(WindowParams, sent)
    assert str(caught.value).startswith(told)


def test_parameters_are_frozen():
    with pytest.raises(ValueError, match="frozen"):
        accepted(WindowParams, {"path": "a"}).path = "b"
