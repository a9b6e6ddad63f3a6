"""Jupyter notebooks (format 4) as lines and pictures."""

import base64
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fsagent_tools.errors import ToolError
from fsagent_tools.media.image import Picture, prepare_image
from fsagent_tools.media.pdf import BUDGET
from fsagent_tools.text import clip

_MOST_OUTPUT = 1500  # characters of one output of a cell
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_KINDS = ("image/png", "image/jpeg")
_NOT_A_NOTEBOOK = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


def cells(data: bytes) -> tuple[list[str], dict[int, int]] | None:
    """The cells, numbered from 1, as lines; and 0-based line -> number of its picture.

    None for any other text.
    """
    try:
        found = json.loads(data)["cells"]
        lines: list[str] = []
        pictures: dict[int, int] = {}
        for number, cell in enumerate(found, 1):
            count = cell.get("execution_count")
            ran = f" [{count}]" if isinstance(count, int) else ""
            lines.append(f"--- cell {number} of {len(found)}: {cell['cell_type']}{ran} ---")
            lines += _text(cell["source"]).split("\n")
            for output in cell.get("outputs", ()):
                lines.append("output:")
                if kind := _kind(output):
                    pictures[len(lines)] = len(pictures)
                text = f"(a picture, {kind})" if kind else _output(output)
                lines += text.split("\n")
        return lines, pictures
    except _NOT_A_NOTEBOOK:
        return None


def drawings(data: bytes, numbers: Sequence[int]) -> list[Picture | None]:
    """The pictures of these numbers; one that cannot be shown costs nothing but itself."""
    begun, wanted = time.process_time(), {*numbers}
    found = {}
    for number, encoded in enumerate(_encoded(json.loads(data))):
        if number in wanted and time.process_time() - begun < BUDGET:
            try:
                found[number] = prepare_image(base64.b64decode(encoded))
            except (ToolError, ValueError):
                continue
    return [found.get(number) for number in numbers]


def _encoded(notebook: Any) -> Iterator[str]:
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if kind := _kind(output):
                yield _text(output["data"][kind])


def _kind(output: Mapping[str, Any]) -> str:
    """The type of the picture that a cell drew, "" if there is none that can be shown."""
    if output["output_type"] in ("stream", "error"):
        return ""
    return next((kind for kind in _KINDS if kind in output.get("data", {})), "")


def _output(output: Mapping[str, Any]) -> str:
    if output["output_type"] == "stream":
        return clip(_text(output["text"]).rstrip("\n"), _MOST_OUTPUT)
    if output["output_type"] == "error":
        return _failed(output)
    data = output.get("data", {})
    shown = _text(data.get("text/plain", "")) or f"({', '.join(data) or 'nothing'})"
    return clip(shown, _MOST_OUTPUT)


def _failed(output: Mapping[str, Any]) -> str:
    """The end of the traceback, which is nearest to the error; the error alone without one."""
    error = clip(f"{output['ename']}: {output['evalue']}", _MOST_OUTPUT)
    trace = _CONTROL.sub("", "\n".join(output.get("traceback", ()))).strip()
    if not trace:
        return error
    left_out = max(0, len(trace) - _MOST_OUTPUT)
    head = f"[{left_out:,} characters of the traceback left out]\n" if left_out else ""
    return head + trace[left_out:]


def _text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)
