"""Files, searches and commands for programs: the verbs beside the tools, with typed results."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsagent_tools.effects import Effect
from fsagent_tools.encoding import decode, encoded, with_escapes
from fsagent_tools.errors import AlreadyExists
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.gate import Gated
from fsagent_tools.gate.methods import verb
from fsagent_tools.replies import FileBytes, FileText, FileWritten, TextEdited
from fsagent_tools.services import lazy, not_local

if TYPE_CHECKING:
    from fsagent_tools.edits.matching import Occurrences
    from fsagent_tools.lines.document import Document
    from fsagent_tools.lines.ids import Style
    from fsagent_tools.replies import Completed, DirectoryEntry, FoundPaths, SearchHits
    from fsagent_tools.search.find import Kind

_LIMIT = 1000  # paths or hits
_TIMEOUT = 30.0  # seconds of a search


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
            exact = lazy.finding.EXACTLY
            found = lazy.finding.find(edit.utf8, old, new, occurrences=occurrences, evidence=exact)
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
            asked = lazy.shell.ShellRequest(command, env=env or {}, max_output=max_output)
            shell = self.services.shell
            return lazy.running.run(shell.prepare(asked, directory), timeout, shell.launcher)

    @property
    def local_files(self) -> LocalFiles:
        """The files, for what needs them in a directory of this machine. Raises `Denied`."""
        if isinstance(self.files, LocalFiles):
            return self.files
        if self.files.local_root is None:
            raise not_local("Commands need")
        return LocalFiles(self.files.local_root, self.policy, virtual=self.files.virtual)
