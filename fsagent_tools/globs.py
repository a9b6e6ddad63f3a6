"""Glob patterns over POSIX paths, compiled once to a regex that cannot backtrack badly."""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product, takewhile

from fsagent_tools.errors import InvalidGlob
from fsagent_tools.names import composed

MAX_ALTERNATIVES = 1_000  # what the braces of one pattern may multiply to
_MAX_LENGTH = 4_096  # characters of a pattern: PATH_MAX on Linux
GLOBSTAR = "**"
WILDCARDS = frozenset("*?[]{}\\")  # characters with a meaning
_UNSAFE = re.compile(r"[\x00-\x7f](?<![\w./-])")  # of these some mean something in some place
POSIX_CLASS = re.compile(r"\[:\w+:\]")
COVERING = re.DOTALL | (re.IGNORECASE if sys.platform in ("win32", "darwin") else 0)


def quoted(path: str) -> str:
    """The pattern that matches this path alone."""
    return _UNSAFE.sub(r"\\\g<0>", path)


def literal_path(pattern: str) -> str | None:
    """The only path that a pattern without braces matches; None if it has wildcards."""
    tokens = pattern_tokens(pattern)
    wild = any(token[0] in "*?" or (token[0] == "[" and len(token) > 1) for token in tokens)
    return None if wild else "".join(token[-1] for token in tokens)


# A segment is the list of its regex pieces between stars, each of a fixed length; so the leftmost
# match of a piece is always good enough, and an atomic group may forget all the others.
Segment = list[str]


@dataclass(frozen=True)
class Glob:
    r"""A pattern with `*` and `?` (never `/`), `**`, `[a-z]`, `[!a-z]`, nested `{a,b}` and `\`.

    Letters match however they are composed.
    names: a segment matches what is called so, too: `app/[id]` the directory `[id]`.
    dotfiles: False keeps wildcards off names that begin with a dot, as a shell does.
    covers: also match everything beneath what matches.
    Raises `InvalidGlob` for what is empty, holds NUL, is not closed, or expands too far.
    """

    pattern: str
    dotfiles: bool = True
    covers: bool = False
    names: bool = True

    def __post_init__(self) -> None:
        _ = self.source

    def matches(self, path: str) -> bool:
        return self._regex.fullmatch(composed(path)) is not None

    @cached_property
    def _alternatives(self) -> list[list[Segment]]:
        return [segments(text) for text in self.texts]

    @cached_property
    def texts(self) -> list[str]:
        """The patterns without braces that it stands for."""
        validate_glob(self.pattern)
        return (readings if self.names else expand)(composed(self.pattern))

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile(self.source, COVERING if self.covers else re.DOTALL)

    @cached_property
    def source(self) -> str:
        """The regex, for whole paths, with the flag DOTALL or `COVERING`."""
        regex = "|".join(_path_regex(each, self.dotfiles) for each in self._alternatives)
        if not self.covers:
            return regex
        whole = self.pattern.removeprefix("./").removesuffix("/**").rstrip("/")
        if whole in ("", "."):
            regex = "/.*" if self.pattern.startswith("/") else "(?!/).*"
        elif whole != self.pattern:
            return Glob(whole, self.dotfiles, covers=True, names=self.names).source
        return f"(?:{regex})(?:/.*)?"

    @property
    def literals(self) -> frozenset[str]:
        """The path segments that the pattern spells out: `{"src", "dist"}` of `src/dist/**`."""
        return frozenset(
            _literal(segment)
            for alternative in self._alternatives
            for segment in alternative
            if _is_literal(segment)
        )

    @property
    def names_hidden(self) -> bool:
        """Some segment begins with a dot that the pattern spells out."""
        return any(each[0].startswith(r"\.") for path in self._alternatives for each in path)

    @property
    def lead(self) -> tuple[str, ...]:
        """The directories that every match lies in: `("src", "app")` of `src/app/*.py`."""
        leads = ([*map(_literal, takewhile(_is_literal, a[:-1]))] for a in self._alternatives)
        levels = takewhile(lambda level: len({*level}) == 1, zip(*leads, strict=False))
        return tuple(level[0] for level in levels)

    @property
    def depth(self) -> int | None:
        """How many levels down a match can lie; None for any."""
        if any([GLOBSTAR] in path for path in self._alternatives):
            return None
        return max(map(len, self._alternatives))

    @cached_property
    def endings(self) -> tuple[str, ...]:
        """What the name of a match may end with, as `str.endswith` takes it; "" is any ending."""
        if self.covers:
            return ("",)
        last = [path[-1][-1:] for path in self._alternatives]
        literal = [_literal(piece) if _is_literal(piece) else "" for piece in last]
        endings = dict.fromkeys(ending if ending.isascii() else "" for ending in literal)
        return ("",) if "" in endings else tuple(endings)

    def name_matcher(self, prefix: str) -> Callable[[str], object]:
        """Whether the path `prefix + name` matches; cheap where the name decides: `**/*.py`."""
        fullmatch = self._regex.fullmatch
        if self._name_regex is not None and (self.dotfiles or "/." not in f"/{prefix}"):
            prefix, fullmatch = "", self._name_regex.fullmatch
            if _ANY_FORM.fullmatch(self.pattern):
                return fullmatch
        return lambda name: fullmatch(composed(prefix + name))

    @cached_property
    def _name_regex(self) -> re.Pattern[str] | None:
        if any(len(a) != 2 or a[0] != [GLOBSTAR] or a[1] == [GLOBSTAR] for a in self._alternatives):
            return None
        names = "|".join(_segment_regex(a[1], self.dotfiles) for a in self._alternatives)
        return re.compile(names, re.DOTALL)


def validate_glob(pattern: str) -> None:
    """Raise `InvalidGlob` for what is not a pattern."""
    if not pattern:
        raise InvalidGlob("The glob is empty.", hint="Use '*' for every name, '**/*.py' below.")
    if "\0" in pattern:
        raise InvalidGlob("The glob contains a NUL character.")
    if len(pattern) > _MAX_LENGTH:
        raise InvalidGlob(
            f"The glob is longer than {_MAX_LENGTH:,} characters.", hint="Shorten it."
        )


def expand(pattern: str) -> list[str]:
    """`a{b,c{d,e}}` as `["ab", "acd", "ace"]`; escapes and classes are left as they are."""
    outer: list[tuple[list[str], list[str]]] = []
    done: list[str] = []
    current = [""]
    for token in pattern_tokens(pattern):
        if token == "{":
            outer.append((done, current))
            done, current = [], [""]
        elif token == "," and outer:
            done, current = [*done, *current], [""]
        elif token == "}" and outer:
            inner = [*done, *current]
            done, current = outer.pop()
            if len(inner) * len(current) > MAX_ALTERNATIVES:
                raise InvalidGlob(
                    f"The braces expand to more than {MAX_ALTERNATIVES:,} patterns.",
                    hint="Use fewer braces, or several calls.",
                )
            current = [head + tail for head in current for tail in inner]
        else:
            current = [head + token for head in current]
    if outer:
        raise _unclosed("{", pattern)
    return current


def readings(pattern: str) -> list[str]:
    """`expand`, and each segment with brackets or braces as the name that it may be, too.

    Frameworks have directories such as `[id]`, `[...slug]` and `{name}`.
    """
    segment, ways, depth = list[str](), list[list[str]](), 0
    for token in [*pattern_tokens(pattern), "/"]:
        if token == "/" and not depth:
            ways.append([*dict.fromkeys(("".join(segment), _as_name(segment)))])
            segment = []
        else:
            segment.append(token)
            depth += (token == "{") - (token == "}" and depth > 0)
    if depth:
        raise _unclosed("{", pattern)
    expanded = expand(pattern)
    if len(expanded) * 2 ** sum(len(way) > 1 for way in ways) > MAX_ALTERNATIVES:
        return expanded
    return [text for way in product(*ways) for text in expand("/".join(way))]


def _as_name(segment: list[str]) -> str:
    """A segment with its brackets taken literally, and where it has no wildcards its braces."""
    wild = any(token[0] in "*?" for token in segment)
    return "".join(
        token if token[0] == "\\" or (wild and token[0] != "[") else quoted(token)
        for token in segment
    )


def split_list(pattern: str) -> list[str]:
    """The patterns of a text that lists several: between commas or line ends outside braces."""
    parts, depth = [""], 0
    for token in pattern_tokens(pattern):
        depth += (token == "{") - (token == "}")
        if depth > 0 or token not in (",", "\n"):
            parts[-1] += token
        else:
            parts.append("")
    return [each for part in parts if (each := part.strip())] if len(parts) > 1 else [pattern]


def with_slashes(pattern: str) -> str:
    """`pattern` with slashes for the backslashes that escape nothing, as on Windows."""
    return _SEPARATOR.sub(r"\1/", pattern)


def pattern_tokens(pattern: str) -> list[str]:
    r"""The pattern in pieces: `\x`, `[...]`, a run of `*`, or one other character."""
    found = []
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if not match:
            raise _unclosed(pattern[position], pattern)
        found.append(match[0])
        position = match.end()
    return found


def segments(text: str) -> list[Segment]:
    """A pattern without braces as segments, `[GLOBSTAR]` for a segment that is `**`."""
    path: list[Segment] = []
    segment = [""]
    stars = 0
    for token in [*pattern_tokens(text), "/"]:
        if token == "/":
            path.append([GLOBSTAR] if segment == ["", ""] and stars > 1 else segment)
            segment, stars = [""], 0
        elif token[0] == "*":
            segment.append("")
            stars = len(token)
        else:
            segment[-1] += _one_character(token)
    return path


_TOKEN = re.compile(r"\\.|\[[!^]?(?:\]|\\.|[^\]\\])(?:\\.|[^\]\\])*\]|\*+|[^\\\[]", re.DOTALL)
_SEPARATOR = re.compile(r"(?<!\\)((?:\\\\)*)\\(?=[\w./]|\*(?:[*.]|\Z))")
WILD = re.compile(r"(?<!\\)(?:\\\\)*[\[(]")
MEMBER = re.compile(r"\\?(.)", re.DOTALL)
_ANY_FORM = re.compile(r"[^?\[\x80-\U0010ffff]*")  # matches names in any form of Unicode
ANY = "[^/]"


def _one_character(token: str) -> str:
    if token == "?":
        return ANY
    if token[0] == "[" and len(token) > 1:
        return _class_regex(token)
    return re.escape(token[-1])


def _class_regex(token: str) -> str:
    if name := POSIX_CLASS.search(token):
        raise InvalidGlob(f"{name[0]} is not supported in a glob.", hint="Use [0-9] or [a-z].")
    negated = token[1] in "!^"
    body = token[2 if negated else 1 : -1]
    members = [(m[1], m[0] == "-") for m in MEMBER.finditer(body)]
    ranges, i = [], 0
    while i < len(members):
        low = high = members[i][0]
        if i + 2 < len(members) and members[i + 1][1]:
            high = members[i + 2][0]
            i += 2
        if low <= high:  # a range that runs backwards holds nothing
            ranges.append(f"{re.escape(low)}-{re.escape(high)}")
        i += 1
    if not ranges:
        return ANY if negated else "(?!)"
    return f"(?!/)[{'^' if negated else ''}{''.join(ranges)}]"


def _segment_regex(pieces: Segment, dotfiles: bool) -> str:
    first, *rest = pieces
    wild = (len(pieces) > 1 and not first) or first.startswith((ANY, "(?!"))
    regex = ("" if dotfiles or not wild else r"(?!\.)") + first
    if rest:
        regex += "".join(f"(?>{ANY}*?{piece})" for piece in rest[:-1] if piece)
        regex += f"{ANY}*{rest[-1]}"
    return regex


def _path_regex(path: list[Segment], dotfiles: bool) -> str:
    name = ANY + "*" if dotfiles else rf"(?!\.){ANY}*"
    down = f"(?:{name}/)*"
    groups: list[list[str]] = [[]]
    for segment in path:
        if segment == [GLOBSTAR]:
            if groups[-1] or len(groups) == 1:  # `**/**` is `**`
                groups.append([])
        else:
            groups[-1].append(_segment_regex(segment, dotfiles))
    prefix, *below = ["".join(f"{segment}/" for segment in group) for group in groups]
    if not below:
        return prefix[:-1]
    middle = "".join(f"(?>{down}?{group})" for group in below[:-1])
    return f"{prefix}{middle}{down}{below[-1][:-1] or name}"


def _is_literal(segment: Segment) -> bool:
    return len(segment) == 1 and segment != [GLOBSTAR] and not WILD.search(segment[0])


def _literal(segment: Segment) -> str:
    return re.sub(r"\\(.)", r"\1", segment[0], flags=re.DOTALL)


def _unclosed(what: str, pattern: str) -> InvalidGlob:
    shown = pattern[:60]
    if what == "\\":
        return InvalidGlob(f"The glob {shown!r} ends in a backslash.", hint="Write it twice.")
    return InvalidGlob(
        f"{what!r} is not closed in the glob {shown!r}.", hint=f"Close or escape it: \\{what}"
    )
