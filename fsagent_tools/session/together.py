"""Several files changed together: each judged before any is written, and all written, or none."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial

from fsagent_tools.call import CancelFlag, changed
from fsagent_tools.errors import BinaryFile, Conflict, EncodingError, ToolError
from fsagent_tools.files.guarded_file import LockedFile
from fsagent_tools.lines.diff import compared
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.session.editing import Host, Written, editing, overwrite
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


def write_together(host: Host, files: list[Planned], lint: Lint | None) -> list[Written]:
    """All of it, with every file held and still as it was judged; what fails takes it back.

    Nobody is asked any more, and what has begun is finished.
    """
    written = list[Written]()
    fresh = changed(watch=None, cancelled=CancelFlag())
    with fresh, _held(host, files) as targets, ExitStack() as back:
        for one in files:
            if one.source:
                _moved(host, one.source, one, targets)
                back.callback(_moved, host, one, one.source, targets)
        for one in files:
            target, source = targets[one.path], one.source or one
            there = target.version is not None
            if one.after is not None and (one.after != source.before or not there):
                written.append(overwrite(host, target, one.after, None, lint))
                back.callback(_restored, target, source.raw if there else None)
        for one in files:
            if one.after is None:
                targets[one.path].remove()
                back.callback(_restored, targets[one.path], one.raw)
                host.session.forget(one.path, gone=True)
        back.pop_all()
    return written


def _moved(host: Host, old: Planned, new: Planned, targets: dict[str, LockedFile]) -> None:
    targets[old.path].move(targets[new.path])
    host.session.move(old.path, new.path)


def _restored(target: LockedFile, raw: bytes | None) -> None:
    if raw is not None:
        target.write(raw, expect=target.version)
    else:
        target.remove()


@contextmanager
def _held(host: Host, files: list[Planned]) -> Iterator[dict[str, LockedFile]]:
    """Every file of the patch under its lock, in one order whoever asks."""
    ends = {one.path: one for each in files for one in (each.source, each) if one}
    with ExitStack() as held:
        lock = partial(host.files.lock, create_dirs=True)
        targets = {path: held.enter_context(lock(path)) for path in sorted(ends)}
        for path, target in targets.items():
            if (target.read() if target.version else None) != ends[path].raw:
                raise Conflict(
                    f"{ends[path].told} changed while the patch was judged. {NOTHING}",
                    hint="Read it again.",
                )
        yield targets
