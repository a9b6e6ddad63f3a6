"""What tool definitions cost in a model's context."""

import json
import os
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fsagent_tools.tools import Tool

ENCODING = "cl100k_base"
CHARACTERS = 4.4  # per token: measured over our own definitions with ENCODING


def definition(tool: Tool) -> dict[str, Any]:
    """The tool as providers take it, in OpenAI's form."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def cost(definitions: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Tokens by tool name: exact for `ENCODING` where `counter` is, else from their length."""
    count = counter() or (lambda text: round(len(text) / CHARACTERS))
    return {
        one["function"]["name"]: count(json.dumps(one, separators=(",", ":")))
        for one in definitions
    }


@cache
def counter() -> Callable[[str], int] | None:
    """Counts tokens with tiktoken; None where it, or a copy of its table on disk, is missing.

    The table is the one `TIKTOKEN_CACHE_DIR` names or the one llama-index-core ships: nothing is
    ever downloaded.
    """
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or _bundled()
    if not folder or not find_spec("tiktoken"):
        return None
    import tiktoken

    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = folder
    try:
        encoding = tiktoken.get_encoding(ENCODING)
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
    return lambda text: len(encoding.encode(text))


def _bundled() -> str | None:
    spec = find_spec("llama_index") and find_spec("llama_index.core")
    for place in (spec and spec.submodule_search_locations) or ():
        folder = Path(place, "_static", "tiktoken_cache")
        if folder.is_dir():
            return str(folder)
    return None
