"""Files, searches, commands and undo for programs, with typed results."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from hashlib import sha256
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, get_args, get_origin

from fsagent_tools.call import current
from fsagent_tools.effects import RISK, Effect
from fsagent_tools.encoding import decode, encoded, with_escapes
from fsagent_tools.errors import AlreadyExists, InvalidArguments
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.gate.gate import Gated, GatedCall, run_gated
from fsagent_tools.replies import FileBytes, FileText, FileWritten, TextEdited
from fsagent_tools.workspace import lazy
from fsagent_tools.workspace.services import not_local

if TYPE_CHECKING:
    from fsagent_tools.edits.matching import Occurrences
    from fsagent_tools.history.history import History
    from fsagent_tools.lines.document import Document
    from fsagent_tools.lines.ids import Style
    from fsagent_tools.replies import Completed, DirectoryEntry, FoundPaths, SearchHits, TakenBack
    from fsagent_tools.search.scan import Kind

_LIMIT = 1000  # paths or hits
_TIMEOUT = 30.0  # seconds of a search

_S = TypeVar("_S", bound=Gated)
_P = ParamSpec("_P")
_T = TypeVar("_T")
_AS_WELL: dict[type, tuple[type, ...]] = {float: (int,), bytes: (bytearray,)}
_Method = Callable[Concatenate[_S, _P], _T]


class Arguments(dict[str, Any]):
    """Arguments of a method, as records have them."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    def as_json(self, *, given: bool) -> dict[str, Any]:
        return {**self}


def verb(
    action: str, effect: Effect, *, mark: bool = False
) -> Callable[[_Method[_S, _P, _T]], _Method[_S, _P, _T]]:
    """The method is to a policy what the action called `action` is; one with an effect of `effect`.

    Where it is a part of an operation that has passed, it is not asked about again.
    """

    def declare(method: _Method[_S, _P, _T]) -> _Method[_S, _P, _T]:
        code: Any = getattr(method, "__wrapped__", method).__code__
        names = code.co_varnames[1 : code.co_argcount]
        kinds = {n: _kinds(given) for n, given in method.__annotations__.items()}

        @wraps(method)
        def passing(self: _S, /, *args: _P.args, **more: _P.kwargs) -> _T:
            if current.get().inside is self.session:
                return method(self, *args, **more)
            given = {**dict(zip(names, args, strict=False)), **more}
            sent = Arguments({name: _readable(value) for name, value in given.items()})

            def validate() -> Arguments:
                _check_kinds(given, kinds)
                return sent

            call = GatedCall(
                action,
                method.__name__,
                effect,
                RISK[effect],
                sent,
                validate=validate,
                execute=lambda _: method(self, *args, **more),
                arguments=dict,
                is_mark=mark,
            )
            result: _T = run_gated(self, call)
            return result

        return passing

    return declare


def _check_kinds(given: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]]) -> None:
    for name, value in given.items():
        if (expected := kinds.get(name)) and not isinstance(value, expected):
            raise InvalidArguments(
                f"{name} is {expected[0].__name__}, not {type(value).__name__}.",
                hint=f"Call it with {expected[0].__name__} as {name}.",
            )


def _kinds(annotation: Any) -> tuple[type, ...]:
    """Whose instances fit; none where only a checker of types knows."""
    parts = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    found = [get_origin(part) or part for part in parts]
    if not all(isinstance(kind, type) for kind in found):
        return ()
    return (*found, *_AS_WELL.get(found[0], ()))


def _readable(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


class Direct(Gated):
    """What a host or adapter does itself; raises a `ToolError`, nothing then changed.

    The policy binds these verbs as it binds the action of each, and the log has a record of them;
    `Workspace(approve_direct=True)` asks about them, too. They count as changes from outside: a
    model's line IDs hold or go stale as after any other.
    """

    root: Path
    style: "Style"

    @verb("read", Effect.READ)
    @contextmanager
    def reading(
        self, path: str, encoding: str | None = None, *, glimpse: bool = False
    ) -> "Iterator[Document]":
        """A text file as it is now, with its lines' IDs. Raises a `ToolError`.

        glimpse: showing lines of it does not count as reading it.
        """
        with (
            self.files.open(path) as file,
            self.session.reading(file, self.style, encoding, glimpse=glimpse) as document,
        ):
            yield document

    @verb("read", Effect.READ)
    def tag_lines(
        self, path: str, hits: Mapping[int, bytes], *, mint: bool = True
    ) -> Mapping[int, str]:
        """IDs of the lines (1-based number -> text) that a search found and is about to show.

        A line that no longer reads like its hit gets none. mint: False gives IDs only in files
        that have a line index.
        """
        if not mint and self.session.store.version(path, words=self.style.quoted) is None:
            return {}
        with self.reading(path, glimpse=True) as document:
            tagged = {}
            for number, text in hits.items():
                line = document.lines.window(number - 1, number)
                if line.lines == [text]:
                    tagged[number] = document.show(line)
            return tagged

    @verb("read", Effect.READ)
    def line_index(self, path: str) -> dict[str, Any]:
        """The file's line index as the documents have it: IDs of the lines shown so far.

        Raises `NotReadYet` for a file that was never shown.
        """
        with self.reading(path, glimpse=True) as document, self.files.open(path) as file:
            document.require_ids()
            return {
                "file_path": document.name,
                "content_hash": f"sha256:{sha256(file.pread(file.version.size, 0)).hexdigest()}",
                "last_modified": file.version.mtime_ns // 10**9,
                "lines": [
                    {"id": line_id, "line_num": number, "content_hash": f"sha256:{digest}"}
                    for number, line_id, digest in document.described()
                ],
            }

    @verb("read", Effect.READ)
    def read_bytes(self, path: str) -> FileBytes:
        """The whole content of a file.

        Raises:
            Missing: If there is no such file.
            NotAFile: If it is a directory or a device.
            TooLarge: If it is larger than the policy's `max_file_size`.
        """
        with self.files.open(path) as file:
            return FileBytes(file.place.told, file.read(), file.version.mtime_ns)

    @verb("read", Effect.READ)
    def read_text(self, path: str, encoding: str | None = None) -> FileText:
        """The whole text of a file. Raises what `read_bytes` raises, and:

        Args:
            path: Relative to the root.
            encoding: By default detected.

        Raises:
            BinaryFile: If the file is not text.
            EncodingError: If `encoding` does not fit.
        """
        found = self.read_bytes(path)
        assumed = partial(self.session.assumed, self.files.place(path).relative)
        text = decode(found.data, found.path, encoding, assumed)
        return FileText(found.path, with_escapes(text.utf8.decode()), text.encoding, found.mtime_ns)

    @verb("write", Effect.WRITE)
    def write_bytes(
        self, path: str, data: bytes, *, create_dirs: bool = True, exist_ok: bool = True
    ) -> FileWritten:
        """Create or replace a file, atomically.

        Args:
            path: Relative to the root.
            data: The whole content.
            create_dirs: Create missing parents.
            exist_ok: Replace an existing file.

        Raises:
            AlreadyExists: If the file exists and `exist_ok` is False.
        """
        with self.files.lock(path, create_dirs=create_dirs) as target:
            if target.version and not exist_ok:
                raise AlreadyExists(
                    f"{target.place.told} already exists.", hint="Choose another path."
                )
            created = target.version is None
            target.write(data, expect=target.version)
            return FileWritten(target.place.told, len(data), created)

    @verb("write", Effect.WRITE)
    def write_text(
        self, path: str, text: str, *, create_dirs: bool = True, exist_ok: bool = True
    ) -> FileWritten:
        """Create or replace a file with text in UTF-8; arguments are as in `write_bytes`.

        Raises:
            AlreadyExists: If the file exists and `exist_ok` is False.
            EncodingError: If the text cannot be encoded.
        """
        data = encoded(text, "text")
        return self.write_bytes(path, data, create_dirs=create_dirs, exist_ok=exist_ok)

    @verb("edit", Effect.WRITE)
    def edit_text(
        self, path: str, old: str, new: str, *, occurrences: "Occurrences" = "unique"
    ) -> TextEdited:
        """Replace exact text; encoding and line endings stay.

        Args:
            path: Relative to the root.
            old: The text to replace.
            new: Its replacement.
            occurrences: "unique" (default), "first", "all", or the expected number.

        Raises:
            NoMatch: If the text is not in the file.
            MultipleMatches: If it occurs more often than `occurrences` allows.
        """
        with lazy.editing.editing(self, path) as edit:
            exact = lazy.replace.EXACTLY
            found = lazy.replace.find(edit.utf8, old, new, occurrences=occurrences, evidence=exact)
            written = edit.apply(found.hunks, found.ends)
            return TextEdited(written.path, found.count, written.diff())

    @verb("ls", Effect.READ)
    def list(self, path: str = ".") -> "tuple[DirectoryEntry, ...]":
        """The entries of a directory by name, hidden ones included; denied ones are left out."""
        return lazy.scan.list_directory(self.files, path)

    @verb("glob", Effect.READ)
    def find(
        self, pattern: str, path: str = ".", *, limit: int = _LIMIT, kind: "Kind" = "file"
    ) -> "FoundPaths":
        """Paths that match a glob, as the tool `glob` finds them.

        Args:
            pattern: A glob such as `**/*.py`.
            path: The directory to search.
            limit: The most paths to return.
            kind: "file", "dir" or "any".

        Raises:
            InvalidGlob: If the pattern is not valid.
        """
        return lazy.scan.find_paths(self.files, pattern, path, limit, kind)

    @verb("grep", Effect.READ)
    def search(
        self,
        pattern: str,
        path: str = ".",
        *,
        include: str | None = None,
        fixed: bool = False,
        limit: int = _LIMIT,
    ) -> "SearchHits":
        """Lines that match a regex, as the tool `grep` finds them.

        Args:
            pattern: A regex, or plain text if `fixed`.
            path: The file or directory to search.
            include: A glob of files.
            fixed: Take `pattern` literally.
            limit: The most lines to return.

        Raises:
            InvalidRegex: If the pattern is not valid.
            TimedOut: After 30 seconds.
        """
        size = self.policy.max_file_size
        query = lazy.scan.query_of(pattern, size, fixed=fixed, most=limit + 1)
        return lazy.scan.search_text(self.files, query, path, include=include, timeout=_TIMEOUT)

    @verb("bash", Effect.EXECUTE)
    def run(
        self,
        command: str,
        *,
        timeout: float = 120.0,
        working_dir: str = ".",
        env: Mapping[str, str] | None = None,
        max_output: int = 51_200,
    ) -> "Completed":
        """Run a shell command in the policy's sandbox and wait for it.

        A time-out is not an error: the result has `timed_out`.

        Args:
            command: A line of bash.
            timeout: In seconds; then the command and everything it started is ended.
            working_dir: Relative to the root.
            env: Further environment variables.
            max_output: Bytes of output to keep, from its beginning and its end.

        Raises:
            Denied: If the policy forbids `bash`, or the files are not on this machine.
            CommandFailed: If the command cannot be started.
        """
        with self.local_files.directory(working_dir) as directory:
            asked = lazy.shell.ShellRequest(
                command, directory.place.absolute, env=env or {}, max_output=max_output
            )
            return lazy.runner.run(self.services.shell.prepare(asked), timeout)

    @property
    def local_files(self) -> LocalFiles:
        """The files, for what needs them in a directory of this machine. Raises `Denied`."""
        if isinstance(self.files, LocalFiles):
            return self.files
        if self.files.local_root is None:
            raise not_local("Commands need")
        return LocalFiles(self.files.local_root, self.policy, virtual=self.files.virtual)


class Rewind(Gated):
    """What a session changed, and the way back.

    All raise `NotConfigured` where no history is kept, and `Denied` where the files are not in a
    directory of this machine.
    """

    @property
    def history(self) -> "History":
        """The steps of the session; iterating yields one `StepChange` per step, with its diff."""
        history: History = self.services.history
        return history

    @verb("undo", Effect.READ, mark=True)
    def checkpoint(self, name: str = "") -> str:
        """Save the present state of the files.

        Args:
            name: Shown in the history, and found again by the newest checkpoint that has it.

        Returns:
            An ID, which serves for `undo(to=...)` and `diff`, as the name does.
        """
        return self.history.checkpoint(name)

    @verb("undo", Effect.READ)
    def diff(self, since: str = "", *, everybody: bool = False) -> str:
        """What the session has changed, as unified diffs.

        Args:
            since: The name of a checkpoint, or its ID or that of a step; by default the first step.
            everybody: Include the changes of all sessions.
        """
        return self.history.diff(since, everybody=everybody)

    @verb("undo", Effect.WRITE, mark=True)
    def undo(
        self,
        steps: int = 1,
        *,
        to: str | None = None,
        paths: Iterable[str] | None = None,
        dry_run: bool = False,
        everybody: bool = False,
    ) -> "TakenBack":
        """Undo the last `steps` calls that changed files, or everything since `to`.

        A path that others have changed since stays as it is, and the result names it; the others
        are restored. What changed while a background job ran stays, too, unless `paths` has it.

        Args:
            steps: How many calls to undo.
            to: The name or ID of a checkpoint, or the ID of a step; later undos are reverted, too.
            paths: Files and directories; it undoes the last steps that changed some of them.
            dry_run: Only report what would happen.
            everybody: Include the steps of all sessions.

        Raises:
            Conflict: If no path can be restored; nothing is changed.
            Missing: If there are no such steps, or `to` does not exist.
            InvalidArguments: If an argument cannot be used.
        """
        return self.history.undo(steps, to=to, paths=paths, dry_run=dry_run, everybody=everybody)

    @verb("undo", Effect.WRITE, mark=True)
    def redo(self, *, dry_run: bool = False, everybody: bool = False) -> "TakenBack":
        """Revert the last undo, unless something has changed since. Raises what `undo` raises.

        Args:
            dry_run: Only report what would happen.
            everybody: Include the undos of all sessions.
        """
        return self.history.redo(dry_run=dry_run, everybody=everybody)
