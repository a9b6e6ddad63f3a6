"""The pages of reference that are tables of the code: errors, keys and variables."""

import inspect
import re
import typing
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path

import griffe
import pytest

from fsagent_tools import Policy, Workspace, errors
from fsagent_tools.policy import Limits, ProcessPolicy
from fsagent_tools.web import search as settings
from fsagent_tools.workspace.config import OTHERS, types

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs/reference"
CODES = re.compile(r"^\| `([A-Z_]+)` \| `(\w+)` \|", re.MULTILINE)
KEYS = re.compile(r"^\| key \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)


def below(kind):
    yield kind
    for one in kind.__subclasses__():
        yield from below(one)


def test_every_error_code_is_explained():
    own = {kind for kind in below(errors.ToolError) if kind.__module__ == errors.__name__}
    listed = CODES.findall((REFERENCE / "errors.md").read_text())
    assert sorted(listed) == sorted((kind.code, kind.__name__) for kind in own)


def told(kind):
    """Attribute or argument -> what the docstring says of it."""
    sections = griffe.Docstring(kind.__doc__, lineno=1).parse("google")
    return {
        item.name: " ".join(item.description.split()).replace("|", "\\|")
        for section in sections
        if section.kind.value in ("attributes", "parameters")
        for item in section.value
    }


def spelt(kind):
    """A type as the value of a key in YAML."""
    if typing.get_origin(kind) is typing.Literal:
        return ", ".join(f"`{value}`" for value in typing.get_args(kind))
    words = {bool: "`true` or `false`", int: "number", str: "text", tuple: "list", dict: "group"}
    kinds = [one for one in typing.get_args(kind) or (kind,) if one is not type(None)]
    if typing.get_origin(kind) in (tuple, dict):
        kinds = [kind]
    return " or ".join(
        spelt(one)
        if typing.get_origin(one) is typing.Literal
        else words[typing.get_origin(one) or one]
        for one in kinds
    )


def default(field):
    value = field.default
    if value is MISSING or value in (None, (), "") or isinstance(value, tuple):
        return ""
    return f"`{str(value).lower()}`"


def group(kind, prefix):
    meanings = told(kind)
    hints = typing.get_type_hints(kind)
    for field in fields(kind):
        if field.name[0] == "_":
            continue
        name, hint = f"{prefix}{field.name}", hints[field.name]
        if is_dataclass(hint):
            yield f"| `{name}` | group | | {meanings[field.name]} |"
            yield from group(hint, f"{name}.")
        else:
            cells = f"`{name}`", spelt(hint), default(field), meanings[field.name]
            yield f"| {' | '.join(cells)} |"


def rows():
    """Every key of a configuration file."""
    yield "| key | value | default | |\n|---|---|---|---|"
    yield from group(Policy, "")
    meanings = {**told(Workspace), "toolset": "The set of tools, by name."}
    for name, kind in types().items():
        if name not in {field.name for field in fields(Policy)}:
            value = "group" if is_dataclass(kind) else spelt(kind)
            yield f"| `{name}` | {value} | | {meanings[name]} |"


def test_every_key_of_a_configuration_is_explained(request):
    page, made = REFERENCE / "configuration.md", "\n".join(rows())
    text = page.read_text()
    if request.config.getoption("--update-golden"):
        page.write_text(text := KEYS.sub(lambda _: made, text, count=1))
    assert KEYS.search(text)[0] == made, "made from the code: --update-golden"


SOURCE = [*(ROOT / "fsagent_tools").rglob("*.py"), *(ROOT / "adapters").rglob("*.py")]
VARIABLE = re.compile(r"[\"'](FSAGENT_[A-Z_]+|XDG_[A-Z_]+|[A-Z_]+_API_KEY)[\"']")
INNER = {"FSAGENT_", "FSAGENT_CASES"}  # between our own processes, and of tests


@pytest.mark.parametrize("kind", [Policy, ProcessPolicy, Limits])
def test_no_default_names_a_path_of_this_machine(kind):
    assert "/" not in repr(kind())
    assert " object at " not in str(inspect.signature(kind))


def test_every_variable_that_is_read_is_explained():
    read = {name for path in SOURCE for name in VARIABLE.findall(path.read_text())} - INNER
    read |= {*OTHERS, settings.PROVIDER, *settings.KEY_VARIABLES.values()} - INNER
    text = (REFERENCE / "configuration.md").read_text()
    assert [name for name in sorted(read) if f"`{name}`" not in text] == []
