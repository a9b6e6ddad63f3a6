"""What is to become of several files, judged before any is written."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from fsagent_tools.errors import AlreadyExists, BinaryFile, Conflict, EncodingError, ToolError
from fsagent_tools.lines.diff import compared
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.session.editing import Host, editing
from fsagent_tools.session.review import Lint


@dataclass
class Planned:
    """One file, as it was and as it is to be; None where there is none.

    raw: what is on disk; the rest is UTF-8. source: where it was before. opaque: why it has no
    text. notes: what was done to new text, or how it was found.
    """

    path: str
    told: str
    raw: bytes | None = None
    before: bytes | None = None
    after: bytes | None = None
    source: "Planned | None" = None
    opaque: ToolError | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def diff(self) -> str:
        moved, old, gone = self.source, self.before, f"delete {self.told}"
        if self.after is None:
            return gone
        head = []
        if moved:
            head = [gone] if old is not None else []
            head.append(f"rename {moved.told} -> {self.told}")
            old = moved.before
        return "\n".join(filter(None, (*head, compared(self.told, old or b"", self.after))))

    def add(self, text: bytes) -> None:
        """Raises `AlreadyExists`."""
        if self.after is not None:
            raise AlreadyExists(
                f"{self.told} is to be added and already exists. {NOTHING}",
                hint="Use '*** Update File', or '*** Delete File' before it in the patch.",
            )
        self.after = text

    def move(self, new: "Planned") -> None:
        """Raises `AlreadyExists`."""
        if new is self:
            return
        if new.after is not None:
            raise AlreadyExists(
                f"{self.told} is to be moved to {new.told}, which already exists. {NOTHING}",
                hint="Choose another path, or delete that one before it in the patch.",
            )
        new.after, self.after = self.after, None
        new.notes, self.notes = self.notes, []
        new.source = self if self.before is not None else None


def planned(host: Host, known: dict[str, Planned], path: str) -> Planned:
    """The file at a path, read when it is first named, by whatever name."""
    with host.files.lock(path, create_dirs=True) as target:
        real, told = target.place.relative, target.place.told
        raw = target.read() if target.version else None
    if real in known:
        return known[real]
    one = known[real] = Planned(real, told, raw, raw, raw)
    if raw is not None:
        try:
            with editing(host, path) as edit:
                one.before = one.after = edit.utf8
        except (BinaryFile, EncodingError) as error:
            one.opaque = error
    return one


def changes(files: Iterable[Planned]) -> list[Planned]:
    """Those of which something becomes; a move is one only from a path that stays empty."""
    taken = list[Planned]()
    for one in files:
        source = one.source
        if source and one.after is not None and source.after is None and source not in taken:
            taken.append(source)
        else:
            one.source = None
    found = [one for one in files if one.before != one.after or one.source]
    return [one for one in found if one.after is not None or one not in taken]


def check_written(host: Host, one: Planned, lint: Lint | None) -> None:
    """Raise what would keep the file from being written."""
    old = one.source or one
    if old.before is None or old.opaque or one.after in (None, old.before):
        return
    with editing(host, old.path, lint=lint) as edit:
        edit.check(one.after or b"")


def check_unchanged(host: Host, one: Planned) -> None:
    """Raise `Conflict` unless the file is as it was judged."""
    with host.files.lock(one.path, create_dirs=True) as target:
        if (target.read() if target.version else None) != one.raw:
            raise Conflict(
                f"{one.told} changed while the patch was judged. {NOTHING}", hint="Read it again."
            )
