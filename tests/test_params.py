"""How parameters are declared, and that pydantic would agree with what is taken without it."""

import pydantic
import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.actions import ALL
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.toolkit.params import Field, Params, accepted, converter

SENT = [
    *(None, True, False, 0, 1, -1, 7, 2**31, 10**30, 0.5, 1.0, float("inf"), float("nan")),
    *("", "ids", "all", "content", "file", "1", "true", "ä", "\0", "\ud800", b"a"),
    *([], ["a"], (), ("a",), {}, {"a": "b"}),
]
KNOBS = [(each, name) for each in ALL for name in each.params.model_fields]


class WindowParams(Params):
    path: str = Field(description="File.")
    limit: int = Field(3, ge=1, description="Most lines.")
    tags: dict[str, str] = Field(default_factory=dict)
    plain: bool = False


@pytest.mark.parametrize(("action", "name"), KNOBS, ids=lambda x: getattr(x, "name", x))
def test_what_fits_is_what_pydantic_takes_unchanged(action, name):
    knob = action.params.model_fields[name]
    read = converter(name, knob)
    for value in SENT:
        if action.params.fits(name, value):
            taken = read(value)
            assert (taken, type(taken)) == (value, type(value))


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


def test_a_field_of_pydantic_is_not_mistaken_for_a_default():
    with pytest.raises(TypeError, match=r"Field is of fsagent_tools\.params"):

        class Mistaken(Params):
            path: str = pydantic.Field(description="File.")


def test_parameters_are_frozen():
    with pytest.raises(AttributeError, match="WindowParams is frozen"):
        accepted(WindowParams, {"path": "a"}).path = "b"
