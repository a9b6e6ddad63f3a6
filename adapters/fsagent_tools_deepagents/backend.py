"""Files and commands as deepagents has them, and one call that puts them into a deep agent."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial, wraps
from mimetypes import guess_type
from pathlib import Path
from typing import Any
from uuid import uuid4

from deepagents.backends import CompositeBackend, protocol
from deepagents.backends.protocol import FileData, FileInfo, ReadResult
from langgraph.runtime import get_runtime

from fsagent_tools import ToolError, Toolset, Workspace, Workspaces, awaited
from fsagent_tools.errors import BinaryFile, ConfigInvalid, InvalidArguments, InvalidPath
from fsagent_tools.types import WorkspaceSource
from fsagent_tools_langchain import FsAgentMiddleware, interrupt_on
from fsagent_tools_langchain.live import run_of

ARTIFACTS = "/.ai/cache"  # ignored by git and by searches
MAX_BINARY = 512_000  # bytes of a binary file that a read returns
MAX_MATCHES = 10_000
MAX_OUTPUT = 10_000_000  # bytes of a command's; deepagents moves what is long to a file
TIMEOUT = 120.0  # seconds of a command
TIMED_OUT = 124  # exit code, as timeout(1) has it
NO_TEXT = FileData(content="", encoding="utf-8")
MEDIA = ("image", "audio", "video")  # kinds that a model may be shown as they are
NOT_PERMITTED = (
    *("PERMISSION_DENIED", "PATH_OUTSIDE_WORKSPACE", "PATH_DENIED", "ACTION_NOT_ALLOWED"),
    *("APPROVAL_DENIED", "READONLY", "FILE_READ_ERROR", "FILE_WRITE_ERROR"),
)
ERRORS = {  # deepagents' `FileOperationError` for our code; the rest are "invalid_path"
    "FILE_NOT_FOUND": "file_not_found",
    "NOT_A_FILE": "is_directory",
    **dict.fromkeys(NOT_PERMITTED, "permission_denied"),
}
PHRASES = {  # what the middleware of deepagents and its users look for
    "FILE_NOT_FOUND": "File not found: ",
    "STRING_NOT_FOUND": "String not found in file: ",
    "MULTIPLE_MATCHES": "String occurs multiple times: ",
}
_workspace: ContextVar[Workspace] = ContextVar("fsagent_backend")


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

    def __init__(
        self,
        workspace: Workspace | str | Path | Workspaces | Callable[[Any], Any],
        *,
        timeout: float = TIMEOUT,
    ) -> None:
        if isinstance(workspace, str | Path):
            workspace = Workspace(workspace)
        if isinstance(workspace, Workspace):
            self._pool = Workspaces(partial(_given, _that_asks(workspace)))
        else:
            self._pool = workspace if isinstance(workspace, Workspaces) else Workspaces(workspace)
        self._timeout, self._id = timeout, f"fsagent-{uuid4().hex[:8]}"

    @property
    def id(self) -> str:
        return self._id

    @property
    def workspace(self) -> Workspace:
        """That of the run; only inside a call."""
        return _workspace.get()

    def ls(self, path: str) -> protocol.LsResult:
        entries: list[FileInfo] = [
            {
                "path": self._shown(entry.path, path),
                "is_dir": entry.kind == "directory",
                "size": entry.size,
                "modified_at": datetime.fromtimestamp(entry.mtime_ns / 1e9, UTC).isoformat(),
            }
            for entry in self.workspace.list(self._inside(path))
        ]
        return protocol.LsResult(entries=entries)

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        r"""Some lines of a text, joined by \n; other kinds as base64, up to `MAX_BINARY` bytes."""
        if limit <= 0:
            return ReadResult(file_data=NO_TEXT, no_lines_requested=True)
        path = self._inside(file_path)
        if (guess_type(path)[0] or "").partition("/")[0] not in MEDIA:
            try:
                return _window(self.workspace.read_text(path).text, max(offset, 0), limit)
            except BinaryFile:
                pass
        data = self.workspace.read_bytes(path).data
        if len(data) > MAX_BINARY:
            size = f"Binary file exceeds maximum preview size of {MAX_BINARY} bytes"
            return ReadResult(error=f"File '{file_path}': {size}")
        return ReadResult(file_data=FileData(content=b64encode(data).decode(), encoding="base64"))

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> protocol.GrepResult:
        asked, limit = path or "/", max_count or MAX_MATCHES
        found = self.workspace.search(
            pattern, self._inside(asked), include=glob, fixed=True, limit=limit
        )
        matches: list[protocol.GrepMatch] = [
            {"path": self._shown(hit.path, asked), "line": hit.line, "text": hit.text}
            for hit in found.hits
        ]
        return protocol.GrepResult(matches=matches, truncated=found.truncated)

    def glob(self, pattern: str, path: str | None = None) -> protocol.GlobResult:
        """Files and directories, by absolute paths: rules about files are matched against those."""
        asked, names = path or "/", pattern.lstrip("/")
        base, find = self._inside(asked), self.workspace.find
        found = find(names, base, limit=MAX_MATCHES, kind="any")
        directories = {*find(names, base, limit=MAX_MATCHES, kind="dir").paths}
        matches: list[FileInfo] = [
            {"path": self._shown(p, asked), "is_dir": p in directories} for p in found.paths
        ]
        reason: Any = "budget" if found.truncated else None
        return protocol.GlobResult(
            matches=matches, truncated=found.truncated, truncation_reason=reason
        )

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
        seconds = timeout or self._timeout
        done = self.workspace.run(command, timeout=seconds, max_output=MAX_OUTPUT)
        code = TIMED_OUT if done.timed_out else done.exit_code
        return protocol.ExecuteResponse(
            output=done.output, exit_code=code, truncated=done.truncated
        )

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[protocol.FileUploadResponse]:
        return [self._upload(path, content) for path, content in files]

    def _upload(self, path: str, content: bytes) -> protocol.FileUploadResponse:
        try:
            self.workspace.write_bytes(self._inside(path), content)
            return protocol.FileUploadResponse(path=path)
        except ToolError as error:
            return protocol.FileUploadResponse(path=path, error=_code(error))

    def download_files(self, paths: list[str]) -> list[protocol.FileDownloadResponse]:
        return [self._download(path) for path in paths]

    def _download(self, path: str) -> protocol.FileDownloadResponse:
        try:
            data = self.workspace.read_bytes(self._inside(path)).data
            return protocol.FileDownloadResponse(path=path, content=data)
        except ToolError as error:
            return protocol.FileDownloadResponse(path=path, error=_code(error))

    def _inside(self, path: str) -> str:
        """From the root. Raises `InvalidPath` for a relative path."""
        if not path.startswith("/"):
            raise InvalidPath(f"{path!r} is not absolute.", hint="Paths begin with /.")
        root = self._real_root(path)
        return path.removeprefix(root).strip("/") or "."

    def _shown(self, path: str, asked: str) -> str:
        """As `asked` was given: with the real root, or with "/" as the root."""
        return self._real_root(asked) + ("" if path == "." else f"/{path}") or "/"

    def _real_root(self, path: str) -> str:
        """The root's place on disk, if the path begins there; else ""."""
        root = str(self.workspace.files.local_root)
        return root if path == root or path.startswith(f"{root}/") else ""


def deep_agent_options(
    workspace: WorkspaceSource,
    toolset: Toolset | str | None = None,
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


def _that_asks(workspace: Workspace) -> Workspace:
    if workspace.files.local_root is None:
        raise ConfigInvalid("deepagents runs commands in the files.", hint="Pass a path.")
    return workspace.view(approve_direct=True)


def _window(text: str, offset: int, limit: int) -> ReadResult:
    """`limit` lines of a text from `offset`, which counts from 0, and where to read on."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    if lines == [""]:
        return ReadResult(file_data=NO_TEXT)
    if offset >= len(lines):
        return ReadResult(error=f"Line offset {offset} exceeds file length ({len(lines)} lines)")
    end = min(offset + limit, len(lines))
    return ReadResult(
        file_data=FileData(content="\n".join(lines[offset:end]), encoding="utf-8"),
        total_lines=len(lines),
        start_line=offset + 1,
        end_line=end,
        next_offset=end if end < len(lines) else None,
    )


def _code(error: ToolError) -> Any:
    if isinstance(error, ConfigInvalid):
        raise error  # the host's own mistake
    return ERRORS.get(error.code, "invalid_path")


def _given(workspace: Workspace, run: object) -> Workspace:
    return workspace


def _verb(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method in the workspace of the run; what a refusal says is its result's error."""

    @wraps(method)
    def run(self: FsAgentBackend, *arguments: Any, **more: Any) -> Any:
        try:
            known = run_of({}, get_runtime())
        except RuntimeError:  # outside a graph
            known = None
        with self._pool.lend(known) as workspace:
            token = _workspace.set(_that_asks(workspace))
            try:
                return method(self, *arguments, **more)
            except ConfigInvalid:
                raise  # the host's own mistake
            except ToolError as error:
                told = f"{PHRASES.get(error.code, '')}{error}"
                if method.__name__ == "execute":
                    return protocol.ExecuteResponse(output=told, exit_code=1)
                return method.__annotations__["return"](error=told)
            finally:
                _workspace.reset(token)

    return run


def _awaited(method: Callable[..., Any]) -> Callable[..., Any]:
    """Cancelling it ends the work, where deepagents' own leaves its thread alone."""

    @wraps(method)
    async def run(*arguments: Any, **more: Any) -> Any:
        return await awaited(method, *arguments, **more)

    return run


VERBS = ("ls", "read", "grep", "glob", "write", "edit", "delete", "execute")
for _name in (*VERBS, "upload_files", "download_files"):
    setattr(FsAgentBackend, _name, _verb(getattr(FsAgentBackend, _name)))
    setattr(FsAgentBackend, f"a{_name}", _awaited(getattr(FsAgentBackend, _name)))
