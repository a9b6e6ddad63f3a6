"""From changes that name lines by ID to hunks, refusing what would not do what was meant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from fsagent_tools.edits.checks import Context, Parses, Placed, refuse_doubtful
from fsagent_tools.edits.indentation import Fitted, fit
from fsagent_tools.encoding import as_quoted, with_escapes
from fsagent_tools.errors import InvalidChange, StaleLineIds, UnknownLineId
from fsagent_tools.lines.document import NOTHING, Document
from fsagent_tools.lines.hunks import Hunk, refine
from fsagent_tools.lines.ids import WIDTH, Typed
from fsagent_tools.lines.remap import OUTSIDE
from fsagent_tools.lines.source import indentation
from fsagent_tools.text import MAX_LINE_CHARS, clip, in_quotes, some, unclipped

Placement = Literal["replace", "after", "before"]
_NAMED = 10  # IDs that one refusal names
_LOOKED_AT = 50_000  # lines looked through for one refusal
_FEW = 3  # lines that a refusal names for one ID
_SHOWN = 4  # lines that it shows with those around them


@dataclass(frozen=True)
class Change:
    """Lines `first` to `last` replaced, or something put beside `first`.

    until: `last` is not one of the lines. old: the part of the line that is replaced, "" for all of
    it. lines: what is put there, to the byte, in place of `new`: lines of another file, or those of
    this one that a change names. moves: these keep their IDs, and are gone where they were.
    """

    place: Placement
    first: str
    last: str
    new: tuple[str, ...] = ()
    until: bool = False
    old: str = ""
    lines: "Change | tuple[bytes, ...] | None" = None
    moves: bool = False

    @property
    def typed(self) -> tuple[str, ...]:
        """The IDs of its own file that it names."""
        other = self.lines.typed if isinstance(self.lines, Change) else ()
        return self.first, self.last, *other


def split_new(content: str | Sequence[str]) -> tuple[str, ...]:
    r"""New text as lines: one final newline is ignored, "" is none, "\n" is one empty line."""
    if not isinstance(content, str):
        if all(part.endswith("\n") for part in content[:-1] or content):
            return split_new("".join(content))  # each brought its ending
        return tuple(line for part in content for line in split_new(part + "\n"))
    lines = content.replace("\r\n", "\n").split("\n")
    return tuple(lines[:-1] if not lines[-1] else lines)


def split_part(content: str | Sequence[str]) -> tuple[str, ...]:
    """New text for a part of a line as lines; what a final newline does, what follows tells."""
    text = content if isinstance(content, str) else "\n".join(content)
    return tuple(text.replace("\r\n", "\n").split("\n"))


def resolve_changes(
    changes: Mapping[int, Change], document: Document, data: bytes, parses: Parses | None = None
) -> tuple[list[Hunk], list[str]]:
    """The hunks of a call, ascending and disjoint, and what was made of its changes that is worth
    telling; all IDs refer to the state before it.

    changes: by the number that refusals call them. data: the whole text, in UTF-8.

    Raises `InvalidChange`, `UnknownLineId`, `StaleLineIds` or `NotReadYet`; nothing is changed.
    """
    typed = [text for change in changes.values() for text in change.typed]
    where, notes = locate(document, typed), list[str]()
    context = Context(document.lines, data, parses, document.name)
    placed: list[Placed] = []
    for number, change in changes.items():
        check = _Check(document, f"Change {number}", where)
        taken = [change.lines] if change.moves and isinstance(change.lines, Change) else []
        for part in (change, *taken):
            quoted = _quoted(document, part, where)
            if change.lines is not None:  # nothing was typed
                placed.append(Placed(check.taken(part), quoted, number))
                continue
            hunk = check.hunk(part)
            fitted = Fitted(hunk)
            if not _is_level(document, hunk, quoted[0][0]):  # else `fit` need not be entered
                fitted = fit(context, hunk, quoted[0][0])
            placed.append(Placed(fitted.hunk, quoted, number, hunk, fitted.doubt))
            notes += [f"Change {number}: {fitted.how}."] * bool(fitted.how)
    _refuse_overlaps(placed)
    refuse_doubtful(document, context, placed)
    hunks = sorted((one.hunk for one in placed), key=lambda hunk: (hunk.start, hunk.stop))
    return [part for hunk in hunks for part in refine(hunk, context.old(hunk))], notes


def lines_named(document: Document, change: Change, number: int) -> tuple[bytes, ...]:
    """The lines of another file that change `number` of a call takes; raises as its own would."""
    check = _Check(document, f"Change {number}", locate(document, change.typed))
    return tuple(document.lines.between(*check.place(change)))


def _quoted(
    document: Document, change: Change, where: Mapping[str, int]
) -> Sequence[tuple[int, str]]:
    """The lines that it names, and what it quotes of each."""
    parse = document.style.parse
    return [*{where[text]: parse(text).quote for text in (change.first, change.last)}.items()]


def _is_level(document: Document, hunk: Hunk, line: int) -> bool:
    """Whether new lines begin as deep as those in their place, or the one they are put beside."""
    there = document.lines.between(line, max(line + 1, hunk.stop))
    old, new = (next(filter(bytes.strip, lines), b"") for lines in (there, hunk.new))
    return indentation(old) == indentation(new)


@dataclass(frozen=True)
class _Check:
    document: Document
    label: str
    where: Mapping[str, int]  # the lines that are named

    def hunk(self, change: Change) -> Hunk:
        start, stop = self.place(change)
        old = self.document.lines.between(start, stop)
        if change.old:
            asked: Sequence[str] = self._within(old[0], change)
        else:
            asked = self._lines(change.new)
            self._refuse_clipped(start, old)
        new = self._without_echo(asked, old)
        if not new and start == stop:
            raise self._refusal("inserts nothing: new_content is empty.")
        encoded = _encoded(new)
        if list(encoded) == old:
            raise self._refusal("changes nothing: the lines already read like that.")
        return Hunk(start, stop, encoded)

    def place(self, change: Change) -> tuple[int, int]:
        """The lines that a change names, or the empty place beside one."""
        first, last = self.where[change.first], self.where[change.last]
        if last < first:
            raise self._refusal(
                f"has its range reversed: {change.first} stands below {change.last}.",
                "Swap the IDs of its start and its end.",
            )
        self.document.check_range(first, last + 1)
        if change.place == "replace":
            if change.until and first == last:
                raise self._refusal("has no lines: it ends before its first one.")
            return first, last + (not change.until)
        beside = first + (change.place == "after")
        return beside, beside

    def taken(self, change: Change) -> Hunk:
        """What puts lines there as they are, of this file or another, or takes them away."""
        at, end = self.place(change)
        if change.lines is None:
            return Hunk(at, end, ())
        if not isinstance(change.lines, Change):
            newline = self.document.lines.newline
            return Hunk(
                at, at, tuple(part for line in change.lines or () for part in line.split(newline))
            )
        start, stop = self.place(change.lines)
        if change.moves and start <= at <= stop:
            raise self._refusal("moves lines to where they are.")
        new = self.document.lines.between(start, stop)
        return Hunk(at, at, tuple(new), start if change.moves else None)

    def _within(self, there: bytes, change: Change) -> Sequence[str]:
        """The line with its part `old`, which is in it once, replaced."""
        line = there.decode(errors="replace")
        old = as_quoted(change.old.encode(errors="replace"), there).decode()
        before, found, behind = line.partition(old)
        if not found or old in line[len(before) + 1 :]:
            what = "is in the line more than once" if found else "is not in the line"
            shown = clip(with_escapes(line.strip()), MAX_LINE_CHARS)
            raise self._refusal(
                f"has an `old` that {what}: {in_quotes(shown)}.",
                "Send a part that is in it once.",
            )
        new = "\n".join(change.new)
        return (before + (new if behind else new.removesuffix("\n")) + behind).split("\n")

    def _lines(self, new: Sequence[str]) -> Sequence[str]:
        """The new lines as this text cuts them: a carriage return may be its line ending."""
        if not any("\r" in line for line in new):
            return new
        if self.document.lines.newline == b"\n":
            return [line.removesuffix("\r") for line in new]
        text = "\n".join(new)
        return split_new(text.replace("\r", "\n") + ("" if text.endswith("\r") else "\n"))

    def _without_echo(self, new: Sequence[str], old: Sequence[bytes]) -> Sequence[str]:
        """`new` without read prefixes where every line that is not blank has one."""
        filled = [
            line for line in new if line.strip() and line.encode(errors="surrogatepass") not in old
        ]
        known, strip_echo = self.document.index.used, self.document.style.strip_echo
        stripped = {line: strip_echo(line, known) for line in filled}
        bare = {line: text for line, text in stripped.items() if text is not None}
        if bare and len(bare) < len(stripped):
            raise self._refusal(
                "has line IDs inside new_content, before some lines.",
                "Send the bare text, without the ID prefixes of read.",
            )
        return [bare.get(line, line) for line in new]

    def _refuse_clipped(self, start: int, old: Sequence[bytes]) -> None:
        ids = self.document.index.ids(start, start + len(old))
        for n, line in enumerate(old):
            seen = len(line) <= MAX_LINE_CHARS or ids[n] in self.document.seen.whole
            if not seen and len(line.decode(errors="replace")) > MAX_LINE_CHARS:
                raise self._refusal(
                    f"would replace line {self.document.spelled(start + n)}, of which you saw only "
                    f"the first {MAX_LINE_CHARS:,} characters.",
                    "Read that line alone (limit=1) to see it whole, then edit.",
                )

    def _refusal(self, what: str, hint: str = "") -> InvalidChange:
        return InvalidChange(f"{self.label} {what} {NOTHING}", hint=hint)


def _encoded(lines: Sequence[str]) -> tuple[bytes, ...]:
    try:
        encoded = tuple(line.encode() for line in lines)
    except UnicodeEncodeError:
        raise InvalidChange(
            f"new_content has a lone surrogate, which cannot be encoded. {NOTHING}"
        ) from None
    if any(b"\0" in line for line in encoded):
        raise InvalidChange(f"new_content has a NUL character. {NOTHING}")
    return encoded


def _refuse_overlaps(placed: Sequence[Placed]) -> None:
    """Refuse two changes of one line, and insertions into one gap whose order nothing tells.

    Those after one line, or before one, come in the order of the call, as an editor's do.
    """
    owner: dict[int, int] = {}
    for one in placed:
        for line in range(one.hunk.start, one.hunk.stop):
            if line in owner:
                raise _both(owner[line], one.number, f"line {line + 1}")
            owner[line] = one.number
    gaps: dict[int, Placed] = {}
    for one in placed:
        gap = one.hunk.start
        if gap < one.hunk.stop:
            continue
        above, first = owner.get(gap - 1), gaps.setdefault(gap, one)
        other = above if above and above == owner.get(gap) else 0
        if other or first.beside != one.beside:
            raise _both(other or first.number, one.number, f"the place above line {gap + 1}")


def _both(one: int, other: int, what: str) -> InvalidChange:
    return InvalidChange(
        f"Changes {one} and {other} both address {what}. {NOTHING}",
        hint="Merge them into one change.",
    )


def locate(document: Document, typed: Sequence[str]) -> dict[str, int]:
    """The lines that carry the IDs as the model typed them, with what it quoted of the lines.

    Raises `NotReadYet`, `UnknownLineId`, `StaleLineIds` or `InvalidChange`; the text shows
    live lines.
    """
    document.require_ids()
    read = {text: document.style.parse(text) for text in typed}
    at = {text: document.index.position(one.line_id) for text, one in read.items()}
    lines = {text: line for text, line in at.items() if line is not None}
    if missing := {text: one for text, one in read.items() if text not in lines}:
        raise _missing(document, missing, [*lines.values()])
    named = [(read[text], line) for text, line in lines.items()]
    if wrong := [(one, line) for one, line in named if document.misquoted(one.quote, line)]:
        raise _misquoting(document, wrong)
    return lines


def _misquoting(document: Document, wrong: Sequence[tuple[Typed, int]]) -> InvalidChange:
    """The refusal of IDs whose lines do not begin with the words behind them."""
    told: list[str] = []
    places: list[int] = []
    meant: list[int] = []
    for one, line in wrong:
        what = document.misquoted(one.quote, line)
        told.append(f"{one.name} {what}; it would be {in_quotes(document.named(line))}.")
        near = _likely(document, one.name, one.quote, line) if one.quote else []
        if line in near[:1]:  # too few words, but its own: no other line is meant
            near = []
        meant += near
        places += near or [line]
    sentences = [*told[:_SHOWN], *_asked(document, meant), NOTHING]
    return InvalidChange(" ".join(sentences), hint=document.near(places[:_SHOWN]))


def _missing(
    document: Document, typed: Mapping[str, Typed], found: Sequence[int]
) -> UnknownLineId | StaleLineIds:
    """The refusal that names all the IDs which no line carries, and shows lines near them."""
    spelled, index = document.style.spelled, document.index
    ids = [one.line_id for one in typed.values() if one.line_id]
    gone = [line_id for line_id in ids if line_id in index.used]
    told = []
    if wrong := [text.strip()[:40] for text, one in typed.items() if not one.line_id]:
        are = "is not a line ID" if len(wrong) == 1 else "are not line IDs"
        told.append(f"{some([*map(repr, wrong)], _NAMED)} {are}. IDs are {document.style.shape}.")
    if unknown := [line_id for line_id in ids if line_id not in gone]:
        told.append(f"{document.name} has no line {some([*map(spelled, unknown)], _NAMED)}.")
    if gone:
        line, how = index.gone.get(gone[0], (_last_seen(document, found), "since it was read"))
        lines = "Line {} of {} was" if len(gone) == 1 else "Lines {} of {} were"
        what = "rewritten, moved or removed" if how == OUTSIDE else "rewritten or removed"
        told.append(
            lines.format(some([*map(spelled, gone)], _NAMED), document.name)
            + f" {what} {how}: the file has changed since last read."
        )
        hint = f"Re-read, or use the current IDs. {document.near([line])}"
        return StaleLineIds(" ".join([*told, NOTHING]), hint=hint)
    meant: list[int] = []
    for text, one in typed.items():
        beside = found[0] if found else None
        unnamed = _likely(document, "", text, beside)  # the words of a line without its ID
        meant += _likely(document, one.name, one.quote, beside) or unnamed
    told += _asked(document, meant)
    hint = document.near(meant[:_SHOWN] or [_last_seen(document, found)])
    return UnknownLineId(" ".join([*told, NOTHING]), hint=hint)


def _likely(document: Document, name: str, quote: str, beside: int | None) -> list[int]:
    """The lines that a wrong ID was probably meant for, the likeliest first, `_FEW` at most.

    Those whose text begins with the quote go before those whose ID is a slip away, the nearest to
    the line `beside` first.
    """
    words = unclipped(quote).encode(errors="replace").split()
    every = [*islice(document.identified(), _LOOKED_AT)]
    fits = [one for one in every if words and one.text.split()[: len(words)] == words]
    if beside is not None:
        fits.sort(key=lambda one: abs(one.line - beside))
    close = [one for one in fits or every if _is_slip(name, one.line_id)]
    first = fits[:1] if beside is not None or len(fits) == 1 else []
    return [one.line for one in dict.fromkeys([*first, *(close or fits)])][:_FEW]


def _is_slip(name: str, line_id: str) -> bool:
    """Whether one letter is wrong, too few, too many, or swapped with the next."""
    from rapidfuzz.distance import OSA

    return OSA.distance(name, line_id, score_cutoff=1) <= 1


def _asked(document: Document, meant: Sequence[int]) -> list[str]:
    """How the lines that may be meant are named, if there are any."""
    names = [in_quotes(document.named(line)) for line in dict.fromkeys(meant[:_SHOWN])]
    return [f"Did you mean {', '.join(names)}?"] if names else []


def _last_seen(document: Document, found: Sequence[int]) -> int:
    """A line near what is meant: another of the call, else the one that was shown last."""
    shown = document.seen.shows[-1:]
    last = [document.index.position(ids[:WIDTH]) or 0 for ids in shown]
    return next(iter((*found, *last)), 0)
