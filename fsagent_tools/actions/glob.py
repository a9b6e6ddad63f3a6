"""glob: find files by the pattern of their paths."""

from dataclasses import dataclass
from typing import Literal

from fsagent_tools.names import display
from fsagent_tools.search.scan import Kind, PathSearch
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import NOISE_TOO, Scope, Walk
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.matches import COUNTED, first_of, fitting

_MAX_RESULTS = 100


class GlobParams(Params):
    pattern: str = Field(
        description="e.g. src/**/*.py; without a slash it matches names at any depth"
    )
    path: str = Field(".", description="Directory to search")
    kind: Kind = Field("file", description="What to list")
    sort: Literal["name", "mtime"] = Field("name", description="Order: by name, or newest first")
    absolute: bool = Field(False, description="Absolute paths in results")
    max_results: int = Field(_MAX_RESULTS, ge=1, description="Most paths listed")
    include_hidden: bool = Field(False, description="Names that begin with a dot too")
    include_noise: bool = Field(False, description=NOISE_TOO)
    follow_symlinks: bool = Field(
        False, description="Enter linked directories inside the workspace"
    )
    gitignore: bool = Field(False, description="Leave out what .gitignore names")


@dataclass(frozen=True)
class Paths:
    """`files` in order; `truncated` when there were more; `note` says what to know about it."""

    files: list[str]
    count: int
    truncated: bool
    note: str

    def render(self) -> str:
        return "\n".join(map(display, self.files))


@action(effect=Effect.READ)
def glob(workspace: Workspace, params: GlobParams) -> Paths:
    """Find files by path pattern."""
    with workspace.files.directory(params.path) as directory:
        start = Start(directory.place, workspace.files, params.absolute)
        pattern = start.glob("pattern", params.pattern, dotfiles=params.include_hidden)
        scope = Scope(
            hidden=params.include_hidden or pattern.names_hidden,
            noise=params.include_noise,
            gitignore=params.gitignore,
            named=pattern.literals,
            lead=pattern.lead,
            depth=pattern.depth,
        )
        walk = Walk(directory, scope, start, follow=params.follow_symlinks)
        search = PathSearch(start, pattern, params.kind)
        hits = (
            search.newest(walk)
            if params.sort == "mtime"
            else search.first(walk, params.max_results * COUNTED + 1)
        )
    shown = [start.show(sub) for sub in hits[: params.max_results]]
    shown = shown[: fitting(len(path.encode()) + 1 for path in shown)]
    truncated = len(hits) > len(shown)
    notes = []
    if truncated:
        counted = len(hits) if params.sort == "mtime" else params.max_results * COUNTED
        of = first_of(len(shown), len(hits), counted)
        notes.append(f"{of}: use a narrower pattern or path.")
    if not shown:
        notes.append(f"No match for {params.pattern!r} in {start.named(params.path)!r}.")
    named = start.glob("pattern", params.pattern, dotfiles=True)
    note = " ".join([*notes, *walk.left_out(named.matches)])
    return Paths(shown, len(shown), truncated, note)
