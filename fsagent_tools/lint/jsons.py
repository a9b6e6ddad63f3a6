"""Checks JSON and JSON with comments: strictly, without recursion, with exact positions."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from fsagent_tools.lint.places import Source, found, place
from fsagent_tools.problems import Problem

_SHOWN = 100  # problems of JSON lines
_TOKEN = re.compile(
    r"""(?P<mark>[][{}:,])
      | (?P<space>[ \t\r\n]++)
      | (?P<comment>//[^\n]*+|/\*.*?\*/)
      | (?P<string>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")
      | (?P<value>(?:-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?|true|false|null)(?![\w.+-]))
      | (?P<word>[-+\w.]++|"[^"\n]*+"?|'[^'\n]*+'?|.)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
WITH_COMMENTS = re.compile(  # .json files that their programs read as JSON with comments
    r"(ts|js)config([.-].*)?\.json|\.?devcontainer\.json|\.(eslint|swc|babel)rc\.json"
    r"|api-extractor\.json|language-configuration\.json"
)
OPENS, CLOSES = "[{", {"}": "{", "]": "["}
EXPECTED = {
    "value": "a value",
    "item": "a value or ']'",
    "key": "a key in double quotes",
    "member": "a key in double quotes or '}}'",
    "colon": "':'",
    "comma": "',' or {close}",
    "end": "the end of the document",
}
AFTER = "comma or end"  # a value is complete; which of the two depends on what is open
STEPS = {  # (wanted, token) -> wanted next
    **{(w, t): AFTER for w in ("value", "item") for t in ("string", "value")},
    **{(w, t): n for w in ("value", "item") for t, n in (("[", "item"), ("{", "member"))},
    **{(w, "string"): "colon" for w in ("key", "member")},
    **{("item", "]"): AFTER, ("member", "}"): AFTER, ("comma", "]"): AFTER},
    **{("comma", "}"): AFTER, ("colon", ":"): "value", ("comma", ","): "value"},
}


def json_problems(source: Source) -> list[Problem]:
    """The first syntax error, and the keys that stand twice in one object (warnings)."""
    path = PurePosixPath(source.name)
    comments = (
        path.suffix.lower() in (".jsonc", ".code-workspace")
        or bool(WITH_COMMENTS.fullmatch(path.name.lower()))
        or path.parent.name == ".vscode"
    )
    if _is_plain(source.text):
        return []
    return list(Scan(source, "jsonc" if comments else "json", comments).problems())


def json_line_problems(source: Source) -> list[Problem]:
    """The first error of every line, each a JSON text or blank; at most about `_SHOWN`."""
    problems: list[Problem] = []
    for number, line in enumerate(source.text.split("\n")):
        if not number % 1024:
            source.go_on()
        if not line.strip() or _is_plain(line):
            continue
        scan = Scan(replace(source, text=line), "json", comments=False)
        problems += (_moved(problem, number) for problem in scan.problems())
        if len(problems) >= _SHOWN:
            break
    return problems


def _moved(problem: Problem, lines: int) -> Problem:
    end = problem.end and (problem.end[0] + lines, problem.end[1])
    return replace(problem, line=problem.line + lines, end=end)


def _strict(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(values := dict(pairs)) < len(pairs):
        raise ValueError("duplicate key")
    return values


def _never(constant: str) -> None:
    raise ValueError(constant)


_DECODER = json.JSONDecoder(object_pairs_hook=_strict, parse_constant=_never)


def _is_plain(text: str) -> bool:
    """Quickly true for strict JSON without anything to say about it."""
    try:
        _DECODER.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass
class Scan:
    """One pass over the tokens; `wants` is a key of `EXPECTED`."""

    input: Source
    source: str
    comments: bool
    wants: str = "value"
    open: list[tuple[str, set[str]]] = field(default_factory=list)  # bracket, keys so far
    last: tuple[str, int] = ("", 0)  # the token before, and where it stands

    @property
    def text(self) -> str:
        return self.input.text

    def problems(self) -> Iterator[Problem]:
        for number, match in enumerate(_TOKEN.finditer(self.text)):
            if not number % 4096:
                self.input.go_on()
            kind = match.lastgroup
            if kind == "space" or (kind == "comment" and self.comments):
                continue
            token = match[0]
            then = self._then(kind, token)
            if not then:
                yield self._wrong(match)
                return
            if kind == "string" and then == "colon":
                yield from self._key(match)
            self.wants, self.last = then, (token, match.start())
        if self.wants != "end" and not (self.comments and not self.last[0]):
            end = len(self.text.rstrip())
            yield found(self.text, (end, end), self._expected() + ", not the end", self.source)

    def _then(self, kind: str | None, token: str) -> str:
        """What is wanted after `token`, empty when it may not stand here."""
        then = STEPS.get((self.wants, token if kind == "mark" else str(kind)), "")
        if token in OPENS and then:
            self.open.append((token, set()))
        elif kind == "mark" and token in CLOSES:
            trailing = self.comments and self.last[0] == ","
            if not (then or trailing) or not self.open or self.open[-1][0] != CLOSES[token]:
                return ""
            self.open.pop()
            then = AFTER
        elif token == "," and then:
            then = "key" if self.open[-1][0] == "{" else "value"
        return ("comma" if self.open else "end") if then is AFTER else then

    def _wrong(self, match: "re.Match[str]") -> Problem:
        kind, token, span = match.lastgroup, match[0], match.span()
        if kind == "comment":
            said = "comments are not allowed in JSON"
        elif kind == "word":
            said = _word(token)
        elif self.open and CLOSES.get(token) == self.open[-1][0] and self.last[0] == ",":
            said, span = "trailing comma", (self.last[1], self.last[1] + 1)
        elif token in CLOSES and not (self.open and self.open[-1][0] == CLOSES[token]):
            said = f"unexpected {token!r}"
        else:
            said = self._expected()
        return found(self.text, span, said, self.source)

    def _key(self, match: "re.Match[str]") -> Iterator[Problem]:
        seen = self.open[-1][1]
        key = json.loads(match[0])
        if key in seen:
            start, end = place(self.text, match.start()), place(self.text, match.end())
            said = f"duplicate key {match[0][:60]}"
            yield Problem(*start, "warning", said, self.source, "duplicate-key", end)
        seen.add(key)

    def _expected(self) -> str:
        close = "'}'" if self.open and self.open[-1][0] == "{" else "']'"
        return f"{EXPECTED[self.wants].format(close=close)} is expected"


def _word(token: str) -> str:
    if token[0] == '"':
        closed = len(token) > 1 and token[-1] == '"'
        return "invalid character or escape in the string" if closed else "the string is not closed"
    if token[0] == "'":
        return "strings are in double quotes"
    return f"unexpected {token[:40]!r}"
