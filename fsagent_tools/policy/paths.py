"""Path rules: globs that are compiled once and tried on real paths."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Literal

from fsagent_tools.errors import ConfigInvalid, InvalidGlob, PathDenied
from fsagent_tools.globs import COVERING, GLOBSTAR, Glob, expand, pattern_tokens
from fsagent_tools.policy.protected import RUN_BY_OTHERS
from fsagent_tools.records import dataclass

Closing = Literal["hidden", "read_only", "judged"]
_AFTERWARDS = {pattern.lower() for pattern in RUN_BY_OTHERS}
ALLOWED_PATHS = "allowed_paths"  # the rule's name


@dataclass(frozen=True)
class PathRules:
    """Globs tried at once. A relative one is about the path from the root, whatever is above it."""

    globs: tuple[Glob, ...]

    def first(self, relative: str, absolute: str) -> str | None:
        """The first pattern that a real file matches; None when none does."""
        relative, absolute = composed(relative), composed(absolute)
        if self._relative.fullmatch(relative) or self._absolute.fullmatch(absolute):
            return next(g.pattern for g in self.globs if _fits(g, relative, absolute))
        return None

    def may_be(self, name: str) -> bool:
        """Whether something called so can match by its own name, and not only by what it is in."""
        return self._names.fullmatch(composed(name)) is not None

    @cached_property
    def above(self) -> "PathRules":
        """The directories on the way to what these rules match."""
        alternatives = {text for glob in self.globs for text in expand(glob.pattern)}
        return PathRules(tuple(Glob(way) for text in alternatives for way in _ways(text)))

    @cached_property
    def _names(self) -> re.Pattern[str]:
        alternatives = {text for glob in self.globs for text in expand(glob.pattern)}
        return _any(Glob(_name(text)) for text in alternatives)

    @cached_property
    def _relative(self) -> re.Pattern[str]:
        return _any(glob for glob in self.globs if glob.pattern[0] != "/")

    @cached_property
    def _absolute(self) -> re.Pattern[str]:
        return _any(glob for glob in self.globs if glob.pattern[0] in "/{")


@dataclass(frozen=True)
class AllRules:
    """The lists of a policy, each compiled when it is first tried.

    write_denied: blind to letter case. lists: a path must match each of them. written: those
    lists as they were written, since what a template became may be a secret.
    """

    denied_paths: tuple[str, ...]
    write_denied: tuple[str, ...]
    lists: tuple[tuple[str, ...], ...]
    written: tuple[tuple[str, ...], ...]

    @cached_property
    def denied(self) -> PathRules:
        return compiled("denied_paths", tuple(map(anywhere, self.denied_paths)))

    @cached_property
    def kept(self) -> PathRules:
        """What only commands of the user change; tried on paths in lower case."""
        patterns = (anywhere(pattern.lower()) for pattern in self.write_denied)
        return compiled("write_denied", tuple(patterns))

    @cached_property
    def allowed(self) -> tuple[PathRules, ...]:
        return tuple(compiled(ALLOWED_PATHS, patterns) for patterns in self.lists)

    def denial(
        self, relative: str, absolute: str, told: str, *, writes: bool
    ) -> tuple[str, PathDenied] | None:
        """The rule that denies a path, and the refusal."""
        if writes and (rule := self.kept.first(relative.lower(), absolute.lower())):
            return f"write_denied: {rule}", run_by_others(told)
        if self.denied_paths and (rule := self.denied.first(relative, absolute)):
            text = f"{told} is closed by the policy (denied_paths)."
            return f"denied_paths: {rule}", PathDenied(text)
        for rules, written in zip(self.allowed, self.written, strict=True):
            if rules.first(relative, absolute) is None:
                text, allowed = f"{told} is outside the allowed paths.", ", ".join(written)
                return ALLOWED_PATHS, PathDenied(text, hint=f"Allowed: {allowed or 'none'}.")
        return None

    def leads_on(self, relative: str, absolute: str) -> bool:
        """Whether a directory is allowed, or on the way to what is."""
        return all(
            rules.first(relative, absolute) or rules.above.first(relative, absolute)
            for rules in self.allowed
        )

    def closes(self, relative: str, absolute: str) -> Closing | None:
        """How a file or directory of that path is closed to commands."""
        name = relative.rpartition("/")[2]
        if self.denied.may_be(name) and self.denied.first(relative, absolute):
            return "hidden"
        kept, low = self.kept, (relative.lower(), absolute.lower())
        rule = kept.may_be(name.lower()) and kept.first(*low)
        return "judged" if rule in _AFTERWARDS else "read_only" if rule else None


def run_by_others(told: str) -> PathDenied:
    return PathDenied(
        f"{told} can make other programs run something; it is not changed here.",
        hint="Ask the user to change it, or to lift write_denied.",
    )


def _any(globs: Iterable[Glob]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{glob.source})" for glob in globs) or "(?!)", COVERING)


def _fits(glob: Glob, relative: str, absolute: str) -> bool:
    if glob.pattern[0] == "{":  # may hold both
        return glob.matches(relative) or glob.matches(absolute)
    return glob.matches(absolute if glob.pattern[0] == "/" else relative)


def _name(pattern: str) -> str:
    """The last part of a pattern without braces that covers what is beneath."""
    name = ""
    for token in pattern_tokens(pattern.removesuffix("/**").rstrip("/")):
        name = "" if token == "/" else name + token
    return GLOBSTAR if name in ("", ".") else name


def _ways(pattern: str) -> Iterator[str]:
    """Patterns of the directories above what a pattern without braces matches."""
    yield "/" if pattern.startswith("/") else "."
    way = ""
    for token in pattern_tokens(pattern.removeprefix("./").rstrip("/")):
        if token == "/" and way:
            yield way
        if token == "/" and way.rpartition("/")[2] == GLOBSTAR:
            return
        way += token


def composed(text: str) -> str:
    """`text` in the one form, of those that Unicode has, in which what looks the same is the same.

    Whoever writes a rule cannot see which form the name of a file has.
    """
    if text.isascii():
        return text
    from unicodedata import normalize  # most names need none

    return normalize("NFC", text)


def anywhere(pattern: str) -> str:
    return pattern if "/" in pattern.rstrip("/") else f"{GLOBSTAR}/{pattern}"


@lru_cache(maxsize=64)
def compiled(name: str, patterns: tuple[str, ...]) -> PathRules:
    globs = []
    for pattern in patterns:
        if ".." in re.split(r"[/{},]", pattern):
            raise ConfigInvalid(f"{name}: {pattern!r} contains '..'.", hint="Use a path without.")
        try:
            globs.append(Glob.covering(composed(pattern)))
        except InvalidGlob as error:
            raise ConfigInvalid(f"{name}: {error}") from None
    return PathRules(tuple(globs))
