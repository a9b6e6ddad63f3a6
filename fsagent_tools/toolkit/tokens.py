"""What tool definitions cost in a model's context."""

import json
import os
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fsagent_tools.toolkit.toolset import Tool

ENCODING = "cl100k_base"
_SOURCE = f"https://openaipublic.blob.core.windows.net/encodings/{ENCODING}.tiktoken"
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
    """Counts tokens with tiktoken; None where it, or its table on disk, is missing.

    The table is looked for in the directory that `TIKTOKEN_CACHE_DIR` names, as tiktoken does it:
    nothing is ever downloaded.
    """
    table = Path(os.environ.get("TIKTOKEN_CACHE_DIR", ""), sha1(_SOURCE.encode()).hexdigest())
    if not table.is_file() or not find_spec("tiktoken"):
        return None
    import tiktoken

    encoding = tiktoken.get_encoding(ENCODING)
    return lambda text: len(encoding.encode(text))
