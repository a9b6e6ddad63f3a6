"""Equations of a Word document as LaTeX: its converter passes over them."""

import os
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a plain read has no use for it
    from xml.etree.ElementTree import Element

_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ACCENTS = {
    "\u0300": "grave",
    "\u0301": "acute",
    "\u0302": "hat",
    "\u0303": "tilde",
    "\u0305": "bar",
    "\u0306": "breve",
    "\u0307": "dot",
    "\u0308": "ddot",
    "\u030c": "check",
    "\u20d7": "vec",
}
_FORMS = {  # element, or element and the value of a property -> what becomes of its parts
    "f": r"\frac{{{num}}}{{{den}}}",
    "f noBar": r"{{{num} \atop {den}}}",
    "sSup": "{e}^{{{sup}}}",
    "sSub": "{e}_{{{sub}}}",
    "sSubSup": "{e}_{{{sub}}}^{{{sup}}}",
    "sPre": "{{}}_{{{sub}}}^{{{sup}}}{e}",
    "limLow": r"\underset{{{lim}}}{{{e}}}",
    "limUpp": r"\overset{{{lim}}}{{{e}}}",
    "func": "{fName} {e}",
    "bar": r"\underline{{{e}}}",
    "bar top": r"\overline{{{e}}}",
    "acc": "{e}{chr}",
    **{f"acc {sign}": rf"\{name}{{{{{{e}}}}}}" for sign, name in _ACCENTS.items()},
    "groupChr": r"\underset{{{chr}}}{{{e}}}",
    "groupChr top": r"\overset{{{chr}}}{{{e}}}",
    "groupChr \u23de": r"\overbrace{{{e}}}",
    "groupChr \u23df": r"\underbrace{{{e}}}",
}
_SIGNS = {"acc": "\u0302", "groupChr": "\u23df"}  # of those that name none
_LARGE = {"": r"\int", "∫": r"\int", "∑": r"\sum", "∏": r"\prod", "∮": r"\oint"}
_Parts = Mapping[str, str]
_BRACES = {"{": r"\{", "}": r"\}", "": "."}


class Equations:
    """Those that were taken out of a document, to be put back into the text that is made of it."""

    def __init__(self) -> None:
        self._sign, self._found = f"equation{os.urandom(8).hex()}n", list[str]()

    def taken_out(self, part: bytes) -> bytes:
        """The XML with a sign in place of each; as it is where it has none, or is damaged."""
        if b"oMath" not in part:
            return part
        from xml.etree.ElementTree import ParseError, fromstring, tostring

        try:
            page = fromstring(part)
            for around in [*page.iter()]:
                for at, inner in enumerate(around):
                    if inner.tag in (f"{_MATH}oMath", f"{_MATH}oMathPara"):
                        around[at] = self._run(inner)
            return tostring(page)
        except (ParseError, RecursionError):
            return part

    def put_back(self, text: str) -> str:
        return re.sub(rf"{self._sign}(\d+)end", lambda found: self._found[int(found[1])], text)

    def _run(self, equation: "Element") -> "Element":
        from xml.etree.ElementTree import Element, SubElement

        run = Element(f"{_WORD}r")
        run.tail = equation.tail
        SubElement(run, f"{_WORD}t").text = f"{self._sign}{len(self._found)}end"
        self._found.append(f"${_latex(equation).strip()}$")
        return run


def _latex(node: "Element") -> str:
    kind = node.tag.removeprefix(_MATH)
    if kind == "t":
        return re.sub(r"[%#]", r"\\\g<0>", node.text or "")
    if not node.tag.startswith(_MATH) or kind.endswith("Pr"):
        return ""
    inner = [(child.tag.removeprefix(_MATH), _latex(child)) for child in node]
    parts = defaultdict(str, inner)
    if kind in _FORMS:
        if kind.startswith("s") and len(parts["e"]) > 1:
            parts["e"] = f"{{{parts['e']}}}"
        parts["chr"] = _property(node, "chr", _SIGNS.get(kind, ""))
        values = parts["chr"], _property(node, "pos", ""), _property(node, "type", "")
        forms = (_FORMS.get(f"{kind} {value}") for value in values)
        return next(filter(None, forms), _FORMS[kind]).format_map(parts)
    if kind in _MADE:
        return _MADE[kind](node, parts, [latex for name, latex in inner if name in ("e", "mr")])
    return "".join(latex for _, latex in inner)


def _run(node: "Element", parts: _Parts, every: list[str]) -> str:
    words = "".join(map(_latex, node.iter(f"{_MATH}t")))
    normal = node.find(f"{_MATH}rPr/{_MATH}nor")
    is_text = normal is not None and normal.get(f"{_MATH}val") not in ("0", "off")
    return rf"\text{{{words}}}" if is_text else words


def _root(node: "Element", parts: _Parts, every: list[str]) -> str:
    degree = f"[{parts['deg']}]" if parts["deg"] else ""
    return rf"\sqrt{degree}{{{parts['e']}}}"


def _large(node: "Element", parts: _Parts, every: list[str]) -> str:
    sign, low, high = _property(node, "chr", ""), parts["sub"], parts["sup"]
    bounds = f"_{{{low}}}" * bool(low) + f"^{{{high}}}" * bool(high)
    return f"{_LARGE.get(sign, sign)}{bounds} {parts['e']}"


def _fenced(node: "Element", parts: _Parts, every: list[str]) -> str:
    begin, end = (_property(node, *side) for side in (("begChr", "("), ("endChr", ")")))
    words = _property(node, "sepChr", "|").join(every)
    return rf"\left{_BRACES.get(begin, begin)} {words} \right{_BRACES.get(end, end)}"


def _grid(node: "Element", parts: _Parts, every: list[str]) -> str:
    around, rows = "matrix" if node.tag == f"{_MATH}m" else "aligned", r" \\ ".join(every)
    return rf"\begin{{{around}}}{rows}\end{{{around}}}"


def _row(node: "Element", parts: _Parts, every: list[str]) -> str:
    return " & ".join(every)


_MADE = {"r": _run, "rad": _root, "nary": _large, "d": _fenced}
_MADE |= {"m": _grid, "eqArr": _grid, "mr": _row}


def _property(node: "Element", name: str, usual: str) -> str:
    """The value of a property, `usual` where it has none."""
    found = node.find(f"*/{_MATH}{name}")
    return usual if found is None else found.get(f"{_MATH}val", usual)
