"""What actions say, in the names of the toolset that a model works with."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fsagent_tools.actions import action_names
from fsagent_tools.errors import ToolError, sentences
from fsagent_tools.tools.entries import Entry

_NAME = re.compile(r"`(\w+)`(=\d+|[=:]|\.(?=\w))?")
_SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z])")


@dataclass(frozen=True)
class Wording:
    """Actions name their fields, and each other, in backticks; a toolset may call them otherwise.

    tools: action name -> tool name, of the whole toolset. Only the first line of a text is
    respelled: what follows quotes files and programs.
    """

    entry: Entry
    tools: Mapping[str, str]

    def refusal(self, error: ToolError) -> str:
        """Message and hint of `error`."""
        return sentences(self.respell(error.message), self.advice(error.hint))

    def respell(self, text: str) -> str:
        """`text` with the model's names; backticks go where a value or colon follows."""
        line, newline, quoted = text.partition("\n")
        return _NAME.sub(self._spelled, line) + newline + quoted

    def advice(self, text: str) -> str:
        """`respell`, without sentences that name a tool or parameter the model does not have."""
        if "`" not in text:
            return text
        line, newline, quoted = text.partition("\n")
        useful = " ".join(s for s in _SENTENCE.split(line) if self._possible(s))
        return self.respell(useful + newline + quoted)

    def _possible(self, sentence: str) -> bool:
        return all(map(self._has, (match[1] for match in _NAME.finditer(sentence))))

    def _has(self, name: str) -> bool:
        if name in self.entry.action.params.knobs:
            return self.entry.shows(name)
        return name in self.tools or name not in action_names()

    def _spelled(self, match: re.Match[str]) -> str:
        name, value = match[1], match[2] or ""
        known = name in self.entry.action.params.knobs
        shown = self.entry.spelling(name) if known else self.tools.get(name, name)
        if value[1:] and name in self.entry.zero_based:
            value = f"={int(value[1:]) - 1}"
        return f"{shown}{value}" if value else f"`{shown}`"
