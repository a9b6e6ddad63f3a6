"""The process that reads one document: content on its input, JSON on its output."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from fsagent_tools.errors import ToolError
from fsagent_tools.media import image, notebook, office, pdf

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "pages": pdf.pages,
    "page_pictures": pdf.page_pictures,
    "picture": image.prepare_image,
    "cells": notebook.cells,
    "drawings": notebook.drawings,
    "office": office.markdown,
}


def answer(arguments: str, name: str) -> None:
    """Answer {is}, or {error, message, hint} for a refusal."""
    data = sys.stdin.buffer.read()
    try:
        said = {"is": _FUNCTIONS[name](data, *json.loads(arguments))}
    except ToolError as error:
        said = {"error": type(error).__name__, "message": error.message, "hint": error.hint}
    json.dump(said, sys.stdout, default=_plain)


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)
