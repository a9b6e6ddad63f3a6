"""grep: search the text of files by regex."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from fsagent_tools.errors import TimedOut, ToolError
from fsagent_tools.files.guarded import Directory
from fsagent_tools.globs import GLOBSTAR, Glob
from fsagent_tools.names import display
from fsagent_tools.search.contents import Unseen
from fsagent_tools.search.query import (
    UTF8_MAX,
    OutputLine,
    OutputMode,
    Query,
    in_any_form,
    regex_of,
)
from fsagent_tools.search.results import Hits, all_hits, searching
from fsagent_tools.search.ripgrep import Search
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import NOISE_TOO
from fsagent_tools.text import MAX_LINE_CHARS, some
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.documents import is_document, search_documents, unsearched
from fsagent_tools.toolkit.matches import (
    BYTES_OF_RESULTS,
    COUNTED,
    Matches,
    first_of,
    fitting,
)
from fsagent_tools.toolkit.media import DOCUMENTS

_MAX_RESULTS = 100
MAX_CONTEXT = 100
_TIMEOUT = 30.0
_NAMED = 3  # binary files of a note
_PLAIN = re.compile(r"[\w./*\[\]\\-]+", re.ASCII)  # means the same to ripgrep
_MOST_GLOBS = 50


class GrepParams(Params):
    pattern: str = Field(description="Regex")
    path: str = Field(".", description="File or directory to search")
    fixed: bool = Field(False, description="The pattern is plain text")
    include: str | None = Field(None, description="Glob of files to search, e.g. *.py")
    context: int = Field(0, ge=0, le=MAX_CONTEXT, description="Lines shown around each match")
    before: int = Field(0, ge=0, le=MAX_CONTEXT, description="Lines shown before each match")
    after: int = Field(0, ge=0, le=MAX_CONTEXT, description="Lines shown after each match")
    type: str | None = Field(None, description="File type, e.g. py")
    recursive: bool = Field(True, description="Search subdirectories")
    max_results: int = Field(_MAX_RESULTS, ge=1, description="Most matches shown")
    case_sensitive: bool = Field(True, description="Letter case counts")
    output_mode: OutputMode = Field(
        "content", description="Lines, files only, or matching lines per file"
    )
    multiline: bool = Field(False, description="Matches may span lines and . matches a newline")
    offset: int = Field(0, ge=0, description="Matches to skip")
    timeout: float = Field(_TIMEOUT, gt=0, description="Seconds")
    absolute: bool = Field(False, description="Absolute paths in results")
    include_hidden: bool = Field(False, description="Names that begin with a dot too")
    include_noise: bool = Field(False, description=NOISE_TOO)
    gitignore: bool = Field(False, description="Leave out what .gitignore names")
    documents: bool = Field(
        False, description="The text of PDF, office documents, books and notebook cells too"
    )
    ids: bool = Field(True, description="Show the line IDs of hits")
    mint: bool = Field(True, description="Give hits line IDs also in files that were never read")
    max_bytes: int = Field(BYTES_OF_RESULTS, ge=1, description="Bytes of results in one answer")


@action(effect=Effect.READ)
def grep(workspace: Workspace, params: GrepParams) -> Matches:
    """Search file contents by regex."""
    private = workspace.readable(params.path)
    if private is not workspace:
        workspace, params = private, params.changed(absolute=True)
    with searching(
        workspace.files,
        params.path,
        params.include,
        partial(_query, params, workspace.policy.max_file_size),
        seconds=params.timeout,
        keep=MAX_LINE_CHARS * UTF8_MAX,
        absolute=params.absolute,
        dotfiles=params.include_hidden,
    ) as it:
        unseen = None
        if isinstance(it.opened, Directory):
            unseen = Unseen(it.query, it.opened, it.start, it.glob)
            it.meanwhile = unseen.search
        hits, unread = _hits(workspace, it, params)
        found = _result(workspace, params, it.start, hits)
        whole = unread and not isinstance(it.opened, Directory)
        notes = unread if whole else [found.note, *unread]
        if hits.late:
            shown = found.render()
            so_far = f"Found so far:\n{shown}\n" if shown else "Nothing was found by then."
            raise TimedOut(
                f"The search ran longer than {params.timeout:g} s. {so_far}",
                hint="Search a smaller `path`. Or set `include`.",
                details=vars(found),
            )
        if unseen:
            notes += unseen.notes(() if params.documents or found.matches else DOCUMENTS)
        if it.by_python and not params.fixed and regex_of(params.pattern) != params.pattern:
            notes.append("ripgrep cannot search here: Python's `re` read the pattern.")
        if hits.unreadable:
            notes.append("Some files could not be read.")
        return replace(found, note=" ".join(filter(None, notes)))


def _hits(workspace: Workspace, it: Search, params: GrepParams) -> tuple[Hits, list[str]]:
    """In texts and, when they are asked for, in documents; and what was not searched."""

    def is_text(sub: str) -> bool:
        return it.accepts(sub) and not (params.documents and is_document(it.start.relative(sub)))

    def assumed(sub: str) -> str:
        return workspace.session.assumed(it.start.relative(sub))

    reason = "" if isinstance(it.opened, Directory) or params.documents else unsearched(it.opened)
    if reason:
        return Hits(), [reason]
    hits = all_hits(it, is_text, it.query.most, assumed)
    if params.documents:
        in_documents, unread = search_documents(it)
        hits.add(in_documents)
        return hits, unread
    return hits, []


def _query(params: GrepParams, max_file_size: int | str | None, glob: Glob | None) -> Query:
    regex = in_any_form(regex_of(params.pattern) if params.fixed else params.pattern)
    texts = glob.texts if glob else []
    plain = len(texts) <= _MOST_GLOBS and all(map(_PLAIN.fullmatch, texts))
    include = [text if text.startswith(GLOBSTAR) else f"/{text}" for text in texts if plain]
    return Query(
        regex,
        params.output_mode,
        params.case_sensitive,
        # a pattern that spells a newline can only match across lines
        multiline=params.multiline
        or "\n" in params.pattern
        or ("\\n" in params.pattern and not params.fixed),
        dotall=params.multiline,
        context=max(params.context, params.before, params.after),
        include=tuple(include),
        type=params.type or "",
        recursive=params.recursive,
        noise=params.include_noise,
        hidden=params.include_hidden or (glob is not None and glob.names_hidden),
        gitignore=params.gitignore,
        named=tuple(glob.literals) if glob else (),
        most=params.offset + params.max_results * COUNTED + 1,
        max_file_size=max_file_size if isinstance(max_file_size, int) else None,
    )


def _result(workspace: Workspace, params: GrepParams, start: Start, hits: Hits) -> Matches:
    matches = hits.matches()
    shown = matches[params.offset : params.offset + params.max_results]
    around = range(-(params.before or params.context), (params.after or params.context) + 1)
    shown = shown[: fitting(_sizes(start, hits, shown, around), params.max_bytes)]
    near = {(m.path, m.number + n) for m in shown for n in around}
    near -= {(m.path, m.number) for m in shown}
    others = [line for line in hits.lines if (line.path, line.number) in near]
    if params.output_mode == "content":
        ids = _line_ids(workspace, start, [*shown, *others], params)
        rows = [_row(start, line, ids) for line in shown]
        beside = [_row(start, line, ids) for line in others]
    else:
        counted = params.output_mode == "count"
        rows = [
            {"file": start.show(m.path)} | ({"count": m.number} if counted else {}) for m in shown
        ]
        beside = []
    truncated = len(matches) > params.offset + len(shown)
    note = _note(params, start, hits, len(matches) if truncated else 0, rows)
    return Matches(rows, len(rows), truncated, beside, note, workspace.style)


def _sizes(start: Start, hits: Hits, shown: list[OutputLine], around: range) -> Iterator[int]:
    """The bytes of each result with the lines around it that no earlier one has shown."""
    left = {(line.path, line.number): line for line in hits.lines}
    for m in shown:
        lines = [left.pop((m.path, m.number + n), None) for n in around]
        told = [f"{start.show(x.path)}:{x.number}:{x.shown}\n" for x in lines if x]
        yield len("".join(told).encode())


def _line_ids(
    workspace: Workspace, start: Start, lines: list[OutputLine], params: GrepParams
) -> dict[tuple[str, int], str]:
    texts: dict[str, dict[int, bytes]] = {}
    for line in lines:
        if not line.more:
            texts.setdefault(line.path, {})[line.number] = line.text
    ids: dict[tuple[str, int], str] = {}
    for path, numbered in texts.items():
        workspace.session.glimpsed(start.relative(path), numbered.values())
        if not params.ids:
            continue
        with suppress(ToolError):  # gone, changed or unreadable for an editor: shown without IDs
            tagged = workspace.tag_lines(start.relative(path), numbered, mint=params.mint)
            spelled = workspace.style.spelled
            ids |= {(path, n): name for n, line_id in tagged.items() if (name := spelled(line_id))}
    return ids


def _row(start: Start, line: OutputLine, ids: dict[tuple[str, int], str]) -> dict[str, Any]:
    row = {
        "file": start.show(line.path),
        "line": line.number,
        "content": line.shown,
    }
    line_id = ids.get((line.path, line.number))
    return row if line_id is None else {**row, "line_id": line_id}


def _note(
    params: GrepParams, start: Start, hits: Hits, total: int, rows: list[dict[str, Any]]
) -> str:
    notes = []
    if total:
        wide = " or path" * any(line.path for line in hits.lines)
        wide += ". Or set `include`" * (bool(wide) and not params.include)
        of = first_of(len(rows), total, params.offset + params.max_results * COUNTED)
        notes.append(f"{of}: use a narrower pattern{wide}.")
    elif not rows and not hits.late:
        notes.append(f"No match in {start.named(params.path)!r}.")
    for told, paths in (
        ("Binary, not searched", set() if rows else hits.binary - hits.unsearched),
        ("Not plain UTF-8, and too large or too many to be searched in full", hits.unsearched),
    ):
        if names := [display(start.show(path)) for path in sorted(paths)]:
            notes.append(f"{told}: {some(names, _NAMED)}.")
    return " ".join(notes)
