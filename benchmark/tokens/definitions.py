"""The definitions of tools that a model is sent with every request: ours by toolset, and peers'."""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmark.environments import Missing
from benchmark.packs import Own, Peer
from benchmark.running import PeerTools
from fsagent_tools import Workspace, toolset
from fsagent_tools.toolkit.tokens import definition
from fsagent_tools.toolsets import TOOLSETS


def packed(definitions: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(one, separators=(",", ":")) for one in definitions)


def ours() -> dict[str, str]:
    """By toolset, all its tools; and those of the default one that read and edit."""
    workspace = Workspace(".")
    told = {
        f"our {name} ({len(tools)} tools)": packed([definition(tool) for tool in tools.values()])
        for name in TOOLSETS
        if (tools := toolset(name).bind(workspace))
    }
    tools = toolset("workspace").bind(workspace)
    pair = [definition(tools[name]) for name in ("read", "edit_lines")]
    workspace.close()
    return told | {"our workspace: read, edit_lines": packed(pair)}


def theirs(packs: Iterable[Own | Peer]) -> dict[str, str]:
    """By peer, all its tools, and those that read and edit; a prompt where it is not by tools.

    A peer whose package does not say what a model is told, or that is missing, is left out.
    """
    told: dict[str, str] = {}
    for pack in packs:
        if isinstance(pack, Peer):
            try:
                every = defined(pack)
            except Missing:
                continue
            count = f"{len(every)} tools" if pack.pair else "prompt"
            if every:
                told[f"{pack.name} ({count})"] = "".join(every.values())
            if pack.pair:
                told[f"{pack.name}: {', '.join(pack.pair)}"] = "".join(
                    every[one] for one in pack.pair
                )
    return told


def defined(pack: Peer) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder, PeerTools(pack, Path(folder).resolve()) as tools:
        return tools.define()
