"""`create_deep_agent(backend=FsAgentBackend(path))`."""

from base64 import b64encode
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import wraps
from mimetypes import guess_type
from pathlib import Path
from typing import Any
from uuid import uuid4

from deepagents.backends.protocol import (
    DeleteResult,
    EditResult,
    ExecuteResponse,
    FileData,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    SandboxBackendProtocol,
    WriteResult,
)
from langgraph.runtime import get_runtime

from fsagent_tools import ToolError, Workspace, Workspaces, awaited
from fsagent_tools.errors import BinaryFile, ConfigInvalid, InvalidArguments
from fsagent_tools.types import DirectoryEntry
from fsagent_tools_deepagents.paths import Paths, code_of, text_of
from fsagent_tools_deepagents.window import text_data, window
from fsagent_tools_langchain.preview import run_of

PREVIEW = 512_000  # bytes of a binary file that a read returns
TIMEOUT = 120.0  # seconds of a command
MOST = 10_000  # matches of a search
OUTPUT = 10_000_000  # bytes of a command's output; deepagents moves what is long to a file
TIMED_OUT = 124  # exit code, as timeout(1) has it
SHOWN = ("image", "audio", "video")  # kinds that a model may be shown as they are


class Place:
    """A workspace whose verbs ask, and its paths."""

    def __init__(self, given: Workspace) -> None:
        if given.files.local_root is None:
            raise ConfigInvalid("deepagents runs commands in the files.", hint="Pass a path.")
        self.workspace = given.view(approve_direct=True)
        self.paths = Paths(given.files.local_root)


class FsAgentBackend(SandboxBackendProtocol):
    """Files and commands of a workspace, in deepagents' terms; "/" is the root.

    Edits keep every byte except the replaced text, including line endings and encoding. Files are
    replaced in one step under a lock. Commands run in the workspace's sandbox, and no process
    outlives the call.

    Args:
        workspace: A path, or a `Workspace`, whose policy, approval and log then apply. Its
            `approve` may be `fsagent_tools_langchain.approval.ask`, which interrupts the run.
            Or a function that gets a `ToolRuntime` without its state and returns one of these for
            the run.
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
        self._pool: Workspaces | None = None
        if isinstance(workspace, Workspaces):
            self._pool = workspace
        elif isinstance(workspace, str | Path):
            self._own = Place(Workspace(workspace))
        elif isinstance(workspace, Workspace):
            self._own = Place(workspace)
        else:
            self._pool = Workspaces(workspace)
        self._timeout = timeout
        self._id = f"fsagent-{uuid4().hex[:8]}"

    @property
    def workspace(self) -> Workspace:
        """Of the run, where runs have workspaces of their own."""
        return self._place.workspace

    @property
    def _paths(self) -> Paths:
        return self._place.paths

    @property
    def _place(self) -> Place:
        return _here.get() if self._pool else self._own

    @property
    def id(self) -> str:
        return self._id

    def ls(self, path: str) -> LsResult:
        entries = self.workspace.list(self._paths.own(path))
        return LsResult(entries=[self._info(entry, path) for entry in entries])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """A window of a text, lines joined by \n; other kinds as base64, up to `PREVIEW` bytes."""
        if limit <= 0:
            return ReadResult(file_data=text_data(""), no_lines_requested=True)
        own = self._paths.own(file_path)
        if (guess_type(own)[0] or "").partition("/")[0] in SHOWN:
            return self._binary(file_path, own)
        try:
            return window(self.workspace.read_text(own).text, max(offset, 0), limit)
        except BinaryFile:
            return self._binary(file_path, own)

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        asked = path or "/"
        found = self.workspace.search(
            pattern, self._paths.own(asked), include=glob, fixed=True, limit=max_count or MOST
        )
        return GrepResult(
            matches=[
                {"path": self._paths.told(hit.path, asked), "line": hit.line, "text": hit.text}
                for hit in found.hits
            ],
            truncated=found.truncated,
        )

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Files and directories, by absolute paths: rules about files are matched against those."""
        asked, names = path or "/", pattern.lstrip("/")
        base = self._paths.own(asked)
        found = self.workspace.find(names, base, limit=MOST, kind="any")
        directories = {*self.workspace.find(names, base, limit=MOST, kind="dir").paths}
        matches: list[FileInfo] = [
            {"path": self._paths.told(p, asked), "is_dir": p in directories} for p in found.paths
        ]
        return GlobResult(
            matches=matches,
            truncated=found.truncated,
            truncation_reason="budget" if found.truncated else None,
        )

    def write(self, file_path: str, content: str) -> WriteResult:
        """Make or replace a file, and missing directories above it."""
        self.workspace.write_bytes(self._paths.own(file_path), content.encode())
        return WriteResult(path=file_path)

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        if not old_string:
            raise InvalidArguments("old_string is empty.", hint="Quote what is replaced.")
        edited = self.workspace.edit_text(
            self._paths.own(file_path),
            old_string,
            new_string,
            occurrences="all" if replace_all else "unique",
        )
        return EditResult(path=file_path, occurrences=edited.replacements)

    def delete(self, file_path: str) -> DeleteResult:
        """A file, a link (never what it points to) or a whole directory; the root is refused."""
        self.workspace.remove(self._paths.own(file_path), recursive=True)
        return DeleteResult(path=file_path)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return [self._upload(path, content) for path, content in files]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [self._download(path) for path in paths]

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        """Both streams in the order of their output; exit code 124 after `timeout` seconds."""
        done = self.workspace.run(command, timeout=timeout or self._timeout, max_output=OUTPUT)
        code = TIMED_OUT if done.timed_out else done.exit_code
        return ExecuteResponse(output=done.output, exit_code=code, truncated=done.truncated)

    def _upload(self, path: str, content: bytes) -> FileUploadResponse:
        try:
            self.workspace.write_bytes(self._paths.own(path), content)
        except ToolError as error:
            return FileUploadResponse(path=path, error=code_of(error))
        return FileUploadResponse(path=path)

    def _download(self, path: str) -> FileDownloadResponse:
        try:
            found = self.workspace.read_bytes(self._paths.own(path))
        except ToolError as error:
            return FileDownloadResponse(path=path, error=code_of(error))
        return FileDownloadResponse(path=path, content=found.data)

    def _binary(self, asked: str, own: str) -> ReadResult:
        data = self.workspace.read_bytes(own).data
        if len(data) > PREVIEW:
            return ReadResult(
                error=f"File '{asked}': Binary file exceeds maximum preview size of {PREVIEW} bytes"
            )
        return ReadResult(
            file_data=FileData(content=b64encode(data).decode("ascii"), encoding="base64")
        )

    def _info(self, entry: DirectoryEntry, asked: str) -> FileInfo:
        modified = datetime.fromtimestamp(entry.mtime_ns / 1e9, UTC)
        return {
            "path": self._paths.told(entry.path, asked),
            "is_dir": entry.kind == "directory",
            "size": entry.size,
            "modified_at": modified.isoformat(),
        }


_Method = Callable[..., Any]
_here: ContextVar[Place] = ContextVar("fsagent_backend")


def _lent(method: _Method, failed: _Method) -> _Method:
    """As `method`, in the workspace of the run. failed: makes an answer of what a refusal says."""

    def told(self: FsAgentBackend, *args: Any, **more: Any) -> Any:
        try:
            return method(self, *args, **more)
        except ToolError as error:
            return failed(error=text_of(error))

    @wraps(method)
    def run(self: FsAgentBackend, *args: Any, **more: Any) -> Any:
        if self._pool is None:
            return told(self, *args, **more)
        try:
            known = run_of({}, get_runtime())
        except RuntimeError:  # outside a graph
            known = None
        with self._pool.lend(known) as workspace:
            token = _here.set(Place(workspace))
            try:
                return told(self, *args, **more)
            finally:
                _here.reset(token)

    return run


def _asynchronous(method: _Method) -> _Method:
    """As `method`; cancelling it ends the work, where deepagents' own leaves its thread alone."""

    @wraps(method)
    async def run(self: FsAgentBackend, *args: Any, **more: Any) -> Any:
        return await awaited(getattr(self, method.__name__), *args, **more)

    return run


def _not_run(error: str) -> ExecuteResponse:
    return ExecuteResponse(output=error, exit_code=1)


_VERBS: dict[str, _Method] = {  # and what says that it failed
    "ls": LsResult,
    "read": ReadResult,
    "grep": GrepResult,
    "glob": GlobResult,
    "write": WriteResult,
    "edit": EditResult,
    "delete": DeleteResult,
    "execute": _not_run,
    "upload_files": list,  # each file has its own
    "download_files": list,
}
for _verb, _failed in _VERBS.items():
    setattr(FsAgentBackend, _verb, _lent(getattr(FsAgentBackend, _verb), _failed))
    setattr(FsAgentBackend, f"a{_verb}", _asynchronous(getattr(FsAgentBackend, _verb)))
