"""TypeScript's own protocol, by a command of typescript-language-server.

That publishes syntax and types one by one, and nothing where a file was right and still is: what
it says by itself never tells when it is done.
"""

from collections.abc import Callable, Iterator
from typing import Any

from fsagent_tools.lsp.client import listed

EXECUTE = "workspace/executeCommand"
_KINDS = ("syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync")
_SEVERITIES = {"error": 1, "warning": 2, "message": 3, "suggestion": 4}
_RELOAD = ("reloadProjects", None, {"expectsResult": False})
RELOAD = {"command": "typescript.tsserverRequest", "arguments": [*_RELOAD]}


def diagnostics_of(uri: str, request: Callable[[str, Any], Any]) -> list[Any]:
    """The diagnostics of an open file in the form of the protocol. request: of a method. Raises
    `LanguageServerFailed` where TypeScript does not give them.
    """
    found = list[Any]()
    for kind in _KINDS:
        asked = {"command": "typescript.tsserverRequest", "arguments": [kind, {"file": uri}]}
        found += _converted(request(EXECUTE, asked))
    return found


def _converted(reply: Any) -> Iterator[Any]:
    for each in listed(reply, "body"):
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
