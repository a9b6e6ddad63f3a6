"""A formula of a page as the TeX it carries, else its MathML on one line."""

from collections.abc import Mapping

_BETWEEN = {"mfrac": "/", "msup": "^", "msub": "_", "munder": "_", "mover": "^"}
_GRID = {"mtable": "; ", "mtr": " "}  # between rows, between cells


class Formula:
    """Told what a <math> element holds, whose words come as the end of `parts`; `text` is what to
    show."""

    def __init__(self, attributes: Mapping[str, str], parts: list[str]) -> None:
        self._parts, self._from = parts, len(parts)
        self._tex = attributes.get("alttext", "").strip()
        self._stack: list[tuple[str, list[str]]] = [("math", [])]

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._read()
        if tag == "annotation" and "tex" in attributes.get("encoding", "").lower():
            tag = "tex"
        self._stack.append((tag, []))

    def end(self, tag: str) -> bool:
        """True when this ends the whole formula."""
        self._read()
        if len(self._stack) == 1:
            return True
        name, parts = self._stack.pop()
        if name == "tex":
            self._tex = self._tex or " ".join(parts)
        elif parts and not name.startswith("annotation"):
            self._stack[-1][1].append(_joined(name, parts))
        return False

    def text(self, *, plain: bool) -> str:
        if self._tex:
            return self._tex if plain else f"${self._tex}$"
        return "".join(self._stack[0][1])

    def _read(self) -> None:
        """What was said since it looked last belongs to the inmost element."""
        found = filter(None, map(str.strip, self._parts[self._from :]))
        self._stack[-1][1].extend(found)
        del self._parts[self._from :]


def _joined(name: str, parts: list[str]) -> str:
    if name == "msqrt":
        return f"sqrt({''.join(parts)})"
    if name == "mroot" and len(parts) == 2:
        return f"root({parts[0]}, {parts[1]})"
    if name in ("msubsup", "munderover") and len(parts) == 3:
        return f"{parts[0]}_{_group(parts[1])}^{_group(parts[2])}"
    if name in _BETWEEN and len(parts) == 2:
        return _BETWEEN[name].join(map(_group, parts))
    return _GRID.get(name, "").join(parts)


def _group(part: str) -> str:
    return part if len(part) == 1 or part.isalnum() else f"({part})"
