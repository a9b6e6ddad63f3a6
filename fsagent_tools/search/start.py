"""Where a search starts, how it spells what it finds, and which of it may be seen."""

import re
from dataclasses import dataclass
from functools import cached_property

from fsagent_tools.errors import Denied, InvalidGlob, OutsideWorkspace, ToolError
from fsagent_tools.files.base import Place
from fsagent_tools.files.errors import printable
from fsagent_tools.files.guarded import Directory, GuardedFiles
from fsagent_tools.globs import GLOBSTAR, Glob, split_list, validate_glob, with_slashes
from fsagent_tools.names import from_display

_PLAIN = re.compile(r"\*\*|(?!.*\*\*)[\w.*-]+")  # a name in a glob


@dataclass(frozen=True)
class Start:
    """The opened directory of a search; `sub` is always a path beneath it, "" for itself.

    absolute: how results spell paths.
    """

    place: Place
    files: GuardedFiles
    absolute: bool = False

    def show(self, sub: str) -> str:
        """As an answer has it."""
        return printable(self.told(sub))

    def told(self, sub: str) -> str:
        """As a program has it."""
        place = self.place.inside(sub)
        return place.told_absolute if self.absolute else place.told

    def named(self, path: str) -> str:
        """What it was called in the arguments; the root by its own name."""
        return self.place.told if path == "." else path

    @property
    def prefix(self) -> str:
        return "" if self.place.relative == "." else f"{self.place.relative}/"

    def relative(self, sub: str) -> str:
        """From the root of the workspace, as the door and the policy take it."""
        return self.place.inside(sub).relative

    def allows(self, sub: str) -> bool:
        """Whether the policy lets anyone see it."""
        return not self._restricted or self.files.shows(self.place.inside(sub))

    def lists(self, sub: str) -> bool:
        """Whether the policy lets anyone list that directory, if only on the way to another."""
        try:
            if self._restricted:
                place = self.place.inside(sub)
                self.files.policy.check_listing(place.relative, place.absolute)
        except Denied:
            return False
        return True

    @cached_property
    def _restricted(self) -> bool:
        return not self.files.policy.opens(self.place.absolute)

    def target_kind(self, sub: str) -> str | None:
        """ "file", "directory"... of what a link leads to; None outside, denied or dangling."""
        try:
            return self.files.stat(self.relative(sub)).target_kind
        except ToolError:
            return None

    def enter(self, sub: str) -> Directory | None:
        """A linked directory, opened; None unless it is one inside the workspace."""
        try:
            return self.files.directory(self.relative(sub))
        except ToolError:
            return None

    def glob(self, argument: str, pattern: str, *, dotfiles: bool = False) -> Glob:
        """A model's pattern, for paths beneath this start. A slashless one holds at any depth.

        An absolute pattern is made relative, and like one with `./` it stays anchored here;
        `dir/` is all beneath it. Where "/" is the root it may stand for here, too. With commas
        it is a list of patterns, unless a name is called so. Raises `InvalidGlob` and
        `OutsideWorkspace`, which name the argument.
        """
        if ".." in re.split(r"[/{},]", pattern):
            raise OutsideWorkspace(
                f"`{argument}`: a glob cannot contain '..'.", hint="Use `path` to start elsewhere."
            )
        if pattern.startswith("!"):
            raise InvalidGlob(
                f"`{argument}`: a glob cannot exclude files.",
                hint="Name the files that you want. A '!' of a name is written '\\!'.",
            )
        slashed, named = with_slashes(pattern), from_display(pattern)
        if slashed != pattern and with_slashes(named) != named:
            raise InvalidGlob(
                f"`{argument}`: a backslash separates nothing here.", hint=f"Use {slashed[:60]!r}."
            )
        try:
            validate_glob(pattern)
            ways = dict.fromkeys((pattern,) if slashed == pattern else (named, slashed))
            globs = [self._inner(argument, each) for way in ways for each in _wanted(way)]
            return Glob(globs[0] if len(globs) == 1 else f"{{{','.join(globs)}}}", dotfiles)
        except InvalidGlob as error:
            raise InvalidGlob(f"`{argument}`: {error.message}", hint=error.hint) from None

    def _inner(self, argument: str, pattern: str) -> str:
        base = self.place.told_absolute.rstrip("/") + "/"
        if self.files.virtual and pattern.startswith("/") and not pattern.startswith(base):
            base = "/"
        if pattern.startswith("/") and not pattern.startswith(base):
            raise OutsideWorkspace(
                f"`{argument}`: {pattern[:60]!r} is not in the searched directory.",
                hint="Use a pattern relative to `path`.",
            )
        inner = re.sub(r"^(?:\./)+", "", pattern.removeprefix(base))
        inner += GLOBSTAR * inner.endswith("/")
        return inner if "/" in pattern else f"{GLOBSTAR}/{inner}"

    @property
    def denied(self) -> tuple[str, ...]:
        """What the policy denies beneath this start, where ripgrep's dialect says it just so."""
        found = list[str]()
        for pattern in self.files.policy.denied_globs:
            inner = pattern.removeprefix("./").removesuffix(f"/{GLOBSTAR}").rstrip("/")
            if not inner.startswith(f"{GLOBSTAR}/"):
                if inner[:1] == "/" or not inner.startswith(self.prefix):
                    continue
                inner = inner[len(self.prefix) :]
            if all(map(_PLAIN.fullmatch, inner.split("/"))):
                found.append(inner if inner.startswith(GLOBSTAR) else f"/{inner}")
        return tuple(found)


def _wanted(pattern: str) -> list[str]:
    """The patterns of a list with commas, and the whole where it may be a name with commas."""
    several = split_list(pattern)
    if len(several) < 2 or all("*" in each for each in several):
        return several or [pattern]
    return [*several, re.sub(r"(?<!\\),", r"\\,", pattern)]
