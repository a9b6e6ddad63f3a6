"""The guarded files of this machine, and what the history needs of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fsagent_tools import errors
from fsagent_tools.effects import Effect
from fsagent_tools.files import refusals
from fsagent_tools.files.disk import LocalStore
from fsagent_tools.files.guard import LockedFile
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.handle import LocalHandle
from fsagent_tools.files.keeping import EntrySlot, Recording
from fsagent_tools.files.locks import hold_all
from fsagent_tools.files.port import TIMEOUT
from fsagent_tools.policy import Policy


class LocalFiles(GuardedFiles):
    """Files beneath a directory of this machine. Constructing one does no IO.

    walk: never use openat2, always the walk by hand (what other systems do).
    durable: sync written files and their directories before a write returns.
    recording: tells what keeps the old state of files, asked when something changes; default
    nothing.
    """

    local_root: Path
    store: LocalStore

    def __init__(  # noqa: PLR0913
        self,
        root: str | Path,
        policy: Policy,
        *,
        durable: bool = False,
        walk: bool = False,
        virtual: bool = False,
        recording: Recording | None = None,
    ) -> None:
        given, opened = str(root), policy.opened
        store = LocalStore(given, opened, durable=durable, walk=walk, recording=recording)
        super().__init__(store, policy, virtual=virtual)
        self.local_root = Path(root)

    def under(self, policy: Policy, *, virtual: bool = False) -> "LocalFiles":
        """The same files, used by another policy and by such paths."""
        old = self.store
        files = LocalFiles(
            self.local_root, policy, durable=old.durable, walk=old._walks, virtual=virtual,
            recording=old.recording,
        )  # fmt: skip
        if policy.opened == self.policy.opened:
            files.store = old
        return files

    @contextmanager
    def slots(self, directory: str, names: Sequence[str]) -> Iterator[list[EntrySlot]]:
        """Names in a real directory, "" for the root, held for what keeps the history.

        Raises `Missing` where the directory is gone, `Conflict` where a link leads elsewhere, and
        `PathDenied`.
        """
        path = f"{directory}/{names[0]}" if directory else names[0]
        with self._at(path, Effect.WRITE, follow=False) as found:
            assert isinstance(found, LocalHandle)
            if len(found.missing) != 1:
                raise refusals.no_directory_of(path)
            if found.place.relative != path:
                raise errors.Conflict(f"{refusals.shown(directory)} is another directory now.")
            above = self._place(path, found.above)
            slots = [EntrySlot(found.fd, name, above.inside(name)) for name in names]
            for slot in slots:
                self._allow(slot.place, Effect.WRITE)
            with hold_all([(found.fd, name) for name in names], path, TIMEOUT):
                yield slots

    def target(self, slot: EntrySlot) -> LockedFile:
        """The file of a slot that is held."""
        handle = LocalHandle(
            self.store, slot.fd, slot.place.absolute.rpartition("/")[0], [slot.name]
        )
        handle.place = slot.place
        return LockedFile(handle, self.policy)
