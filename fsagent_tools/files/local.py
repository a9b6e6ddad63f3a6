"""The guarded files of this machine."""

from pathlib import Path

from fsagent_tools.files.disk import LocalStore
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.keeping import Recording
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
