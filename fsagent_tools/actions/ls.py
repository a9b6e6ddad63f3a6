"""ls: list a directory."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fsagent_tools.files.base import Listed
from fsagent_tools.files.errors import printable
from fsagent_tools.globs import GLOBSTAR, Glob
from fsagent_tools.names import display
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import NOISE_TOO, Listing, Scope, Walk, order
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.matches import fitting

MAX_ENTRIES = 2_000


class LsParams(Params):
    path: str = Field(".", description="Directory to list")
    recursive: bool = Field(False, description="List subdirectories too")
    pattern: str | None = Field(None, description="Glob of entries to list")
    include_hidden: bool = Field(False, description="Names that begin with a dot too")
    include_noise: bool = Field(False, description=NOISE_TOO)
    sizes: bool = Field(False, description="Sizes of files in bytes")
    absolute: bool = Field(False, description="Absolute paths as names")
    max_results: int = Field(MAX_ENTRIES, ge=1, description=f"Most entries (default {MAX_ENTRIES})")


@dataclass(frozen=True)
class Entries:
    """`entries` are {name, type, size where asked for}, directories first.

    type: "directory", "file", "symlink" (dangling, or to the outside) or "other".
    """

    entries: list[dict[str, Any]]
    count: int
    truncated: bool
    note: str

    def render(self) -> str:
        return "\n".join(map(rendered, self.entries))


def rendered(entry: dict[str, Any]) -> str:
    """One entry as a line: `src/`, `README.md`, `README.md (1,204 bytes)`."""
    mark = {"directory": "/", "symlink": "@"}.get(entry["type"], "")
    size = f" ({entry['size']:,} bytes)" if entry.get("size") is not None else ""
    return f"{display(entry['name'])}{mark}{size}"


@action(effect=Effect.READ, permissions=("fs.list",))
def ls(workspace: Workspace, params: LsParams) -> Entries:
    """List a directory."""
    with workspace.files.directory(params.path) as directory:
        start = Start(directory.place, workspace.files, params.absolute)
        wanted = params.pattern or GLOBSTAR
        glob = start.glob("pattern", wanted, dotfiles=params.include_hidden)
        scope = Scope(
            hidden=params.include_hidden or glob.names_hidden,
            noise=params.include_noise,
            named=glob.literals,
            depth=None if params.recursive else 1,
        )
        walk = Walk(directory, scope, start)
        found = [
            entry for listing in walk for entry in _entries(listing, start, glob, params.sizes)
        ]
    found.sort(key=lambda entry: (entry["type"] != "directory", order(entry["name"])))
    shown = found[: params.max_results]
    whole = params.absolute or (params.recursive and workspace.files.virtual)  # paths, not names
    for entry in shown:
        entry["name"] = start.show(entry["name"]) if whole else printable(entry["name"])
    shown = shown[: fitting(len(rendered(entry).encode()) + 1 for entry in shown)]
    named = start.glob("pattern", wanted, dotfiles=True)
    note = _note(params, start, walk.left_out(named.matches), len(shown), len(found))
    return Entries(shown, len(shown), len(found) > len(shown), note)


def _entries(listing: Listing, start: Start, glob: Glob, sizes: bool) -> Iterator[dict[str, Any]]:
    prefix, allows = listing.prefix, start.allows
    matches = glob.name_matcher(prefix)
    for inner in listing.directories:
        if matches(inner.name):
            yield {"name": prefix + inner.name, "type": "directory"}
    for entry in listing.entries:
        if not matches(entry.name) or not allows(prefix + entry.name):
            continue
        found: dict[str, Any] = {"name": prefix + entry.name, "type": _type(entry, prefix, start)}
        if sizes and found["type"] == "file":
            found["size"] = _size(entry)
        yield found


def _type(entry: Listed, prefix: str, start: Start) -> str:
    if entry.is_file(follow_symlinks=False):
        return "file"
    if not entry.is_symlink():
        return "other"
    kind = start.target_kind(prefix + entry.name)
    return kind if kind in ("file", "directory") else "symlink"


def _size(entry: Listed) -> int | None:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return None


def _note(params: LsParams, start: Start, left_out: list[str], shown: int, count: int) -> str:
    notes = []
    if count > shown:
        notes.append(f"First {shown:,} of {count:,} entries. Use `glob` for others.")
    if not count:
        notes.append(f"Nothing to list in {start.named(params.path)!r}.")
    return " ".join([*notes, *left_out])
