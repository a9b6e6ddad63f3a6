"""Cells that the reader of spreadsheets passes over: formulas nobody has computed, and cells of no
stated type.
"""

import re

from fsagent_tools.media.parts import rewritten

_FORMULA = re.compile(rb"<c(\s[^<>]*)?><f[^<>]*>([^<]+)</f>(?:<v\s*/>|<v></v>)?</c>")
_TYPE = re.compile(rb"\st=[\"'][^\"']*[\"']")
_CELL = re.compile(rb"<table:table-cell(\s[^<>]*)?>")


def with_all_cells(data: bytes, suffix: str) -> bytes:
    """`data`, a .xlsx or .ods, with those cells as texts: a formula reads as it is written, behind
    an equals sign. Unchanged where there are none, and where it is damaged or very large.
    """
    rewrite = _with_formulas if suffix == ".xlsx" else _with_types
    return rewritten(data, _holds_cells, rewrite)


def _holds_cells(name: str) -> bool:
    return name.startswith("xl/worksheets/") or name == "content.xml"


def _with_formulas(part: bytes) -> bytes:
    def text(cell: re.Match[bytes]) -> bytes:
        attributes = _TYPE.sub(b"", cell[1] or b"")
        return b'<c%b t="inlineStr"><is><t>=%b</t></is></c>' % (attributes, cell[2])

    return _FORMULA.sub(text, part)


def _with_types(part: bytes) -> bytes:
    def typed(cell: re.Match[bytes]) -> bytes:
        attributes = cell[1] or b""
        if b"office:value-type" in attributes or attributes.endswith(b"/"):
            return cell[0]
        return b'<table:table-cell%b office:value-type="string">' % attributes

    return _CELL.sub(typed, part)
