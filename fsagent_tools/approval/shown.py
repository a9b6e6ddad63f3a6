"""How a change that waits for approval is told to a person, and known again."""

from collections.abc import Iterator
from hashlib import sha256

from fsagent_tools.call import PendingChange
from fsagent_tools.encoding import decode
from fsagent_tools.errors import ToolError
from fsagent_tools.lines.diff import compared
from fsagent_tools.lines.hunks import Hunk, refine
from fsagent_tools.names import display
from fsagent_tools.runtime.recent import Recent

LISTED = 20  # entries of a tree that a request names
VERBS = {
    "write": "overwrite",
    "mkdir": "new directory",
    "move": "rename",
    "copy": "copy",
    "remove": "delete",
    "undo": "take back",
    "redo": "take back an undo of",
}


def describe(change: PendingChange) -> str:
    """A unified diff of a write but over a huge file; else what happens to which entries."""
    if change.told:
        return change.told
    if change.verb == "write" and not change.replaces:
        return _diff(change)
    paths = [*map(display, change.paths)]
    lines = [f"{VERBS[change.verb]} {' -> '.join(paths)}"]
    if change.replaces:
        lines.append(f"replaces {paths[-1]}")
    lines += [f"  {display(name)}" for name in change.members[:LISTED]]
    if len(change.members) > LISTED:
        lines.append(f"  and {len(change.members) - LISTED:,} more entries")
    return "\n".join(lines)


class Origins:
    """What texts were before approved changes, in this process: by hash of what they are now."""

    def __init__(self) -> None:
        self._known = Recent(1000)

    def of(self, path: str, content: bytes) -> str:
        now = sha256(content).hexdigest()
        return self._known.find((path, now)) or now

    def keep(self, change: PendingChange) -> None:
        """Note it before this approved change, for `fingerprint`."""
        if change.before is not None and change.after is not None:
            path, new = change.paths[0], sha256(change.after).hexdigest()
            self._known.keep((path, new), self.of(path, change.before))


def fingerprint(change: PendingChange, origins: Origins) -> str:
    """The same in every process, as long as the change and what it starts from are the same.

    A text counts as what it was before approved changes, so an edit is still the same one, of the
    same lines, after approved edits of others.
    """
    if change.before is None:
        after = change.after and sha256(change.after).hexdigest()
        return digest((change.verb, change.paths, after, change.state))
    start = origins.of(change.paths[0], change.before)
    return digest((change.verb, change.paths, start, [*_lines(change)]))


def digest(facts: object) -> str:
    return sha256(repr(facts).encode(errors="surrogatepass")).hexdigest()


def _lines(change: PendingChange) -> Iterator[tuple[list[bytes], tuple[bytes, ...]]]:
    """The lines that go and those that come, byte for byte, without where they are."""
    old = (change.before or b"").splitlines(keepends=True)
    new = (change.after or b"").splitlines(keepends=True)
    for hunk in refine(Hunk(0, len(old), tuple(new)), old):
        yield old[hunk.start : hunk.stop], hunk.new


def _diff(change: PendingChange) -> str:
    path = change.paths[0]
    try:
        old, new = (decode(raw or b"", path).utf8 for raw in (change.before, change.after))
    except ToolError:
        sizes = " -> ".join(f"{len(raw or b''):,}" for raw in (change.before, change.after))
        return f"Binary file {display(path)} ({sizes} bytes)"
    return compared(path, old, new)
