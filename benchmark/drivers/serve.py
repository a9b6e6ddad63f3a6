"""Answers orders, one JSON object a line: `read` or `edit`; used by every driver.

Runs in the environment of one peer, which has nothing of this project: standard library only.
"""

import json
import sys
from collections.abc import Callable
from typing import Any


def serve(read: Callable[[str], str], edit: Callable[[dict[str, Any]], tuple[bool, str]]) -> None:
    """Answer until the input ends; whatever a peer raises is its refusal."""
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if order["do"] == "read":
                ok, text = True, read(order["path"])
            else:
                ok, text = edit(order["arguments"])
        except Exception as error:  # noqa: BLE001  # peers raise what they like
            ok, text = False, f"{type(error).__name__}: {error}"
        print(json.dumps({"ok": ok, "text": text}), file=out, flush=True)
