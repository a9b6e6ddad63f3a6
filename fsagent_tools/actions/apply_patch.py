"""Apply a patch of several files: judged whole, then written."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Literal, NamedTuple

from fsagent_tools.call import PendingChange, changed, patience
from fsagent_tools.edits.matching import LOOKING, Choice, Evidence, Haystack, Match
from fsagent_tools.edits.messages import Telling, find_or_tell, lines_as_are, without_names
from fsagent_tools.edits.replace import Found, find
from fsagent_tools.encoding import encoded
from fsagent_tools.errors import (
    ActionDenied,
    InvalidArguments,
    InvalidChange,
    Missing,
    MultipleMatches,
    NoMatch,
    ToolError,
)
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.lines.source import indentation
from fsagent_tools.session.editing import Written
from fsagent_tools.session.planned import (
    Planned,
    changes,
    check_unchanged,
    check_written,
    planned,
)
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.text import newline_of
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.all_or_none import as_one
from fsagent_tools.toolkit.edited import of_sent
from fsagent_tools.workspace import lazy

Seek = Callable[[bytes, str, str, Choice], Found]  # of a quote in a text

BEGIN, END = "*** Begin Patch", "*** End Patch"
MOVE, END_OF_FILE = "*** Move to: ", "*** End of File"
_HEADS: dict[str, Literal["add", "delete", "update"]] = {
    "*** Add File: ": "add",
    "*** Delete File: ": "delete",
    "*** Update File: ": "update",
}
_WRAPPED = re.compile(r"```\w*|(?:apply_?patch\s*)?<<-?\s*(['\"]?)\w+\1")  # as in a shell, a page
_NUMBERS = re.compile(r"-\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?")  # of a unified diff
_MORE = "Give more of the lines around it, or before it '@@ ' and the function it is in."


class PatchHunk(NamedTuple):
    """Lines as they are and as they become; anchors: lines above them, the outermost first.

    at_end: the lines end the file.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    anchors: tuple[str, ...] = ()
    at_end: bool = False


class FilePatch(NamedTuple):
    """What becomes of one file. text: of a new one. target: its new path, "" to stay."""

    verb: Literal["add", "delete", "update"]
    path: str
    text: str = ""
    target: str = ""
    hunks: tuple[PatchHunk, ...] = ()


class _Lines:
    """The lines of a patch, read from the first to the last."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines, self.at = lines, 0

    @property
    def next(self) -> str:
        return self.lines[self.at] if self.at < len(self.lines) else END

    def while_in(self, first: str) -> Iterator[str]:
        """The lines that begin with one of the characters; an empty line counts as a blank."""
        while ((line := self.next) or " ")[0] in first:
            self.at += 1
            yield line

    def refused(self, what: str, hint: str) -> InvalidArguments:
        shown = f" Line {self.at + 2} reads {self.next[:80]!r}." * (self.at < len(self.lines))
        return InvalidArguments(f"{what}{shown} Nothing was written.", hint=hint)


def parse_patch(patch: str) -> list[FilePatch]:
    """The parts of a patch. Raises `InvalidArguments`, which names the line."""
    lines = patch.replace("\r\n", "\n").strip().split("\n")
    if len(lines) > 2 and _WRAPPED.fullmatch(lines[0].strip()):
        lines = "\n".join(lines[1:-1]).strip().split("\n")
    if "\0" in patch:
        raise InvalidArguments("The patch has a NUL character. Nothing was written.")
    for mark, line in ((BEGIN, lines[0]), (END, lines[-1])):
        if line.strip() != mark:
            where = "begin" if mark == BEGIN else "end"
            raise InvalidArguments(
                f"The patch does not {where} with the line {mark!r}. Nothing was written.",
                hint=f"Send it whole, from {BEGIN!r} to {END!r}.",
            )
    source, files = _Lines(lines[1:-1]), list[FilePatch]()
    while source.at < len(source.lines):
        if source.next.strip():
            files.append(_file(source))
        else:
            source.at += 1
    if not files:
        raise InvalidArguments(
            "The patch has no file in it. Nothing was written.",
            hint="After the first line comes '*** Update File: path' or another one like it.",
        )
    return files


def _file(source: _Lines) -> FilePatch:
    head = source.next.strip()
    mark = next((mark for mark in _HEADS if head.startswith(mark)), "")
    path = head.removeprefix(mark).strip()
    if not mark or not path:
        raise source.refused(
            "A file of the patch begins with '*** Add File: path', '*** Delete File: path' or "
            "'*** Update File: path'.",
            "Lines of a file begin with +, - or a blank.",
        )
    source.at += 1
    if _HEADS[mark] == "delete":
        return FilePatch("delete", path)
    if _HEADS[mark] == "add":
        added = [line[1:] for line in source.while_in("+")]
        return FilePatch("add", path, "".join(f"{line}\n" for line in added))
    target = ""
    if (line := source.next.strip()).startswith(MOVE):
        target = line.removeprefix(MOVE).strip()
        source.at += 1
    parts = [*_hunks(source)]
    hunks = tuple(part for part in parts if part.old != part.new)
    if parts and not hunks and not target:
        raise InvalidArguments(
            f"The patch changes nothing in {path}: its old and new lines are the same. {NOTHING}",
            hint="Put - before the lines that go, and + before those that come.",
        )
    if not hunks and not target:
        raise source.refused(
            f"The patch says to update {path}, but not how.",
            "After '@@' come the old lines, with - or a blank before each, and new ones with +.",
        )
    return FilePatch("update", path, "", target, hunks)


def _hunks(source: _Lines) -> Iterator[PatchHunk]:
    while not (line := source.next).strip().startswith("***"):
        anchors, lines = tuple(_anchors(source)), [*source.while_in("+- ")]
        ended = source.next.strip() == END_OF_FILE
        source.at += ended
        while lines and not lines[-1]:
            lines.pop()  # blank lines before what comes next
        if not (source.next or END).startswith(("@@", "***")) or not (lines or line == ""):
            raise source.refused(
                "A line of a patch begins with +, - or a blank.",
                "Put one of them before every line of the file; the blank before what stays.",
            )
        old = tuple(line[1:] for line in lines if line[:1] != "+")
        new = tuple(line[1:] for line in lines if line[:1] != "-")
        yield PatchHunk(old, new, anchors, ended)


def _anchors(source: _Lines) -> Iterator[str]:
    while (line := source.next).startswith("@@"):
        source.at += 1
        if told := _NUMBERS.sub("", line[2:].strip()).strip().removesuffix(" @@"):
            yield told


def put_hunk(
    text: bytes, hunks: Sequence[PatchHunk], after: int, seek: Seek
) -> tuple[bytes, int, Found]:
    """The text with the first of the hunks in it, the line behind it, and how it was found.

    after: the line behind the hunk before it. Raises what `seek` does, and `InvalidArguments` for
    new lines that nothing gives a place.
    """
    hunk = hunks[0]
    old, new = ["\n".join(lines) for lines in (hunk.old, hunk.new)]
    added = b""
    if not hunk.old and text:
        if not hunk.at_end:
            raise InvalidArguments(
                f"The part has new lines only, and nothing says where they go. {NOTHING}",
                hint="Give the line above or below them as it stands, with a blank before it; or "
                "end it with '*** End of File' to append.",
            )
        old = _last_lines(text)
        new = "\n".join([old, *hunk.new])
    elif not hunk.new:
        old += "\n"  # the lines go with their ends, and a last one without an end has one meanwhile
        ending = b"\r\n" if b"\r\n" in text else newline_of(text)
        added = b"" if text.endswith(ending) else ending
    elif not hunk.old:
        new += "\n"
    text += added
    blocks = _blocks(Haystack(text).every, hunk.anchors)
    try:
        found = seek(text, old, new, partial(_among, hunks, after, blocks))
    except MultipleMatches as error:
        error.message += _undecided(error, hunk, blocks)
        raise
    for part in found.hunks:
        if not any(block.start <= part.start <= block.stop for block in blocks):
            raise NoMatch(
                f"Its lines are at line {part.start + 1}, which is not within "
                f"'@@ {hunk.anchors[-1]}'. {NOTHING}",
                hint="Give the class or function that they are in, or '@@' alone.",
            )
    growth = sum(part.growth for part in found.hunks)
    behind = max((part.stop for part in found.hunks), default=after) + growth
    return found.apply(text).removesuffix(added), behind, found


def _undecided(error: MultipleMatches, hunk: PatchHunk, blocks: Sequence[range]) -> str:
    """Why its last anchor does not tell several places apart."""
    if not hunk.anchors:
        return ""
    inside = any(line - 1 in block for line in error.details["lines"] for block in blocks)
    which = "each" if inside else "none"
    return f" '@@ {hunk.anchors[-1]}' does not decide: {which} of them is below it."


def _last_lines(text: bytes) -> str:
    """From the last one that is not blank."""
    lines = Haystack(text).every
    first = next((n for n in range(len(lines) - 1, -1, -1) if lines[n].strip()), 0)
    return b"\n".join(lines[first:]).decode()


def _among(
    hunks: Sequence[PatchHunk],
    after: int,
    blocks: Sequence[range],
    text: Haystack,
    found: list[Match],
) -> list[Match]:
    """The places that the first hunk may mean: all where neither order nor anchors decide."""
    hunk = hunks[0]
    if hunk.at_end:
        last = [one for one in found if not any(map(bytes.strip, text.every[one.stop :]))]
        if not last:
            raise InvalidChange(
                f"The old lines are at line {found[0].start + 1} and do not end the file, as "
                f"{END_OF_FILE!r} says.",
                hint=f"Give its last lines, or leave out {END_OF_FILE!r}.",
            )
        found = last
    elif hunk.anchors:
        found = [one for one in found if any(one.start in block for block in blocks)] or found
    if len(found) > 1 and after:
        found = [one for one in found if one.start >= after] or found
    alike = sum(one.old == hunk.old for one in hunks)  # as many places: one each, in their order
    return found[:1] if len(found) == alike else found


def _blocks(lines: Sequence[bytes], anchors: Iterable[str]) -> list[range]:
    """What lies beneath the lines that the anchors quote, each one within the one before it."""
    blocks = [range(len(lines))]
    for anchor in anchors:
        told = anchor.strip().encode(errors="replace")
        inside = [n for block in blocks for n in block]
        heads = [n for n in inside if lines[n].strip() == told]
        heads = heads or [n for n in inside if lines[n].strip().startswith(told)]
        if not heads:
            raise NoMatch(
                f"'@@ {anchor}' is no line of the file. {NOTHING}",
                hint="Give the class or function as its line begins, or '@@' alone.",
            )
        blocks = [_block(lines, head) for head in heads]
    return blocks


def _block(lines: Sequence[bytes], head: int) -> range:
    """A line and those below it that are deeper, with what closes its brackets; or all below it."""
    depth, stop = len(indentation(lines[head]).expandtabs()), head + 1
    deeper = False
    while stop < len(lines):
        line = lines[stop].strip()
        inner = len(indentation(lines[stop]).expandtabs()) > depth
        if line and not inner and line[:1] not in b"{}()[]":
            break
        deeper |= bool(line) and inner
        stop += 1
    return range(head, stop if deeper else len(lines))


class ApplyPatchParams(Params):
    patch: str = Field(
        description="*** Begin Patch, files, *** End Patch. A file: *** Add File: path and + lines,"
        " *** Delete File: path, or *** Update File: path, perhaps *** Move to: path, then parts:"
        " @@ class or function it is in, and lines after - (old), + (new) or a space (stay: three"
        " on both sides)."
    )
    lint: Lint | None = Field(None, description=LINT)


@dataclass(frozen=True)
class Patched:
    """What a patch did: the paths that were added, deleted, changed, or moved, and the diff."""

    added: list[str]
    deleted: list[str]
    updated: list[str]
    moved: list[tuple[str, str]]
    diff: str
    notes: list[str]
    _broken: tuple[str, ...] = ()

    def render(self) -> str:
        return "\n".join([*self.notes, of_sent(self.diff), *self._broken])


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write", "fs.delete"), risk="high")
def apply_patch(workspace: Workspace, p: ApplyPatchParams) -> Patched:
    """Change, add, move and delete files by a patch, all or nothing."""
    try:
        files = _judged(workspace, parse_patch(p.patch), p.lint)
        _check_deleting(workspace, files)
    except ToolError as error:
        if NOTHING not in error.message:
            error.message += f" {NOTHING}"
        raise
    told = "\n".join(one.diff for one in files)
    written = _written(workspace, files, told, p.lint)
    stays = [one for one in files if not one.source]
    return Patched(
        [one.told for one in stays if one.before is None],
        [one.told for one in stays if one.after is None],
        [one.told for one in stays if None not in (one.before, one.after)],
        [(one.source.told, one.told) for one in files if one.source],
        told,
        [f"{one.told}: {note}." for one in files for note in one.notes],
        tuple(f"{one.path}: {one.broken}" for one in written if one.broken),
    )


def _written(
    workspace: Workspace, files: list[Planned], told: str, lint: Lint | None
) -> list[Written]:
    state = tuple(
        (one.path, sha256(b"\0".join([one.diff.encode(), *_shown_without_text(one)])).hexdigest())
        for one in files
    )
    ends = {one.path: one for each in files for one in (each.source, each) if one}
    change = PendingChange("patch", tuple(one.told for one in files), state=state, told=told)
    written, done = list[Written](), list[str]()
    with as_one(workspace, change, done, several=len(ends) > 1):
        for _, one in sorted(ends.items()):  # in one order whoever does it
            check_unchanged(workspace, one)
        for one in files:
            if one.source:
                _moved(workspace, one.source.path, one)
                done.append(f"{one.source.told} -> {one.told}")
        for one in files:
            if one.after is not None and one.after != (one.source or one).before:
                written.append(workspace.write(one.path, one.after, lint=lint))
                done.append(one.told)
        for one in files:
            if one.after is None:
                workspace.remove(one.path)
                done.append(one.told)
    return written


def _shown_without_text(one: Planned) -> Iterator[bytes]:
    """What goes or moves, whose diff does not tell what is in it."""
    for side in (one, one.source):
        if side and (one.source or side.after is None):
            yield side.raw or b""


def _moved(workspace: Workspace, old: str, new: Planned) -> None:
    if above := new.path.rpartition("/")[0]:
        workspace.files.make_directory(above)
    workspace.move(old, new.path, overwrite=new.raw is not None)


def _check_deleting(workspace: Workspace, files: list[Planned]) -> None:
    """Whoever is asked about deleting only is not asked about a patch."""
    asked, gone = workspace.approve_effects, [one for one in files if one.after is None]
    if gone and Effect.DELETE in asked and Effect.WRITE not in asked:
        raise ActionDenied(
            f"A patch may not delete files here, as it would {gone[0].told}. {NOTHING}",
            hint="Delete it with `rm`.",
        )


def _judged(workspace: Workspace, parts: list[FilePatch], lint: Lint | None) -> list[Planned]:
    """What becomes of each file; nothing is made on the way. Raises a `ToolError`."""
    known: dict[str, Planned] = {}
    with changed(dry=True):
        for part in parts:
            _plan(workspace, known, part)
        for one in known.values():
            check_written(workspace, one, lint)
    files = changes(known.values())
    if not files:
        raise InvalidArguments(f"Nothing would change: the files are like that. {NOTHING}")
    return files


def _plan(workspace: Workspace, known: dict[str, Planned], part: FilePatch) -> None:
    one = planned(workspace, known, part.path)
    if part.verb == "add":
        return one.add(encoded(part.text, "patch"))
    if one.after is None:
        workspace.files.place(part.path)  # finds the words for what is missing
        raise Missing(f"{one.told} is deleted by the same patch. {NOTHING}")
    if (part.verb == "delete" or part.target) and one.raw is not None:
        _refuse_link(workspace, part.path, one.told)
    if part.verb == "delete":
        one.after = None
        return None
    _update(workspace, one, part.hunks)
    return one.move(planned(workspace, known, part.target)) if part.target else None


def _refuse_link(workspace: Workspace, path: str, name: str) -> None:
    """What a link leads to is not what goes when it is deleted or moved."""
    if workspace.files.stat(path).is_symlink:
        raise InvalidArguments(
            f"{path} is a link to {name}. {NOTHING}", hint=f"Name {name} if that is meant."
        )


def _update(workspace: Workspace, one: Planned, hunks: tuple[PatchHunk, ...]) -> None:
    if one.opaque and hunks:
        raise one.opaque
    judge = lazy.lint.judge(one.path)
    evidence = Evidence(parses=judge, name=one.path, whole_lines=True)
    after = 0
    for number in range(1, len(hunks) + 1):
        text = one.after or b""
        seek = partial(_sought, evidence)
        try:
            one.after, after, found = put_hunk(text, hunks[number - 1 :], after, seek)
        except ToolError as error:
            where = f"{one.told}, part {number}" if len(hunks) > 1 else one.told
            raise without_names(error, where, _MORE) from None
        exact = found.strategy in ("exact", "line_endings")
        matched = "" if exact else f"no exact match; matched by {found.strategy.replace('_', ' ')}"
        how = ", ".join(filter(None, (matched, found.how)))
        one.notes += [f"part {number}, {how}"] * bool(how)


def _sought(evidence: Evidence, text: bytes, old: str, new: str, among: Choice) -> Found:
    check = patience(LOOKING, "Looking for the lines")
    seek = partial(find, text, old, new, evidence=evidence._replace(check=check, among=among))
    again = patience(2 * LOOKING, "Looking for similar lines")
    return find_or_tell(seek, text, old, Telling(partial(lines_as_are, text), again))
