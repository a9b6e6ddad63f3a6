"""Every action there is; a toolset picks from this table."""

from typing import Any

from fsagent_tools.action import Action
from fsagent_tools.actions.bash import bash
from fsagent_tools.actions.diagnostics import diagnostics
from fsagent_tools.actions.edit_lines import edit_lines
from fsagent_tools.actions.glob import glob
from fsagent_tools.actions.grep import grep
from fsagent_tools.actions.ls import ls
from fsagent_tools.actions.read import read
from fsagent_tools.actions.webfetch import webfetch
from fsagent_tools.actions.websearch import websearch
from fsagent_tools.actions.write import write

ALL: tuple[Action[Any], ...] = (
    read,
    write,
    edit_lines,
    glob,
    grep,
    ls,
    bash,
    webfetch,
    websearch,
    diagnostics,
)
