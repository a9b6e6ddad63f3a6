"""Show a file or a directory, whichever it is."""

import re
from dataclasses import replace
from typing import Any

from fsagent_tools.actions.ls import Entries, LsParams, ls
from fsagent_tools.actions.read import ReadParams, read
from fsagent_tools.errors import InvalidArguments, Missing, NotAFile
from fsagent_tools.results import Result
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.params import accepted
from fsagent_tools.toolkit.window import Read

_OFFSET = re.compile(r"`offset`=(\d+)")  # as `read` tells of a line


class ViewParams(Params):
    path: str = Field(description="File or directory.")
    view_range: list[int] | None = Field(
        None, description="First and last line, from 1; -1 is the end."
    )


@action(effect=Effect.READ, permissions=("fs.read", "fs.list"))
def view(workspace: Workspace, p: ViewParams) -> Result:
    """Show a file with line numbers, or list a directory."""
    wanted: dict[str, Any] = {"path": p.path, "marks": "numbers"}
    if p.view_range is not None:
        if len(p.view_range) != 2 or p.view_range[0] < 1 or p.view_range[1] < -1:
            raise InvalidArguments("`view_range` is the first and the last line, from 1, or -1.")
        first, last = p.view_range
        wanted |= {"offset": first, "end_line": None if last == -1 else last}
    try:
        found = read.run(workspace, accepted(ReadParams, wanted))
    except Missing:
        if (p.path.strip("/"),) not in workspace.policy.within:
            raise
        return Entries([], 0, truncated=False, note="Nothing is there yet.")  # as a new memory
    except NotAFile:
        return ls.run(workspace, accepted(LsParams, {"path": p.path, "include_hidden": True}))
    except InvalidArguments as error:
        error.message = _OFFSET.sub("Line \\1", error.message)
        raise
    assert isinstance(found, Read)
    return replace(found, note=_OFFSET.sub("view_range [\\1, -1]", found.note))
