"""The rules of `.gitignore` files, as git documents them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fsagent_tools.errors import InvalidGlob
from fsagent_tools.globs import Glob

MAX_BYTES = 1 << 20  # of one .gitignore; a larger one is no list of patterns


class Rule(NamedTuple):
    glob: Glob
    ignores: bool
    only_directories: bool


@dataclass(frozen=True)
class Ignores:
    """The rules that hold in one directory, those of its parents first.

    `files` pairs the directory of a `.gitignore` (as a path prefix: "" or "a/b/") with its rules.
    """

    files: tuple[tuple[str, tuple[Rule, ...]], ...] = ()

    def beneath(self, prefix: str, text: str) -> "Ignores":
        """These rules and those of the `.gitignore` with this text in the directory `prefix`."""
        rules = tuple(_rules(text))
        return Ignores((*self.files, (prefix, rules))) if rules else self

    def hides(self, path: str, *, is_directory: bool) -> bool:
        """Whether the last rule that matches says so; its parents are taken as not ignored."""
        for prefix, rules in reversed(self.files):
            for rule in reversed(rules):
                applies = is_directory or not rule.only_directories
                if applies and rule.glob.matches(path[len(prefix) :]):
                    return rule.ignores
        return False


def _rules(text: str) -> Iterator[Rule]:
    """One rule a line; comments, blanks and what is no pattern give none, as in git."""
    for line in text.splitlines():
        body = re.sub(r"(?<!\\) +$", "", line)
        ignores = not body.startswith("!")
        pattern = body.removeprefix("!").rstrip("/")
        if not pattern.strip("/") or body.startswith("#"):
            continue
        anchored = "/" in pattern
        pattern = re.sub(r"(?<!\\)([{}])", r"\\\1", pattern.removeprefix("/"))
        try:
            glob = Glob(pattern if anchored else f"**/{pattern}", names=False)
        except InvalidGlob:
            continue
        yield Rule(glob, ignores, body.endswith("/"))
