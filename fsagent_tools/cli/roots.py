"""Which project a command is about, and what a path typed below its root means."""

import os
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

from fsagent_tools.errors import InvalidPath

Placing = Callable[[str], str]  # from a path as typed to a path from the root

_ROOT_MARKS = (".fsagent.yaml", ".git")


def current_directory() -> Path:
    """The current directory. Raises `ToolError` when it was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise InvalidPath(
            "The current directory is gone.",
            hint="Change to another, or name the project with --root.",
        ) from None


def project_root(start: Path) -> Path | None:
    """The nearest directory from `start` upwards with `.fsagent.yaml`, else with `.git`.

    None without any such directory; the home, what is above it and other file systems are never
    taken.
    """
    home, device = Path.home(), start.stat().st_dev
    places = [
        *takewhile(
            lambda place: not home.is_relative_to(place) and place.stat().st_dev == device,
            (start, *start.parents),
        )
    ]
    marked = (place for mark in _ROOT_MARKS for place in places if os.path.lexists(place / mark))
    return next(marked, None)


def from_here(root: Path, typed: str) -> str:
    """A path typed in the current directory, as the project's tools take it."""
    inner, words = Path.cwd().relative_to(root), Path(typed)
    if words.is_absolute():
        return typed
    while words.parts[:1] == ("..",) and inner.parts:  # `inner` has no links: up is its parent
        inner, words = inner.parent, Path(*words.parts[1:])
    path = (inner / words).as_posix()
    return f"{path}/" if typed.endswith("/") else path
