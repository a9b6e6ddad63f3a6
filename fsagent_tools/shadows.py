"""During a call only the host's own code beneath the root imports what lies there.

A program that lies in the root, a notebook and `python -m` look for modules there first: what a
model writes under the name of a module that is still to be imported would run in the host.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

__all__ = ["root"]

root: ContextVar[str] = ContextVar("fsagent_root", default="")  # of the call that runs
_MACHINERY = ("<frozen importlib", os.path.dirname(importlib.__file__))  # noqa: PTH120


class _Installed:
    """Finds, during a call, what is installed before what lies beneath the root."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None or not (given := root.get()):  # of a package that is imported already
            return None
        top = os.path.realpath(given)
        places = [place for place in sys.path if not _is_beneath(place, top)]
        if len(places) == len(sys.path) or _is_beneath(_importer(), top):
            return None
        found = PathFinder.find_spec(name, places, target)
        if not found and PathFinder.find_spec(name, None, target):
            raise ModuleNotFoundError(f"No module named {name!r} outside {top}", name=name)
        return found


def _importer() -> str:
    """The file whose code imports something just now."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename.startswith(_MACHINERY):
        frame = frame.f_back
    return frame.f_code.co_filename


def _is_beneath(place: str, top: str) -> bool:
    """But for our own environment, which the tools do not write to."""
    real, own = os.path.realpath(place), os.path.realpath(sys.prefix)
    return _holds(top, real) and not (own != top and _holds(own, real))


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _begin() -> None:
    finders = sys.meta_path
    finders.insert(finders.index(PathFinder) if PathFinder in finders else 0, _Installed)


_begin()
