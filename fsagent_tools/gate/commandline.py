"""The simple commands of a shell line, for rules of a host; what is in doubt has no words."""

import re
import shlex
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from fsagent_tools.errors import MissingDependency

_MAX_LINE = 1 << 16  # characters of a line that is looked into
_JOINS = {"program", "list", "pipeline", "subshell", "compound_statement", "negated_command"}
_BETWEEN = re.compile(rb"[\s;&|(){}!]*")
_WORD = r"[\w@%+=:,./^-]+"
_LITERAL = {  # what a shell leaves as it is, by its kind
    "word": re.compile(_WORD),
    "number": re.compile(_WORD),
    "string": re.compile(r'"[^\\$`"!]*"'),
    "raw_string": re.compile(r"'[^']*'"),
}
_MADE_OF = {"command", "command_name", "concatenation"}  # of such


@dataclass(frozen=True)
class SimpleCommand:
    """A part of a command line.

    Attributes:
        text: As it was written.
        words: What the program gets. () if this cannot be known beforehand: an expansion, a
            redirection, an assignment, a loop, a line that does not parse.
    """

    text: str
    words: tuple[str, ...] = ()


def simple_commands(line: str) -> tuple[SimpleCommand, ...]:
    """The parts of a line of bash that run one after the other or at once: at least one.

    A loop, a condition or a function is one part as a whole, and so is a line that cannot be
    parsed.

    Raises:
        MissingDependency: Without the extra `commands`.

    Examples:
        >>> [part.words for part in simple_commands("git status && echo $HOME")]
        [('git', 'status'), ()]
    """
    whole, raw = (SimpleCommand(line),), line.encode(errors="surrogatepass")
    if len(line) > _MAX_LINE or "\0" in line or not line.strip():
        return whole
    root = _parser().parse(raw).root_node
    if root.has_error:
        return whole
    found, end, waiting = list[SimpleCommand](), 0, [root]
    while waiting:
        node = waiting.pop()
        if node.type in _JOINS:
            waiting.extend(reversed(node.named_children))
            continue
        if node.type == "comment" or not _BETWEEN.fullmatch(raw, end, node.start_byte):
            return whole
        text, end = node.text.decode(errors="replace"), node.end_byte
        words = shlex.split(text) if node.type == "command" and _is_literal(node) else ()
        is_sure = len(words) == len(node.children)  # the parser and Python see the same
        found.append(SimpleCommand(text, tuple(words) if is_sure else ()))
    return tuple(found) if found and _BETWEEN.fullmatch(raw, end) else whole


def _is_literal(node: Any) -> bool:
    """Whether it means what it says, without the shell."""
    if node.type in _MADE_OF:
        return all(map(_is_literal, node.children))
    literal = _LITERAL.get(node.type)
    return literal is not None and bool(literal.fullmatch(node.text.decode(errors="replace")))


@cache
def _parser() -> Any:
    try:
        parsing, grammar = import_module("tree_sitter"), import_module("tree_sitter_bash")
    except ImportError as error:
        message = f"A command cannot be taken apart: {error}."
        hint = 'Install "fsagent-tools[commands]".'
        raise MissingDependency(message, hint=hint) from error
    return parsing.Parser(parsing.Language(grammar.language()))
