"""aider: edit blocks of a reply are looked for in the file and written, as its coder does."""

import sys
from pathlib import Path
from typing import Any

from aider.coders.editblock_coder import EditBlockCoder
from aider.coders.editblock_prompts import EditBlockPrompts
from aider.io import InputOutput
from serve import serve

root = Path(sys.argv[1])


class Coder(EditBlockCoder):
    """Without a model, a repository and a chat: only what takes a reply apart and applies it."""

    def __init__(self) -> None:
        self.io = InputOutput(pretty=False, yes=True, fancy_input=False)
        self.root, self.fence = str(root), ("```", "```")
        self.abs_fnames: set[str] = set()
        self.abs_root_path_cache: dict[str, str] = {}
        self.shell_commands: list[str] = []
        self.partial_response_content = ""


coder = Coder()


def edit(arguments: dict[str, Any]) -> tuple[bool, str]:
    coder.partial_response_content = arguments["reply"]
    coder.abs_fnames = {str(root / arguments["reply"].split("\n")[0])}
    edits = coder.get_edits()
    if not edits:
        return False, "no edit block was found"
    coder.apply_edits(edits)
    return True, "applied"


def define() -> dict[str, str]:
    """Its prompt, which says what an edit block looks like, in place of tools."""
    prompts = EditBlockPrompts()
    return {"prompt": f"{prompts.main_system}\n{prompts.system_reminder}"}


def read(path: str) -> str:
    return (root / path).read_bytes().decode().replace("\r\n", "\n")


serve(read, edit, define)
