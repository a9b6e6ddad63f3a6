"""TypeScript's own protocol, by a command of typescript-language-server.

That publishes syntax and types one by one, and nothing where a file was right and still is: what
it says by itself never tells when it is done.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fsagent_tools.lsp.client import items_in
from fsagent_tools.lsp.documents import path_of_uri
from fsagent_tools.lsp.watch import CHANGED

EXECUTE = "workspace/executeCommand"
_KINDS = ("syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync")
_LONGEST = 200  # characters of what is wrong with a project
_SEVERITIES = {"error": 1, "warning": 2, "message": 3, "suggestion": 4}


def told_of(uri: str, request: Callable[[str, Any], Any]) -> tuple[list[Any], str, str]:
    """The diagnostics of an open file in the form of the protocol, why its project could not be
    loaded, and what is not known of it. request: of a method. Raises `LanguageServerFailed` where
    TypeScript does not answer.
    """

    def ask(kind: str, **asked: Any) -> Any:
        return request(EXECUTE, _command(kind, asked))

    found = [each for kind in _KINDS for each in _converted(ask(kind, file=uri))]
    project = ask("projectInfo", file=uri, needFileNameList=False)
    settings = str(((project or {}).get("body") or {}).get("configFileName"))
    if os.path.isfile(settings):  # noqa: PTH113  never an error, whatever the path
        faults = _converted(ask(_KINDS[1], file=settings, projectFileName=settings))
        wrong = [str(fault["message"])[:_LONGEST] for fault in faults if fault["severity"] == 1]
        return found, f"{settings}: {wrong[0]}" if wrong else "", ""
    above = Path(path_of_uri(uri)).parents
    lone = any((folder / "tsconfig.json").exists() for folder in above)
    return found, "", "checks it with settings of its own: no tsconfig.json takes it in" * lone


def reads(changes: Mapping[str, int]) -> list[Any]:
    """Commands that have it read at once what it would look at later: files of which only the text
    has changed by themselves, else all of its projects, as others may now be found in their place.
    """
    if all(kind == CHANGED and _is_plain(path) for path, kind in changes.items()):
        return [_command("reload", {"file": path}) for path in changes]
    return [_command("reloadProjects", None, {"expectsResult": False})]


def _is_plain(path: str) -> bool:
    """Whether no link leads elsewhere from there now, nor a plugin reads it."""
    return os.path.realpath(path) == path and not path.endswith(".vue")


def _command(*arguments: Any) -> Any:
    return {"command": "typescript.tsserverRequest", "arguments": arguments}


def _converted(reply: Any) -> Iterator[Any]:
    for each in items_in(reply, "body"):
        places = [
            {"line": each[at]["line"] - 1, "character": each[at]["offset"] - 1}
            for at in ("start", "end")
        ]
        yield {
            "range": dict(zip(("start", "end"), places, strict=True)),
            "severity": _SEVERITIES.get(str(each.get("category"))),
            "message": each.get("text"),
            "code": each.get("code"),
            "source": "typescript",
        }
