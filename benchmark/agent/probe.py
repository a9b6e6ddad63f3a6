"""What of an edit task only shows when the code runs: a program of its own, by its exit code.

python -B probe.py KIND FACTS: facts are JSON; the code is imported from the working directory.
"""

import contextlib
import doctest
import importlib
import inspect
import json
import sys
import typing
import warnings
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any


def rename(facts: dict[str, Any]) -> None:
    """The new name has the place of the old, which works, warns, and excludes the new one."""
    old, new = facts["old"], facts["new"]
    made = importlib.import_module(facts["module"])
    names = [*inspect.signature(getattr(made, facts["function"])).parameters]
    assert names.index(new) == facts["at"]
    assert called(made, facts, old)[:2] == (True, True)
    assert called(made, facts, new)[:2] == (True, False)
    told = called(made, facts, old, new)[2]
    assert old in told or new in told


def called(made: ModuleType, facts: dict[str, Any], *given: str) -> tuple[bool, bool, str]:
    """Of a call with the same object by these names: whether it got to the new one, whether there
    was a DeprecationWarning, and the text of a TypeError. What else it raises is of no interest.
    """
    function, probe, seen, told = getattr(made, facts["function"]), object(), set[bool](), ""
    plain, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    every = inspect.signature(function).parameters.items()
    needed = [name for name, one in every if one.default is empty and one.kind is plain]

    def trace(frame: FrameType, *_: Any) -> Any:
        if frame.f_code.co_filename == made.__file__:
            seen.add(frame.f_locals.get(facts["new"]) is probe)
            return trace
        return None

    with warnings.catch_warnings(record=True) as caught, contextlib.suppress(Exception):
        warnings.simplefilter("always")
        sys.settrace(trace)
        try:
            function(**{name: object() for name in needed}, **dict.fromkeys(given, probe))
        except TypeError as error:
            told = str(error)
        finally:
            sys.settrace(None)
    warned = any(issubclass(one.category, DeprecationWarning) for one in caught)
    return True in seen, warned, told


def move(facts: dict[str, Any]) -> None:
    """Both modules have the same function, which is of the new one."""
    first, second = (importlib.import_module(name) for name in facts["modules"])
    name = facts["function"]
    assert getattr(first, name) is getattr(second, name)
    assert getattr(second, name).__module__ == second.__name__


def annotate(facts: dict[str, Any]) -> None:
    """Every annotation names something."""
    made = importlib.import_module(facts["module"])
    for name in facts["functions"]:
        typing.get_type_hints(getattr(made, name))


def style(facts: dict[str, Any]) -> None:
    importlib.import_module(facts["module"])


def feature(facts: dict[str, Any]) -> None:
    """The examples of the docstring hold."""
    made = importlib.import_module(facts["module"])
    name = facts["function"]
    assert callable(getattr(made, name))
    test = doctest.DocTestParser().get_doctest(facts["doc"], {**vars(made)}, name, None, 0)
    assert test.examples
    assert not doctest.DocTestRunner(verbose=False).run(test, out=lambda _: None).failed


KINDS: dict[str, Callable[[dict[str, Any]], None]] = {
    one.__name__: one for one in (rename, move, annotate, style, feature)
}

if __name__ == "__main__":
    sys.path[0] = ""
    KINDS[sys.argv[1]](json.loads(sys.argv[2]))
