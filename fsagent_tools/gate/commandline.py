"""The simple commands of a shell line, for rules of a host; what is in doubt is told to be."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from fsagent_tools.errors import MissingDependency

_LARGEST = 1 << 16  # characters of a line that is looked into
_JOINS = {"program", "list", "pipeline", "subshell", "compound_statement", "negated_command"}
_BETWEEN = re.compile(r"[\s;&|(){}!]*")
_WORD = re.compile(r"[\w@%+=:,./^-]+")  # nothing that a shell would expand
_QUOTED = re.compile(r"[^\\$`\"!]*")


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
    whole = (SimpleCommand(line),)
    raw = line.encode(errors="surrogatepass")
    if len(line) > _LARGEST or "\0" in line or not line.strip():
        return whole
    tree = _parser().parse(raw)
    if tree.root_node.has_error:
        return whole
    found, end = [], 0
    for node in _parts(tree.root_node):
        text = raw[node.start_byte : node.end_byte].decode(errors="replace")
        between = raw[end : node.start_byte].decode(errors="replace")
        if node.type == "comment" or not _BETWEEN.fullmatch(between):
            return whole
        found.append(SimpleCommand(text, _words(node, text)))
        end = node.end_byte
    rest = raw[end:].decode(errors="replace")
    return tuple(found) if found and _BETWEEN.fullmatch(rest) else whole


def _parts(root: Any) -> Iterator[Any]:
    """Nodes in their order, those that only join others left out."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _JOINS:
            waiting.extend(reversed(node.named_children))
        else:
            yield node


def _words(node: Any, text: str) -> tuple[str, ...]:
    if node.type != "command" or not all(map(_plain, node.children)):
        return ()
    words = tuple(shlex.split(text))
    return words if len(words) == len(node.children) else ()  # both have to see the same


def _plain(node: Any) -> bool:
    """A word that means itself."""
    text = node.text.decode(errors="replace")
    if node.type in ("word", "number"):
        return bool(_WORD.fullmatch(text))
    if node.type == "string":
        return bool(_QUOTED.fullmatch(text[1:-1]))
    if node.type in ("command_name", "concatenation"):
        return all(map(_plain, node.children))
    return bool(node.type == "raw_string")


@cache
def _parser() -> Any:
    try:
        tree_sitter = import_module("tree_sitter")
        grammar = import_module("tree_sitter_bash")
    except ImportError as error:
        raise MissingDependency(
            f"A command cannot be taken apart: {error}.",
            hint='Install "fsagent-tools[commands]".',
        ) from error
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))
