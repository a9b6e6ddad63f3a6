"""openhands-aci: the editor behind its `str_replace_editor`, with its defaults."""

import sys
from pathlib import Path
from typing import Any

from openhands_aci.editor import OHEditor
from serve import serve

root = Path(sys.argv[1])
editor = OHEditor(workspace_root=str(root))
PAGE = 200  # lines; what one answer shows ends after 16,000 characters


def read(path: str) -> str:
    pages, last = [], (root / path).read_bytes().count(b"\n")
    for first in range(1, max(last, 1) + 1, PAGE):
        span = [first, min(first + PAGE - 1, max(last, 1))]
        pages.append(str(editor(command="view", path=str(root / path), view_range=span).output))
    return "\n".join(pages)


def edit(arguments: dict[str, Any]) -> tuple[bool, str]:
    given = {**arguments, "path": str(root / arguments.get("path", ""))}
    result = editor(command="str_replace", **given)
    return not result.error, str(result.error or result.output)


serve(read, edit)
