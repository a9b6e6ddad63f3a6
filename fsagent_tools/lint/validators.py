"""Which validator checks a text, by its name; and what it says of the whole text."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from fsagent_tools.encoding import decode
from fsagent_tools.lint import guarded, jsons, scripts, yamls
from fsagent_tools.lint.places import LATE, Source, Undecided
from fsagent_tools.problems import Problem
from fsagent_tools.runtime.aside import aside

MAX_LINTED_BYTES = 1 << 20
_AT_ONCE = 1 << 14  # characters that are checked too fast for waiting to matter
CHECKS: Mapping[str, Callable[[Source], list[Problem]]] = {  # by suffix, or whole name
    **dict.fromkeys(jsons.JSON, jsons.json_problems),
    **dict.fromkeys((".jsonl", ".ndjson"), jsons.json_line_problems),
    **dict.fromkeys((".yaml", ".yml"), yamls.yaml_problems),
    ".toml": guarded.check_toml,
    **dict.fromkeys((".py", ".pyi"), guarded.check_python),
    **dict.fromkeys(scripts.GRAMMARS, scripts.script_problems),
    **dict.fromkeys(("Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock"), guarded.check_toml),
    **dict.fromkeys(("Pipfile.lock", "composer.lock", "flake.lock"), jsons.json_problems),
}


def validator_of(name: str) -> Callable[[Source], list[Problem]] | None:
    path = PurePosixPath(name)
    return CHECKS.get(path.name) or CHECKS.get(path.suffix.lower())


def problems_of(source: Source) -> list[Problem]:
    if validator_of(source.name) is None:
        return []
    if (size := len(source.text)) > MAX_LINTED_BYTES:
        raise Undecided(f"{size:,} characters are over the limit of {MAX_LINTED_BYTES:,}")
    if size <= _AT_ONCE:
        return by_validator(source)
    try:
        return aside(partial(by_validator, source), source.means.until)
    except TimeoutError:
        raise Undecided(LATE) from None


def by_validator(source: Source) -> list[Problem]:
    """What the validator for the name says of the text, however long it takes."""
    validator, text = validator_of(source.name), source.text.removeprefix("\ufeff")
    return validator(replace(source, text=text)) if validator else []


def decoded(name: str, raw: bytes) -> str:
    return decode(raw, name).utf8.decode()
