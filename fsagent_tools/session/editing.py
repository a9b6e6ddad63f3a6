"""A file held for change: hunks or a whole new text go in, bytes, IDs and the diff come out."""

import codecs
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from fsagent_tools.encoding import Decoded, as_held, has_stray, lookup
from fsagent_tools.errors import BinaryFile, EncodingError, InvalidChange, Missing, StaleLineIds
from fsagent_tools.files.base import COMPARED, Version
from fsagent_tools.files.guarded import GuardedFiles, LockedFile
from fsagent_tools.lines.diff import unified
from fsagent_tools.lines.document import AROUND, NOTHING, Document
from fsagent_tools.lines.hunks import Hunk, refine, rewrite
from fsagent_tools.lines.ids import Style
from fsagent_tools.lines.source import Lines, split
from fsagent_tools.notebook import Notebook
from fsagent_tools.results import Findings
from fsagent_tools.session.memory import Record, Session
from fsagent_tools.session.review import Lint, Reviewer
from fsagent_tools.session.texts import CHECKED, Whole
from fsagent_tools.text import newline_of


@dataclass(frozen=True)
class Written:
    """What a change did. `hunks` refer to the lines before it, `regions` to the lines after it.

    changed: whether any byte differs; without hunks that is line endings or the encoding.
    """

    path: str
    absolute: str
    bytes_written: int
    created: bool
    changed: bool
    old: Lines
    hunks: tuple[Hunk, ...]
    ends_with_newline: bool
    lint: Findings | None = None
    broken: str = ""  # where it does not parse any more, if a check was not asked for; a guess

    def diff(self) -> str:
        ends = self.ends_with_newline
        return unified(self.path, self.old, self.hunks, ends_with_newline=ends)

    @property
    def lines(self) -> int:
        """How many lines the file has now."""
        return self.old.count + sum(hunk.growth for hunk in self.hunks)

    @property
    def insertions(self) -> int:
        return sum(len(hunk.new) for hunk in self.hunks)

    @property
    def deletions(self) -> int:
        return sum(hunk.stop - hunk.start for hunk in self.hunks)

    def regions(self) -> list[tuple[int, int]]:
        """Changed lines with `AROUND` lines around them, as they are numbered now, merged."""
        regions: list[tuple[int, int]] = []
        shift = 0
        for hunk in self.hunks:
            start = max(0, hunk.start + shift - AROUND)
            stop = hunk.start + shift + len(hunk.new) + AROUND
            shift += hunk.growth
            if regions and start <= regions[-1][1]:
                start = regions.pop()[0]
            regions.append((start, stop))
        return regions


@dataclass
class Edit:
    """An existing text file under its lock; nothing happens to it unless a method is called.

    form: how a whole new text is written that its encoding cannot hold.
    """

    host: "Host"
    target: LockedFile
    record: Record
    text: Whole
    lint: Lint
    gated: bool = False
    form: Decoded | None = None
    notebook: Decoded | None = None  # the text that is about to be written, if it is one

    @property
    def path(self) -> str:
        return self.target.place.told

    @property
    def document(self) -> Document:
        return self.record.document(self.path, self.text, self.host.style)

    @property
    def utf8(self) -> bytes:
        """The whole text in UTF-8, without a byte-order mark."""
        return self.text.decoded.utf8

    def require_unchanged(self) -> None:
        """Raise `StaleLineIds` if anything in the file changed since the model saw it."""
        if self.record.shown != self.text.identity:
            raise StaleLineIds(
                f"File has changed since last read. Re-read {self.path} before editing it. "
                f"{NOTHING}"
            )

    def require_seen(self) -> None:
        """The policy may want a file of this size to be read before an edit, or the lines seen.

        Then a change of lines that were not shown raises `NotRead`.
        """
        self.gated = self.target.place.relative not in self.host.session.seen

    def _check_seen(self, hunks: Sequence[Hunk]) -> None:
        between, count = self.text.lines.between, self.text.lines.count
        name = self.target.place.relative
        for hunk in hunks:
            low, high = hunk.start, hunk.stop
            if low == high:  # an insertion: one line beside it is enough
                low, high = max(0, low - 1), min(count, high + 1)
            known = [self.host.session.has_glimpsed(name, line) for line in between(low, high)]
            if not (any if hunk.start == hunk.stop else all)(known):
                self.host.files.policy.check_seen(self.path, len(self.text.raw))

    def apply(self, hunks: Sequence[Hunk], ends: bool | None = None) -> Written:
        """Replace lines; endings follow the replaced ones. Raises a `ToolError`, file as it was.

        ends: whether a line ending ends the text then, None if as before.
        """
        hunks = tuple(map(self._as_held, hunks) if self.text.decoded.stray else hunks)
        if any(b"\0" in line for hunk in hunks for line in hunk.new):
            raise InvalidChange(
                f"The new text has a NUL character: {self.path} would be no text. {NOTHING}",
                hint="Write it as an escape.",
            )
        new = rewrite(self.text.lines, self.utf8, hunks, ends)
        if isinstance(self.text.decoded, Notebook):
            return self.replace(new.data)  # headers of cells are numbered again
        marked = new.data.startswith(codecs.BOM_UTF8) and not self.utf8.startswith(codecs.BOM_UTF8)
        if marked or newline_of(new.data) != self.text.lines.newline:
            return self.replace(new.data)  # its mark came along, or other characters end lines now
        return self._write(new.data, new.lines, hunks)

    def replace(self, utf8: bytes) -> Written:
        """Replace the whole text; unchanged lines keep their IDs."""
        utf8 = as_held(utf8.removeprefix(self.text.decoded.bom and codecs.BOM_UTF8), self.utf8)
        if isinstance(self.text.decoded, Notebook):
            self.notebook = self.text.decoded.of_new(utf8, str)
            utf8 = self.notebook.utf8
        old, lines = self.text.lines, Lines.of(utf8, newline_of(utf8))
        new = tuple(split(utf8, lines.newline))
        whole = Hunk(0, old.count, new)
        hunks = tuple(refine(whole, old.between(0, old.count))) if old.count and new else (whole,)
        return self._write(utf8, lines, hunks)

    def _as_held(self, hunk: Hunk) -> Hunk:
        old = b"\n".join(self.text.lines.between(hunk.start, hunk.stop))
        new = as_held(b"\n".join(hunk.new), self.utf8, old).split(b"\n")
        return replace(hunk, new=tuple(new) if hunk.new else ())

    def encoded(self, utf8: bytes) -> tuple[bytes, Decoded]:
        """A text as the file would have it, and how. Raises `EncodingError`."""
        if self.form:
            form = replace(self.form, utf8=utf8, stray=has_stray(utf8))
            return form.encode(utf8), form
        decoded = self.text.decoded
        if not decoded.exact:
            raise EncodingError(
                f"{self.path} has bytes that {decoded.encoding} would not write back as they "
                f"are. {NOTHING}",
                hint="It can be read, not edited.",
            )
        if self.notebook and self.notebook.utf8 == utf8:
            return self.notebook.encode(utf8), self.notebook
        assumed = partial(self.host.session.assumed, self.target.place.relative)
        new = decoded.of_new(utf8, assumed)
        return new.bom + new.encode(utf8), new

    def check(self, utf8: bytes) -> tuple[bytes, Decoded, Findings | None]:
        """What would be written, and what a check of it finds. Raises what would keep it out."""
        (raw, new), place = self.encoded(utf8), self.target.place
        self.target.check_writable(len(raw))
        if isinstance(new, Notebook):  # what was checked would be its cells, as one text
            return raw, new, None
        return raw, new, self.host.services.review(self.lint, place, self.utf8, utf8)

    def _write(self, utf8: bytes, lines: Lines, hunks: Sequence[Hunk]) -> Written:
        old, record = self.text, self.record
        if self.gated:
            self._check_seen(hunks)
        place, session = self.target.place, self.host.session
        # A change of a part shows nothing of the rest: who had not read that still has not.
        is_read = place.relative in session.seen
        is_read = is_read and not session.changed_since(place.relative, old.identity)
        raw, new, report = self.check(utf8)
        joints = self.document.joints(hunks)
        now = self.target.write(raw, expect=record.stamp.version)
        written = self.host.services.written
        is_checked = report is None and not isinstance(new, Notebook)
        broken = written(place, self.utf8, utf8) if is_checked else ""
        if new.evidence == "guess" and not all(line.isascii() for h in hunks for line in h.new):
            broken = "\n".join(filter(None, (broken, _guessed(new.encoding))))
        record.index.follow(hunks)
        if len(old.raw) <= CHECKED:  # a quote of a line that is gone is of what was there before
            record.lost |= {
                line for hunk in hunks for line in old.lines.between(hunk.start, hunk.stop)
            }
        self.text = record.advance(Whole(raw, new, lines, str(now)), now)
        self.document.join(joints)
        if is_read:
            session.saw(place.relative, self.text.identity)
        return Written(
            place.told,
            place.told_absolute,
            len(raw),
            False,
            raw != old.raw,
            old.lines,
            tuple(hunks),
            lines.ends_with_newline or not lines.size,
            report,
            broken,
        )


def _guessed(encoding: str) -> str:
    return (
        f"The file is written as {encoding}, which is a guess. If that is wrong, undo this and "
        "declare its encoding in the first line."
    )


class Host(Protocol):
    """Where texts are changed: a workspace."""

    @property
    def files(self) -> GuardedFiles: ...
    @property
    def session(self) -> Session: ...
    @property
    def style(self) -> Style: ...
    @property
    def services(self) -> Reviewer: ...


@contextmanager
def editing(
    host: Host, path: str, encoding: str | None = None, lint: Lint | None = None
) -> Iterator[Edit]:
    """An existing text file, locked for change. Raises a `ToolError`.

    lint: overrides the workspace's.
    """
    with host.files.lock(path) as target:
        if target.version is None:
            host.files.place(path)  # finds the words for what is missing
            raise Missing(f"{path} does not exist.")
        with host.session.editing(target, target.version, host.style, encoding) as (record, text):
            yield Edit(host, target, record, text, lint or host.services.lint)


def overwrite(  # noqa: PLR0913
    host: Host,
    target: LockedFile,
    utf8: bytes,
    encoding: str | None,
    lint: Lint | None,
    *,
    check: Callable[[LockedFile, Edit | None], None] | None = None,
) -> Written:
    """Create or overwrite the locked file; an existing text keeps its encoding if that can be.

    check: gets the existing text, None for what is no text or too large to compare, and may raise.
    """
    session, before, place = host.session, target.version, target.place
    lint = lint or host.services.lint
    assumed = partial(session.assumed, place.relative)
    form = Decoded(b"", lookup(encoding) if encoding else "utf-8", name=place.told)
    form = form if encoding else form.of_new(utf8, assumed)
    with ExitStack() as stack:
        if before is not None:
            target.check_writable(0)
            held = _held(stack, host, target, before, encoding)
            edit = Edit(host, target, *held, lint) if held else None
            if check:
                check(target, edit)
            # A notebook over a notebook: all of its JSON is written anew.
            if edit and not (isinstance(edit.text.decoded, Notebook) and Notebook.of(utf8)):
                note = _turned(edit, utf8, form)
                written = edit.replace(utf8)
                session.saw(place.relative, edit.text.identity)
                return replace(written, broken="\n".join(filter(None, (note, written.broken))))
    raw = form.encode(utf8)
    report = host.services.review(lint, place, None, utf8)
    now = target.write(raw, expect=before)
    if before is not None:
        session.forget(place.relative)
    lines = Lines.of(utf8, newline_of(utf8))
    text = Whole(raw, replace(form, utf8=utf8), lines, str(now))
    session.saw(place.relative, text.identity)
    new = Hunk(0, 0, tuple(lines.between(0, lines.count)))
    ends = lines.ends_with_newline or not utf8
    empty = Lines.of(b"", b"\n")
    return Written(
        place.told,
        place.told_absolute,
        len(raw),
        before is None,
        True,
        empty,
        (new,),
        ends,
        report,
    )


def _held(
    stack: ExitStack, host: Host, target: LockedFile, before: Version, encoding: str | None
) -> tuple[Record, Whole] | None:
    """The existing text, read as its own evidence has it where it is not in `encoding`."""
    for one in dict.fromkeys((encoding, None)) if before.size <= COMPARED else ():
        with suppress(BinaryFile, EncodingError):
            return stack.enter_context(host.session.editing(target, before, host.style, one))
    return None


def _turned(edit: Edit, utf8: bytes, form: Decoded) -> str:
    """What is told of a text that its file's encoding cannot hold: it is written in another."""
    old = edit.text.decoded
    try:
        edit.encoded(utf8)
    except EncodingError as error:
        edit.form, letter = form, error.details.get("character")
        guess = ", which was a guess," * (old.evidence == "guess")
        why = f"cannot hold {letter}" if letter else "would not write its bytes back as they were"
        return f"Written as {form.encoding.upper()}: {old.encoding}{guess} {why}."
    return ""
