"""Answers orders, one JSON object a line: `read`, `edit` or `define`; used by every driver.

Runs in the environment of one peer, which has nothing of this project: standard library only.
"""

import json
import sys
from collections.abc import Callable
from typing import Any


def packed(name: str, description: str | None, parameters: Any) -> str:
    """A definition as providers take it, in OpenAI's form."""
    function = {"name": name, "description": description or "", "parameters": parameters}
    return json.dumps({"type": "function", "function": function}, separators=(",", ":"))


def serve(
    read: Callable[[str], str],
    edit: Callable[[dict[str, Any]], tuple[bool, str]],
    define: Callable[[], dict[str, str]] = dict,
) -> None:
    """Answer until the input ends; whatever a peer raises is its refusal.

    define: what a model is told of each tool, by name; nothing where the package does not say.
    """
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if order["do"] == "read":
                ok, text = True, read(order["path"])
            elif order["do"] == "define":
                ok, text = True, json.dumps(define())
            else:
                ok, text = edit(order["arguments"])
        except Exception as error:  # noqa: BLE001  # peers raise what they like
            ok, text = False, f"{type(error).__name__}: {error}"
        print(json.dumps({"ok": ok, "text": text}), file=out, flush=True)
