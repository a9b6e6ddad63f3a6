"""Path rules: globs that are compiled once and tried on real paths."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from fsagent_tools.errors import ConfigInvalid, InvalidGlob
from fsagent_tools.globs import COVERING, GLOBSTAR, Glob, expand, pattern_tokens
from fsagent_tools.records import dataclass


@dataclass(frozen=True)
class PathRules:
    """Globs tried at once. A relative one is about the path from the root, whatever is above it."""

    globs: tuple[Glob, ...]

    def first(self, relative: str, absolute: str) -> str | None:
        """The first pattern that a real file matches; None when none does."""
        if self._relative.fullmatch(relative) or self._absolute.fullmatch(absolute):
            return next(g.pattern for g in self.globs if _fits(g, relative, absolute))
        return None

    def may_be(self, name: str) -> bool:
        """Whether something called so can match by its own name, and not only by what it is in."""
        return self._names.fullmatch(name) is not None

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


def anywhere(pattern: str) -> str:
    return pattern if "/" in pattern.rstrip("/") else f"{GLOBSTAR}/{pattern}"


@lru_cache(maxsize=64)
def compiled(name: str, patterns: tuple[str, ...]) -> PathRules:
    globs = []
    for pattern in patterns:
        if ".." in re.split(r"[/{},]", pattern):
            raise ConfigInvalid(f"{name}: {pattern!r} contains '..'.", hint="Use a path without.")
        try:
            globs.append(Glob.covering(pattern))
        except InvalidGlob as error:
            raise ConfigInvalid(f"{name}: {error}") from None
    return PathRules(tuple(globs))
