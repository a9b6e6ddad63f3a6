"""Whether a change does what was meant: what repeats its surroundings, or stands for other text."""

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, takewhile
from typing import NamedTuple

from fsagent_tools.edits.placeholders import KEY, MARK, SIGN, WRITTEN_OUT, elided, pasted
from fsagent_tools.edits.similarity import similarity
from fsagent_tools.errors import InvalidChange
from fsagent_tools.lines.document import NOTHING, Document
from fsagent_tools.lines.hunks import Hunk, rewrite
from fsagent_tools.lines.source import Lines, indentation
from fsagent_tools.problems import Parsing
from fsagent_tools.text import in_quotes

_BESIDE = 2_000  # lines on either side of a change that may come again in it
_ENDS = 3  # lines shown of those that a new text goes on to
_SHOWN = 80  # characters of a line
_FEW = 3  # doubts in one refusal
_KEPT = 200  # refused changes that are remembered
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_MIN_LETTERS, _ALIKE = 4, 0.6  # letters of a line that may be another one, and how alike it is then
_BETTER = 0.3  # how much more alike the ends of two texts are, of 2
_TAG = re.compile(rb"\s*\[?LID:[0-9a-f]{6}\] ?")  # as `read` puts it before lines of any file

Parses = Callable[[bytes], Parsing]
_TELLING = re.compile(rb".*[A-Za-z\x80-\xff]")
_COMMON = re.compile(rb"(?:begin|break|continue|else|end|finally|pass|return|try)\b\W*")
_BLOCK = 3  # lines of the smallest one
_NEARBY = 10  # lines
_COMMENT = b" \t*#/;-"  # signs of a line of a comment that says nothing
_MARKUP = (".html", ".htm", ".xhtml", ".xml", ".svg", ".vue", ".jsx", ".tsx", ".svelte", ".md")
_ENTITY = re.compile(rb"&(?:lt|gt|amp|quot|#39);")
_BARE = re.compile(rb"(?<!\\)\"")
_CURLY = [  # the first of a pair, the last, and the plain one
    (first.encode(), last.encode(), plain.encode())
    for first, last, plain in ('\u201c\u201d"', "\u2018\u2019'")
]
_BLANKS = [sign.encode() for sign in "\u00a0\u202f\u200b\u2060\ufeff"]


class Context:
    """A text in which lines change: what stays beside them, and whether it parses then.

    name: of the file, which tells its language. parses: whether a whole text does; None: nobody
    can tell. replaced: lines that go in the same call.
    """

    def __init__(
        self, lines: Lines, data: bytes, parses: Parses | None = None, name: str = ""
    ) -> None:
        self.lines, self.data, self.name = lines, data, name
        self.replaced: Collection[int] = ()
        self._parses = cache(parses or (lambda _: None))

    def old(self, hunk: Hunk) -> list[bytes]:
        return self.lines.between(hunk.start, hunk.stop)

    def above(self, hunk: Hunk) -> list[bytes]:
        """As many lines that stay as there are new ones, down to the one beside it."""
        first = hunk.start
        least = max(0, first - min(len(hunk.new), _BESIDE))
        while first > least and first - 1 not in self.replaced:
            first -= 1
        return self.lines.between(first, hunk.start)

    def below(self, hunk: Hunk) -> list[bytes]:
        last = hunk.stop
        most = min(self.lines.count, last + min(len(hunk.new), _BESIDE))
        while last < most and last not in self.replaced:
            last += 1
        return self.lines.between(hunk.stop, last)

    def parses(self, hunk: Hunk) -> Parsing:
        """Whether the text does with the hunk in it; nobody can tell where it did not before."""
        before = self._parses(self.data)
        if before is not True:
            return before or None
        return self._parses(rewrite(self.lines, self.data, [hunk]).data)


class Doubt(NamedTuple):
    """What looks like a slip, and what to do about it.

    shown: the lines that tell more, from 0, exclusive. readings: what else it may be.
    """

    sentence: str
    way: str = ""
    shown: tuple[int, int] | None = None
    readings: str = ""


def around(hunk: Hunk) -> tuple[int, int]:
    """Its lines and those beside them."""
    return max(0, hunk.start - 1), hunk.stop + 1


def doubt(context: Context, hunk: Hunk) -> Doubt | None:
    """What is doubtful about new lines in their place, if anything."""
    beside = context.above(hunk), context.below(hunk)
    return _again(context, hunk, *beside) or _left(context, hunk, *beside)


def _again(
    context: Context, hunk: Hunk, above: Sequence[bytes], below: Sequence[bytes]
) -> Doubt | None:
    """Lines that would be there twice."""
    new, old = hunk.new, context.old(hunk)
    if again := _repeated(new, old, above, below):
        where, lines = again
        what, way = f"The new text repeats the line {where}, which stays.", "Leave it out."
        if more := len(lines) - 1:
            first = in_quotes(_told(next(filter(bytes.strip, lines))))
            what = f"The new text repeats the {more + 1} lines {where}, from {first}, which stay."
            way = "Leave them out."
        return Doubt(what, way, around(hunk))
    if comes_deeper(new, below) and not comes_deeper(old, below):
        line = in_quotes(_told(below[0]))
        what = f"The new text ends with the line below, {line}, deeper, and that line stays."
        return Doubt(what, "Leave it out.", around(hunk))
    if old and (count := reaches(new, old, below)):
        last = hunk.stop + count
        stay = f"line {last} stays" if count == 1 else f"lines {hunk.stop + 1}-{last} stay"
        line = in_quotes(_told(below[count - 1]))
        what = f"The new text goes on to line {last}, {line}, but {stay}."
        way = "End the range with that line, or leave out what stays."
        return Doubt(what, way, (max(hunk.stop, last - _ENDS), last))
    if repeats_itself(new) and not repeats_itself(old):
        return Doubt("The second half of the new text is the same as the first.", "Send it once.")
    if twice := doubled(new, old):
        return Doubt(f"A line comes twice in a row: {in_quotes(_told(twice))}.", "Send it once.")
    return None


def _left(
    context: Context, hunk: Hunk, above: Sequence[bytes], below: Sequence[bytes]
) -> Doubt | None:
    """What is no text of the file: placeholders, marks of a read or a paste, other spellings."""
    new, old = hunk.new, context.old(hunk)
    text = b"\n".join(new)
    if SIGN.search(text) and (left_out := elided(new, old)):
        what = f"A placeholder stands for omitted text: {in_quotes(left_out)}."
        return Doubt(what, "Write every line in full.")
    if tag := next((line for line in new if _TAG.match(line) and line not in old), b""):
        return Doubt(f"A line begins with a line ID: {in_quotes(_told(tag))}.", "Send bare lines.")
    if spelling := foreign(text, context.data, context.name):
        what = f"The new text has {spelling}, which the file has nowhere."
        return Doubt(what, "Send the plain characters.")
    marks = MARK.search(text) and pasted(new, old, [*above, *below])
    meant = marks == WRITTEN_OUT or KEY.match(text)  # if it parses so
    if marks and not (meant and context.parses(hunk) is True):
        return Doubt(f"The new text seems to have {marks} in it.", "Send the bare lines.")
    return None


def _one_off(context: Context, hunk: Hunk) -> Doubt | None:
    """Whether lines that were named without a word of them are rather those one line up or down."""
    new, old, above, below = hunk.new, context.old(hunk), context.above(hunk), context.below(hunk)
    for where, beside, instead, end in (
        ("above", above[-1:], [*above[-1:], *old[:-1]], new[:1]),
        ("below", below[:1], [*old[1:], *below[:1]], new[-1:]),
    ):
        if not (beside and old and new):
            continue
        again = _has_words(beside[0]) and beside[0] in new and beside[0] not in old
        if not again and (not _has_words(end[0]) or _alike(end[0], beside[0]) < _ALIKE):
            continue
        if _ends(new, instead) > _ends(new, old) + _BETTER:
            what = f"The line {where}, which stays, is more like it. One line off?"
            return Doubt(what, shown=around(hunk))
    return None


def _ends(new: Sequence[bytes], old: Sequence[bytes]) -> float:
    """How alike the ends of two texts are, 0 to 2."""
    return _alike(new[0], old[0]) + _alike(new[-1], old[-1])


def _alike(one: bytes, other: bytes) -> float:
    return similarity(_told(one), _told(other))


def _has_words(line: bytes) -> bool:
    return len(_LETTER.findall(line)) >= _MIN_LETTERS


def _repeated(
    new: Sequence[bytes], old: Sequence[bytes], above: Sequence[bytes], below: Sequence[bytes]
) -> tuple[str, Sequence[bytes]] | None:
    """Where new text has again what stands beside its place, and these lines, if it has.

    One line that is not blank, or several of which two are not; the old text did not begin or end
    so. What only takes lines away repeats none.
    """
    if [*new] in ([*old[: len(new)]], [*old[-len(new) :]]):
        return None
    for where, beside in (("above", above), ("below", below)):
        for count in range(min(len(new), len(beside)), 0, -1):
            part = slice(count) if where == "above" else slice(-count, None)
            lines = beside[-count:] if where == "above" else beside[:count]
            if new[part][0] != lines[0] or [*new[part]] != [*lines] or [*old[part]] == [*lines]:
                continue
            if count == len(new) == len(old):
                continue  # neighbours that change places in two steps
            if sum(bool(line.strip()) for line in lines) >= min(count, 2):
                return where, lines
    return None


def _told(line: bytes) -> str:
    return line.decode(errors="replace").strip()[:_SHOWN]


@dataclass(frozen=True)
class Placed:
    """A change that was found: its hunk, the lines its IDs name and what was quoted of them.

    number: of the change in its call. sent: the hunk as it came, None where no text was typed.
    depth: what is doubtful about its depth.
    """

    hunk: Hunk
    quoted: Sequence[tuple[int, str]]
    number: int
    sent: Hunk | None = None
    depth: Doubt | None = None

    @property
    def beside(self) -> int:
        """The first line that is named."""
        return self.quoted[0][0]

    @property
    def size(self) -> int:
        """How many characters were quoted."""
        return sum(len("".join(quote.split())) for _, quote in self.quoted)


def refuse_doubtful(document: Document, context: Context, placed: Sequence[Placed]) -> None:
    """Raise `InvalidChange` for changes that are doubtful, but those that are confirmed.

    A change is, when it comes again with more of the addressed text quoted behind its IDs, which a
    mere repetition of the call does not have; that does where there is no more text.
    """
    context.replaced = {n for one in placed for n in range(one.hunk.start, one.hunk.stop)}
    found = [(one, _doubt_of(document, context, one)) for one in placed]
    doubted = [(one, what) for one, what in found if what and not _confirmed(document, one)]
    if not doubted:
        return
    told: list[str] = []
    for one, what in doubted[:_FEW]:  # what was not read cannot be confirmed
        _remember(document, one)
        told += [f"{what.sentence} {_way(document, one, what.way)}", *filter(None, [what.readings])]
        if what.shown:
            start, stop = what.shown
            told.append(document.region(start, min(stop, document.lines.count)))
    if (more := len(doubted) - _FEW) > 0:
        told.append(f"(and {more} more)")
    raise InvalidChange(f"new_content looks like a slip. {NOTHING}", hint="\n".join(told))


def confirmed(
    doubted: dict[object, int] | None, change: object, size: int, *, again: bool = False
) -> bool:
    """Whether a change that was refused comes again with more quoted; else that is remembered.

    change: without what was quoted for it. again: nothing more can be quoted, so the same will do.
    """
    if doubted is None:
        return False
    before = doubted.get(change)
    if before is not None and (again or size > before):
        return True
    if len(doubted) >= _KEPT:
        doubted.clear()
    doubted[change] = max(size, before or 0)
    return False


def _doubt_of(document: Document, context: Context, one: Placed) -> Doubt | None:
    if one.sent is None:
        return None
    style, known = document.style, document.index.used
    for hunk in [one.hunk] if one.sent is one.hunk else [one.hunk, one.sent]:
        if found := doubt(context, hunk):
            return found
        if not any(quote for _, quote in one.quoted) and (found := _one_off(context, hunk)):
            return found
        filled = [_told(line) for line in hunk.new if line.strip()]
        if filled and all(style.is_marked(line, known) for line in filled):
            return Doubt(f"Lines begin with line IDs: {in_quotes(filled[0])}.", "Send bare lines.")
    return one.depth


def _confirmed(document: Document, one: Placed) -> bool:
    """Whether the change was refused before and comes with more quoted, or with lines beside it."""
    doubted, count = document.seen.doubted, document.lines.count
    for key in doubted:  # those of quotes are of several hunks, too
        match key:
            case (int(lines), Hunk() as hunk) if lines == count:
                if _widens(document, one.hunk, hunk):
                    return True
    before = doubted.get((count, one.hunk))
    if before is None or one.hunk.stop - one.hunk.start == count:  # of all there is no more
        return before is not None
    line, quote = one.quoted[0]  # the words that a refusal asks for
    return one.size > before and min(2, len(document.words(line))) <= len(quote.split())


def _widens(document: Document, hunk: Hunk, other: Hunk) -> bool:
    """Whether a hunk is the other one with lines beside it that stay as they are."""
    if not (hunk.start <= other.start and other.stop <= hunk.stop) or hunk == other:
        return False
    above, below = (
        document.lines.between(*part)
        for part in ((hunk.start, other.start), (other.stop, hunk.stop))
    )
    return [*hunk.new] == [*above, *other.new, *below]


def _remember(document: Document, one: Placed) -> None:
    doubted, key = document.seen.doubted, (document.lines.count, one.hunk)
    if len(doubted) >= _KEPT:
        doubted.clear()
    doubted[key] = max(one.size, doubted.get(key, 0))


def _way(document: Document, one: Placed, way: str) -> str:
    """What to do, and how to confirm the change.

    What is to be sent stands on a line of its own, as it is: nothing is escaped or renamed there.
    """
    if one.hunk.stop - one.hunk.start == document.lines.count:
        return f"{way} If it is meant, send the same again.".lstrip()
    line, quote = one.quoted[0]
    have = len(quote.split())
    wanted = document.quotation(line, have + 2)
    if have and wanted == document.quotation(line, have):
        return f"{way} If it is meant, make the lines beside it part of the change.".lstrip()
    wanted = f"{document.spelled(line)} {wanted}"
    return f"{way} If it is meant, quote {'more ' * bool(have)}behind the ID:\n{wanted}".lstrip()


def reaches(new: Sequence[bytes], old: Sequence[bytes], below: Sequence[bytes]) -> int:
    """How many lines below its place a new text has, too, and was to replace; 0 if none.

    It has the first of them, and ends as the last one does, as deep: a whole block over its first
    part. One that ends as what it replaces has its own end, though an equal block follows.
    """
    first = next((line.rstrip() for line in below if _tells(line)), None)
    own = [line.rstrip() for line in new]
    if len(own) < _BLOCK or first not in own:
        return 0
    last = max(n for n, line in enumerate(own) if _tells(line))
    tail = own[last:]
    if tail[0].strip() in map(bytes.strip, old):
        return 0
    ends = [n for n, line in enumerate(below[: len(own)]) if line.rstrip() == tail[0]]
    if not ends:
        return 0
    pairs = zip(tail, map(bytes.rstrip, below[ends[-1] :]), strict=False)
    return ends[-1] + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def comes_deeper(new: Sequence[bytes], below: Sequence[bytes]) -> bool:
    """Whether a text ends with the line below it at a greater depth.

    A line that tells little may close a block there, but is no deeper than the one above it then.
    """
    filled = [*filter(bytes.strip, new[-_NEARBY:])]
    if len(filled) < 2 or not below or filled[-1].strip() != below[0].strip():
        return False
    above, last, there = (len(indentation(line)) for line in (*filled[-2:], below[0]))
    return last > there and (_tells(below[0]) or last > above)


def _tells(line: bytes) -> bool:
    return bool(_TELLING.match(line)) and not _COMMON.fullmatch(line.strip())


def foreign(new: bytes, data: bytes, name: str) -> str:
    """What a new text spells in a way that the file does nowhere; "" if nothing.

    name: of the file; in markup an entity is the plain spelling.
    A text with plain quotes beside the curly ones has them for a reason.
    """
    if b'\\"' in new and not _BARE.search(new) and b'\\"' not in data:
        return 'quotes written out as `\\"`'
    markup = name.lower().endswith(_MARKUP)
    if not markup and _ENTITY.search(new) and not _ENTITY.search(data):
        return "character entities such as `&lt;`"
    for first, last, plain in _CURLY:
        pairs = (0 <= line.find(first) < line.rfind(last) for line in new.split(b"\n"))
        if first not in data and plain not in new and any(pairs):
            return "curly quotes"
    new = new.removeprefix(BOM_UTF8)  # it comes along with the first line of a file
    if any(sign in new for sign in _BLANKS) and not any(sign in data for sign in _BLANKS):
        return "no-break or zero-width blanks"
    return ""


def repeats_itself(new: Sequence[bytes]) -> bool:
    """Whether the second half of it is the same as the first, each of several lines."""
    half = len(new) // 2
    return half > 1 and new[:half] == new[half:] and any(map(bytes.strip, new))


def doubled(new: Sequence[bytes], old: Sequence[bytes]) -> bytes:
    """A line that comes twice in a row, and did not in the old text; b"" if none.

    But for signs of comments alone, which part paragraphs.
    """
    known = {one for one, other in pairwise(old) if one == other}
    again = (one for one, other in pairwise(new) if one == other and one not in known)
    return next((line for line in again if line.strip(_COMMENT)), b"")
