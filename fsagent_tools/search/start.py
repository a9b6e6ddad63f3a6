"""Where a search starts, how it spells what it finds, and which of it may be seen."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

from fsagent_tools.effects import Effect
from fsagent_tools.errors import Denied, InvalidGlob, OutsideWorkspace, ToolError
from fsagent_tools.files.base import Place
from fsagent_tools.files.errors import printable as printable
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.guarded_file import Directory
from fsagent_tools.globs import GLOBSTAR, Glob, split_list, validate_glob, with_slashes
from fsagent_tools.names import from_display
from fsagent_tools.policy.programs import Programs
from fsagent_tools.search.gitignore import MAX_BYTES

_PLAIN = re.compile(r"\*\*|(?!.*\*\*)[\w.*-]+")  # a name in a glob


@dataclass(frozen=True)
class Start:
    """The opened directory of a search; `sub` is always a path beneath it, "" for itself."""

    place: Place
    files: GuardedFiles
    absolute: bool = False  # how results spell paths

    def show(self, sub: str) -> str:
        return printable(self.told(sub))

    def told(self, sub: str) -> str:
        """As an answer has it."""
        base = self.place.told_absolute if self.absolute else self.place.told
        prefix = "" if base == "." else f"{base.rstrip('/')}/"
        return f"{prefix}{sub}".rstrip("/") or prefix or "."

    def named(self, path: str) -> str:
        """What it was called in the arguments; the root by its own name."""
        return self.place.told if path == "." else path

    @property
    def prefix(self) -> str:
        return "" if self.place.relative == "." else f"{self.place.relative}/"

    def relative(self, sub: str) -> str:
        """From the root of the workspace, as the door and the policy take it."""
        return f"{self.prefix}{sub}".rstrip("/") or "."

    def allows(self, sub: str) -> bool:
        """Whether the policy lets anyone see it."""
        return self._passes(partial(self.files.policy.check_path, effect=Effect.READ), sub)

    def lists(self, sub: str) -> bool:
        """Whether the policy lets anyone list that directory, if only on the way to another."""
        return self._passes(self.files.policy.check_listing, sub)

    def _passes(self, check: Callable[[str, str], object], sub: str) -> bool:
        if self._restricted:
            try:
                check(self.relative(sub), self._absolute(sub))
            except Denied:
                return False
        return True

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

    def above(self) -> list[str]:
        """The prefixes of the directories between the root and here: `["", "a/"]` for `a/b`."""
        names = self.prefix.split("/")[:-1]
        return ["".join(f"{name}/" for name in names[:depth]) for depth in range(len(names))]

    def read(self, relative: str) -> str:
        """A file of patterns as text; empty when it cannot be opened."""
        try:
            with self.files.open(relative) as file:
                return file.read(MAX_BYTES).decode("utf-8", "replace")
        except ToolError:
            return ""

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
        if inner.endswith("/"):
            inner += GLOBSTAR
        return inner if "/" in pattern else f"{GLOBSTAR}/{inner}"

    @property
    def programs(self) -> Programs:
        """What may search: nothing that the model could have written."""
        return Programs.of(self.files.local_root, self.files.policy)

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

    def _absolute(self, sub: str) -> str:
        return f"{self.place.absolute.rstrip('/')}/{sub}".rstrip("/") or "/"

    @cached_property
    def _restricted(self) -> bool:
        return not self.files.policy.opens(self._absolute(""))


def _wanted(pattern: str) -> list[str]:
    """The patterns of a list with commas, and the whole where it may be a name with commas."""
    several = split_list(pattern)
    if len(several) < 2 or all("*" in each for each in several):
        return several or [pattern]
    return [*several, re.sub(r"(?<!\\),", r"\\,", pattern)]
