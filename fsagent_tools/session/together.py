"""What is to become of several files, judged before any is written."""

from dataclasses import dataclass, field

from fsagent_tools.errors import BinaryFile, Conflict, EncodingError, ToolError
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
        moved, old = self.source, self.before
        head = []
        if moved:
            head, old = [f"rename {moved.told} -> {self.told}"], moved.before
        if self.after is None:
            return f"delete {self.told}"
        return "\n".join([*head, *filter(None, [compared(self.told, old or b"", self.after)])])


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


def check_written(host: Host, one: Planned, lint: Lint | None) -> None:
    """Raise what would keep the file from being written."""
    old = one.source or one
    if old.before is None or old.opaque or one.after in (None, old.before):
        return
    with editing(host, old.path, lint=lint) as edit:
        edit.target.check_writable()
        host.files.policy.check_size(one.told, len(edit.encoded(one.after or b"")))
        if edit.review:
            edit.review(edit.target.place, edit.utf8, one.after or b"")


def check_unchanged(host: Host, one: Planned) -> None:
    """Raise `Conflict` unless the file is as it was judged."""
    with host.files.lock(one.path, create_dirs=True) as target:
        if (target.read() if target.version else None) != one.raw:
            raise Conflict(
                f"{one.told} changed while the patch was judged. {NOTHING}", hint="Read it again."
            )
