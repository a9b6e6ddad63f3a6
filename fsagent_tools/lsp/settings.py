"""Files of a project that say how it is checked, read as data."""

import json
import os
import stat
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tomllib import loads
from typing import Any

from fsagent_tools.lint.jsons import without_comments
from fsagent_tools.runtime.weight import is_slow_toml

_BYTES = 1 << 16  # of a project's file that are read


def folders_above(path: Path, root: Path) -> list[Path]:
    """Those in the workspace `root`, from the innermost to the root itself."""
    return [folder for folder in path.parents if folder.is_relative_to(root)]


def first_text(path: Path) -> str:
    """The first 64 kB of a file, empty when it cannot be read or is a pipe, which would wait."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        with open(fd, "rb", closefd=False) as stream:
            return stream.read(_BYTES).decode("utf-8-sig", errors="replace")
    except OSError:
        return ""
    finally:
        os.close(fd)


@lru_cache(64)  # the same few files for each question
def _parsed(text: str, is_json: bool) -> Any:
    try:
        if is_json:  # as checkers read it: comments and a comma after the last one are no fault
            return json.loads(without_comments(text))
        return {} if is_slow_toml(text) else loads(text)
    except (ValueError, RecursionError):
        return {}


def table(file: Path, *names: str) -> Mapping[str, Any]:
    """A table of a settings file in TOML or JSON, empty when it is not there."""
    value = _parsed(first_text(file), file.suffix == ".json")
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
