"""During a call only the host's own code imports from where tools and commands write.

A program that lies in the root, a notebook and `python -m` look for modules there first: what a
model writes under the name of a module that is still to be imported would run in the host.
"""

import importlib
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import PurePath
from types import ModuleType

from fsagent_tools.runtime import OWN_PYTHON

_MACHINERY = ("<frozen importlib", os.path.dirname(importlib.__file__))  # noqa: PTH120
calling: ContextVar[object] = ContextVar("fsagent_calling", default=None)  # not None during one
_written = set[str]()  # real paths of what calls of this process may change


def close(places: Sequence[str]) -> Sequence[str]:
    """No call imports any more from these absolute paths; whose they are does not matter."""
    _written.update([os.path.realpath(place) for place in places])
    return places


class importing:  # noqa: N801 - a block, as those of `contextlib`
    """Inside the block nothing is imported from these directories and those of all workspaces.

    Around every operation, and around what is imported late: actions, configuration, schemas.
    Tasks that the host starts meanwhile have it, too, and may outlive it.
    """

    over = False

    def __init__(self, places: Iterable[str | os.PathLike[str]] = ()) -> None:
        if places:
            with suppress(FileNotFoundError):  # of a working directory that is gone
                close([os.fspath(place) for place in places])

    def __enter__(self) -> None:
        self._token = calling.set(self)

    def __exit__(self, *_: object) -> None:
        self.over = True
        calling.reset(self._token)


class Thread(threading.Thread):
    """A thread of a call's own work, which may outlive the call."""

    over = False

    def run(self) -> None:
        calling.set(self)
        super().run()


class _Installed:
    """Finds, during a call, what is installed before what a tool may have written."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """path: of the package that the module is in, which may have parts in several places."""
        if getattr(calling.get(), "over", True):
            return None
        searched = sys.path if path is None else path
        outside = [place for place in searched if not is_written(place)]
        if not outside or len(outside) == len(searched) or _host_imports():
            return None
        found = PathFinder.find_spec(name, outside, target)
        if found and found.loader:
            return found
        whole = PathFinder.find_spec(name, path, target)
        parts = [] if whole is None or whole.loader else whole.submodule_search_locations or []
        if not all(map(is_written, parts)):  # each module in them is judged when it is imported
            return whole
        if found or not whole:
            return found
        finders = iter(sys.meta_path)
        any(finder is PathFinder for finder in finders)  # after it are those of editable installs
        for find in filter(None, (getattr(finder, "find_spec", None) for finder in finders)):
            editable: ModuleSpec | None = find(name, path, target)
            if editable:
                return editable
        raise ModuleNotFoundError(f"No module named {name!r} outside the workspace", name=name)


def _host_imports() -> bool:
    """Whether the code that imports something just now is the host's own."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename.startswith(_MACHINERY):
        frame = frame.f_back
    file, module = frame.f_code.co_filename, frame.f_globals
    if file.startswith("<"):  # of no file, as what `dataclasses` makes
        file = module.get("__file__") or ""
    return module.get("__name__") == "__main__" or bool(file and is_written(file))


def is_written(path: str) -> bool:
    """Whether tools may write there, which they never do to our own environment."""
    try:
        real = os.path.realpath(path)
        above = {real, *map(str, PurePath(real).parents)}
    except (OSError, TypeError, ValueError):  # nothing is imported from there
        return False
    return not above.isdisjoint(_written) and above.isdisjoint(OWN_PYTHON)


_place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else 0
sys.meta_path.insert(_place, _Installed)
