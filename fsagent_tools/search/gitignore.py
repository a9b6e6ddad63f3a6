"""The rules of `.gitignore` files, as git documents them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fsagent_tools.errors import InvalidGlob
from fsagent_tools.globs import Glob

MAX_BYTES = 1 << 20  # of one .gitignore; a larger one is no list of patterns
TRAILING_SPACES = re.compile(r"(?<!\\) +$")


@dataclass(frozen=True)
class Rule:
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
        rules = tuple(parse_rules(text.splitlines()))
        return Ignores((*self.files, (prefix, rules))) if rules else self

    def hides(self, path: str, *, is_directory: bool) -> bool:
        """Whether the last rule that matches says so; its parents are taken as not ignored."""
        for prefix, rules in reversed(self.files):
            inner = path[len(prefix) :]
            for rule in reversed(rules):
                if (is_directory or not rule.only_directories) and rule.glob.matches(inner):
                    return rule.ignores
        return False


def parse_rules(lines: Iterable[str]) -> Iterable[Rule]:
    """One rule a line; comments, blanks and what is no pattern give none, as in git."""
    for line in lines:
        text = TRAILING_SPACES.sub("", line)
        if not text or text.startswith("#"):
            continue
        ignores = not text.startswith("!")
        body = text[0 if ignores else 1 :]
        pattern = body.rstrip("/") if body.endswith("/") else body
        if not pattern.strip("/"):  # names nothing
            continue
        anchored = "/" in pattern
        braces = re.sub(r"(?<!\\)([{}])", r"\\\1", pattern.removeprefix("/"))
        try:
            glob = Glob(braces if anchored else f"**/{braces}", names=False)
        except InvalidGlob:
            continue
        yield Rule(glob, ignores, body.endswith("/"))
