"""A preformatted block, read as it is written, with the language its class names."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from fsagent_tools.web.words import longest_ticks

LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|src-|brush:\s*|(?:hljs|sourceCode)\s+(?!lang))"
    r"([\w+#.-]+)|^code\s+([\w+#.-]+)\s+literal-block|^(rust)(?:\s|$)"  # Docutils, rustdoc
)
NOT_LANGUAGES = {
    "none", "default", "plaintext", "text", "wrapper", "container", "highlight", "hljs",
    "numberLines", "fallback",
}  # fmt: skip
_LINES = {"div", "p", "li", "tr", "table", "ol", "ul"}  # some sites make each line an element


class Code:
    """Opened by the attributes of a <pre> and of the elements around it, the inmost first; its
    words come as `parts`."""

    def __init__(self, around: Iterable[Mapping[str, str]], parts: list[str]) -> None:
        self._parts = parts
        self._depth = 1
        self._language = next(filter(None, map(_language, around)), "")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += tag == "pre"
        if tag == "code":
            self._language = _language(attributes) or self._language
        elif tag == "br":
            self._parts.append("\n")
        elif tag in _LINES:
            self._new_line()

    def end(self, tag: str) -> bool:
        """True when this ends the whole block."""
        self._depth -= tag == "pre"
        if tag in _LINES:
            self._new_line()
        return not self._depth

    def text(self, *, plain: bool) -> str:
        """All of it, which is left for no one else."""
        code = "".join(self._parts).strip("\n").rstrip()
        self._parts.clear()
        if plain or not code:
            return code
        fence = "`" * max(3, longest_ticks(code) + 1)
        return f"{fence}{self._language}\n{code}\n{fence}"

    def _new_line(self) -> None:
        if self._parts and not self._parts[-1].endswith("\n"):
            self._parts.append("\n")


def _language(attributes: Mapping[str, str]) -> str:
    if not attributes:
        return ""
    language = attributes.get("data-lang") or attributes.get("data-language") or ""
    return _named(attributes.get("class", ""), language)


@lru_cache(1024)  # few classes, many blocks
def _named(names: str, language: str) -> str:
    found = ["".join(groups) for groups in LANGUAGE.findall(names)]
    named = re.findall(r"^[\w+#.-]+$", language)
    return next((name for name in [*found, *named] if name not in NOT_LANGUAGES), "")
