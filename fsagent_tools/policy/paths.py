"""Path rules: globs that are compiled once and tried on real paths."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from fsagent_tools.errors import ConfigInvalid, InvalidGlob, PathDenied
from fsagent_tools.globs import COVERING, GLOBSTAR, Glob, pattern_tokens, readings
from fsagent_tools.names import composed
from fsagent_tools.policy.mistakes import check_rule
from fsagent_tools.policy.protected import RUN_BY_OTHERS

Closing = Literal["hidden", "read_only"]
ALLOWED_PATHS = "allowed_paths"  # the rule's name


@dataclass(frozen=True)
class PathRule:
    """A rule as the host wrote it, and one of the globs that it stands for."""

    written: str
    glob: Glob

    @property
    def is_absolute(self) -> bool:
        return self.glob.pattern.startswith("/")

    def fits(self, relative: str, absolute: str) -> bool:
        return self.glob.matches(absolute if self.is_absolute else relative)


@dataclass(frozen=True)
class PathRules:
    """Rules tried at once. A relative one is about the path from the root, whatever is above it."""

    rules: tuple[PathRule, ...]

    def first(self, relative: str, absolute: str) -> str | None:
        """The first rule that a real file matches; None when none does."""
        relative, absolute = composed(relative), composed(absolute)
        if self._relative.fullmatch(relative) or self._absolute.fullmatch(absolute):
            return next(rule.written for rule in self.rules if rule.fits(relative, absolute))
        return None

    def may_be(self, name: str) -> bool:
        """Whether something called so can match by its own name, and not only by what it is in."""
        return self._names.fullmatch(composed(name)) is not None

    @cached_property
    def above(self) -> "PathRules":
        """The directories on the way to what these rules match."""
        ways = ((rule.written, way) for rule in self.rules for way in _ways(rule.glob.pattern))
        return PathRules(tuple(PathRule(written, Glob(way, names=False)) for written, way in ways))

    @cached_property
    def _names(self) -> re.Pattern[str]:
        return _any(Glob(_name(rule.glob.pattern), names=False) for rule in self.rules)

    @cached_property
    def _relative(self) -> re.Pattern[str]:
        return _any(rule.glob for rule in self.rules if not rule.is_absolute)

    @cached_property
    def _absolute(self) -> re.Pattern[str]:
        return _any(rule.glob for rule in self.rules if rule.is_absolute)


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
        return compiled("denied_paths", self.denied_paths)

    @cached_property
    def kept(self) -> PathRules:
        """What only commands of the user change; tried on paths in lower case."""
        return compiled("write_denied", self.write_denied)

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

    def deeper(self, relative: str) -> tuple[str, str] | None:
        """A rule of `denied_paths` that holds at the root alone, and how it would hold there."""
        for written in self.denied_paths:
            inner = written.removeprefix("./").removeprefix("/")
            deep = f"{GLOBSTAR}/{inner}"
            at_root = "/" in written.rstrip("/") and not inner.startswith(GLOBSTAR)
            if at_root and compiled("denied_paths", (deep,)).first(relative, ""):
                return written, deep
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
        return "read_only" if rule and rule not in RUN_BY_OTHERS else None


def run_by_others(told: str) -> PathDenied:
    return PathDenied(
        f"{told} can make other programs run something; it is not changed here.",
        hint="Ask the user to change it, or to lift write_denied.",
    )


def _any(globs: Iterable[Glob]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{glob.source})" for glob in globs) or "(?!)", COVERING)


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


def globs_of(name: str, pattern: str) -> Iterator[str]:
    """The globs, without braces, that a rule of the list `name` stands for.

    As in a .gitignore, a rule that denies holds at any depth if it has no slash but at its end, and
    a slash at its beginning means the root; an absolute path of the machine is denied as well,
    since nobody can tell the two apart.
    """
    for text in readings(composed(pattern)):
        inner = text.strip("/")
        if name != ALLOWED_PATHS and inner not in ("", ".", "./**"):
            if "/" not in text.rstrip("/"):
                text = f"{GLOBSTAR}/{text}"
            elif text[0] == "/":
                yield text[1:]
        yield text


@lru_cache(maxsize=64)
def compiled(name: str, patterns: tuple[str, ...]) -> PathRules:
    rules = []
    for pattern in patterns:
        if ".." in re.split(r"[/{},]", pattern):
            raise ConfigInvalid(f"{name}: {pattern!r} contains '..'.", hint="Use a path without.")
        try:
            check_rule(name, pattern)
            for text in globs_of(name, pattern.lower() if name == "write_denied" else pattern):
                rules.append(PathRule(pattern, Glob(text, covers=True, names=False)))
                _ = rules[-1].glob.source
        except InvalidGlob as error:
            raise ConfigInvalid(f"{name}: {error}") from None
    return PathRules(tuple(rules))
