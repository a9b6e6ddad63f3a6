"""Every action there is; a toolset picks from this table."""

from typing import Any

from fsagent_tools.action import Action

ALL: tuple[Action[Any], ...] = ()
