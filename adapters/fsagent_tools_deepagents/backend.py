"""Files and commands as deepagents has them, and one call that puts them into a deep agent."""

from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from datetime import UTC, datetime
from functools import partial, wraps
from mimetypes import guess_type
from pathlib import Path
from typing import Any
from uuid import uuid4

from deepagents.backends import CompositeBackend, protocol
from deepagents.backends.protocol import FileData, FileInfo, ReadResult
from langgraph.runtime import get_runtime

from fsagent_tools import ToolError, Workspace, Workspaces, awaited
from fsagent_tools.errors import BinaryFile, ConfigInvalid, Denied, InvalidArguments, InvalidPath
from fsagent_tools.types import AnyToolset, WorkspaceSource
from fsagent_tools_langchain import FsAgentMiddleware, interrupt_on
from fsagent_tools_langchain.live import run_of

Maybe = str | None
ARTIFACTS = "/.ai/cache"  # ignored by git and by searches
MAX_BINARY = 512_000  # bytes of a binary file that a read returns
MAX_MATCHES = 10_000
MAX_OUTPUT = 10_000_000  # bytes of a command's; deepagents moves what is long to a file
TIMEOUT = 120.0  # seconds of a command
NO_TEXT = FileData(content="", encoding="utf-8")
MEDIA = ("image", "audio", "video")  # kinds that a model may be shown as they are
ERRORS = {  # deepagents' `FileOperationError` for our code, beside what is denied
    "FILE_NOT_FOUND": "file_not_found",
    "NOT_A_FILE": "is_directory",
    **dict.fromkeys(("FILE_READ_ERROR", "FILE_WRITE_ERROR"), "permission_denied"),
}
PHRASES = {  # what the middleware of deepagents and its users look for
    "FILE_NOT_FOUND": "File not found: ",
    "STRING_NOT_FOUND": "String not found in file: ",
    "MULTIPLE_MATCHES": "String occurs multiple times: ",
}


class FsAgentBackend(protocol.SandboxBackendProtocol):
    """Files and commands of a workspace, in deepagents' terms; "/" is the root.

    A path beneath the root's real place on disk is taken as that, and answered in that form. Edits
    keep every byte except the replaced text, including line endings and encoding. Files are
    replaced in one step under a lock. Commands run in the workspace's sandbox, and no process
    outlives the call.

    Args:
        workspace: A path, or a `Workspace`, whose policy, approval and log then apply, or a
            function that gets a `ToolRuntime` without its state and returns one of these for the
            run.
        timeout: Of a command, in seconds.

    Raises:
        ConfigInvalid: If no commands can run in the files.
    """

    id: str = ""
    workspace: Workspace  # that of the run; only inside a call

    def __init__(self, workspace: WorkspaceSource, *, timeout: float = TIMEOUT) -> None:
        if isinstance(workspace, str | Path):
            workspace = Workspace(workspace)
        if isinstance(workspace, Workspace):
            workspace = Workspaces(partial(_that_asks, _that_asks(workspace)))
        self._pool = workspace if isinstance(workspace, Workspaces) else Workspaces(workspace)
        self._timeout, self.id = timeout, f"fsagent-{uuid4().hex[:8]}"

    def ls(self, path: str) -> protocol.LsResult:
        entries = [
            FileInfo(
                path=self._shown(entry.path, path),
                is_dir=entry.kind == "directory",
                size=entry.size,
                modified_at=datetime.fromtimestamp(entry.mtime_ns / 1e9, UTC).isoformat(),
            )
            for entry in self.workspace.list(self._inside(path))
        ]
        return protocol.LsResult(entries=entries)

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        r"""Some lines of a text, joined by \n; other kinds as base64, up to `MAX_BINARY` bytes."""
        if limit <= 0:
            return ReadResult(file_data=NO_TEXT, no_lines_requested=True)
        path = self._inside(file_path)
        if (guess_type(path)[0] or "").partition("/")[0] not in MEDIA:
            with suppress(BinaryFile):
                return _window(self.workspace.read_text(path).text, max(offset, 0), limit)
        data = self.workspace.read_bytes(path).data
        if len(data) > MAX_BINARY:
            size = f"Binary file exceeds maximum preview size of {MAX_BINARY} bytes"
            return ReadResult(error=f"File '{file_path}': {size}")
        return ReadResult(file_data=FileData(content=b64encode(data).decode(), encoding="base64"))

    def grep(
        self, pattern: str, path: Maybe = None, glob: Maybe = None, *, max_count: int | None = None
    ) -> protocol.GrepResult:
        asked, limit = path or "/", max_count or MAX_MATCHES
        base = self._inside(asked)
        found = self.workspace.search(pattern, base, include=glob, fixed=True, limit=limit)
        matches = [
            protocol.GrepMatch(path=self._shown(hit.path, asked), line=hit.line, text=hit.text)
            for hit in found.hits
        ]
        return protocol.GrepResult(matches=matches, truncated=found.truncated)

    def glob(self, pattern: str, path: Maybe = None) -> protocol.GlobResult:
        """Files and directories, by absolute paths: rules about files are matched against those."""
        asked, names = path or "/", pattern.lstrip("/")
        base, find = self._inside(asked), self.workspace.find
        found = find(names, base, limit=MAX_MATCHES, kind="any")
        folders = {*find(names, base, limit=MAX_MATCHES, kind="dir").paths}
        matches = [FileInfo(path=self._shown(p, asked), is_dir=p in folders) for p in found.paths]
        cut: Any = {"truncation_reason": "budget"} if found.truncated else {}
        return protocol.GlobResult(matches=matches, truncated=found.truncated, **cut)

    def write(self, file_path: str, content: str) -> protocol.WriteResult:
        """Make or replace a file, and missing directories above it."""
        self.workspace.write_bytes(self._inside(file_path), content.encode())
        return protocol.WriteResult(path=file_path)

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> protocol.EditResult:
        if not old_string:
            raise InvalidArguments("old_string is empty.", hint="Quote what is replaced.")
        which: Any = "all" if replace_all else "unique"
        path = self._inside(file_path)
        edited = self.workspace.edit_text(path, old_string, new_string, occurrences=which)
        return protocol.EditResult(path=file_path, occurrences=edited.replacements)

    def delete(self, file_path: str) -> protocol.DeleteResult:
        """A file, a link (never what it points to) or a whole directory; the root is refused."""
        self.workspace.remove(self._inside(file_path), recursive=True)
        return protocol.DeleteResult(path=file_path)

    def execute(self, command: str, *, timeout: int | None = None) -> protocol.ExecuteResponse:
        """Both streams in the order of their output; exit code 124 after `timeout` seconds."""
        done = self.workspace.run(command, timeout=timeout or self._timeout, max_output=MAX_OUTPUT)
        code = 124 if done.timed_out else done.exit_code  # as timeout(1) has it
        return protocol.ExecuteResponse(done.output, code, done.truncated)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[protocol.FileUploadResponse]:
        done = [(path, self._tried("write_bytes", path, content)[1]) for path, content in files]
        return [protocol.FileUploadResponse(path, error=code) for path, code in done]

    def download_files(self, paths: list[str]) -> list[protocol.FileDownloadResponse]:
        done = [(path, *self._tried("read_bytes", path)) for path in paths]
        return [protocol.FileDownloadResponse(p, f and f.data, code) for p, f, code in done]

    def _tried(self, operation: str, path: str, *content: bytes) -> tuple[Any, Any]:
        """Its result, and deepagents' code of what it refuses."""
        try:
            return getattr(self.workspace, operation)(self._inside(path), *content), None
        except ConfigInvalid:
            raise  # the host's own mistake
        except ToolError as error:
            other = "permission_denied" if isinstance(error, Denied) else "invalid_path"
            return None, ERRORS.get(error.code, other)

    def _inside(self, path: str) -> str:
        """From the root. Raises `InvalidPath` for a relative path."""
        if not path.startswith("/"):
            raise InvalidPath(f"{path!r} is not absolute.", hint="Paths begin with /.")
        return path.removeprefix(self._real_root(path)).strip("/") or "."

    def _shown(self, path: str, asked: str) -> str:
        """As `asked` was given: with the real root, or with "/" as the root."""
        return self._real_root(asked) + ("" if path == "." else f"/{path}") or "/"

    def _real_root(self, path: str) -> str:
        """The root's place on disk, if the path begins there; else ""."""
        root = str(self.workspace.files.local_root)
        return root if path == root or path.startswith(f"{root}/") else ""


def deep_agent_options(
    workspace: WorkspaceSource,
    toolset: AnyToolset = None,
    *,
    subagents: Sequence[Any] = (),
    approval: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """For `create_deep_agent(model=model, **deep_agent_options("."))`.

    The agent and its subagents have the tools of `get_tools`; memory, skills and summaries are of
    the same files. What deepagents keeps is in `ARTIFACTS`.

    Args:
        workspace: As in `get_tools`; a function gets the context and config of a run.
        toolset: As in `get_tools`.
        subagents: As of `create_deep_agent`; compiled and remote ones stay as they are.
        approval: Ask before each change, by LangChain's middleware: see `interrupt_on`.
        **options: Those of `FsAgentMiddleware`.

    Returns:
        Its options backend, middleware, subagents and, for approval, interrupt_on.
    """
    files: Any = FsAgentMiddleware(workspace, toolset, replaces="FilesystemMiddleware", **options)
    core = files.tools[0].core
    backend = FsAgentBackend(core.pool or core.workspace)  # one session for both
    return {
        "backend": CompositeBackend(backend, {}, artifacts_root=ARTIFACTS),
        "middleware": [files],
        "subagents": [
            each
            if "runnable" in each or "graph_id" in each
            else {**each, "middleware": [files, *each.get("middleware", ())]}
            for each in subagents
        ],
        **({"interrupt_on": interrupt_on(files.tools)} if approval else {}),
    }


def _that_asks(workspace: Workspace, run: object = None) -> Workspace:
    if workspace.files.local_root is None:
        raise ConfigInvalid("deepagents runs commands in the files.", hint="Pass a path.")
    return workspace.view(approve_direct=True)


def _window(text: str, offset: int, limit: int) -> ReadResult:
    """Lines from `offset`, which counts from 0. deepagents' own would split at form feeds, too."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    if lines == [""]:
        return ReadResult(file_data=NO_TEXT)
    if offset >= len(lines):
        return ReadResult(error=f"Line offset {offset} exceeds file length ({len(lines)} lines)")
    end = min(offset + limit, len(lines))
    data = FileData(content="\n".join(lines[offset:end]), encoding="utf-8")
    window: Any = {"total_lines": len(lines), "start_line": offset + 1, "end_line": end}
    return ReadResult(file_data=data, next_offset=end if end < len(lines) else None, **window)


def _in_workspace_of_run(name: str) -> None:
    """Has the method work there; what a refusal says is its result's error.

    Cancelling its twin ends the work, where deepagents' own leaves its thread alone.
    """
    method = getattr(FsAgentBackend, name)

    @wraps(method)
    def run(self: FsAgentBackend, *arguments: Any, **more: Any) -> Any:
        known = None
        with suppress(RuntimeError):  # outside a graph
            known = run_of({}, get_runtime())
        with self._pool.lend(known) as workspace:
            here = copy(self)
            here.workspace = _that_asks(workspace)
            try:
                return method(here, *arguments, **more)
            except ConfigInvalid:
                raise  # the host's own mistake
            except ToolError as error:
                told = f"{PHRASES.get(error.code, '')}{error}"
                if name == "execute":
                    return protocol.ExecuteResponse(output=told, exit_code=1)
                return method.__annotations__["return"](error=told)

    @wraps(method)
    async def arun(*arguments: Any, **more: Any) -> Any:
        return await awaited(run, *arguments, **more)

    setattr(FsAgentBackend, name, run)
    setattr(FsAgentBackend, f"a{name}", arun)


VERBS = ("ls", "read", "grep", "glob", "write", "edit", "delete", "execute")
for _name in (*VERBS, "upload_files", "download_files"):
    _in_workspace_of_run(_name)
