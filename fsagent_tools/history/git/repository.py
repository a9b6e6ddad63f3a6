"""The repository that a root belongs to, and which of its files git can give back."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from fsagent_tools.history.git.data import whole_file
from fsagent_tools.history.git.entries import IndexFolders, index_entries
from fsagent_tools.history.git.objects import blob, with_alternates

_CONVERTS = re.compile(rb"(?i)autocrlf|eol\b|attributesfile|objectformat|filter|safecrlf")
_PATHS = re.compile(rb'(?im)^\s*path\s*=\s*"?([^"\n\0]+?)"?[ \t\r]*$')
_MOST_SETTINGS = 32  # files that include each other
_LONGEST = 1 << 20  # bytes of one of them
_ATTRIBUTES = re.compile(rb"(?m)^[^#\n]*\b(text|crlf|eol|filter|ident|working-tree-encoding)\b")


class Repository:
    """folder: the `.git` of this work tree. prefix: of the root in the work tree, "" or "a/b/".

    Nothing of it is run, and what does not fit is as if there were no repository.
    """

    def __init__(self, folder: Path, prefix: str) -> None:
        self._folder, self.prefix = folder, prefix
        self._common = _common(folder)
        self._stamp: tuple[int, ...] = ()
        self.entries: IndexFolders = {}  # by directory, from the root
        self.written_ns = 0  # when the index was written

    @classmethod
    def of(cls, root: Path) -> "Repository | None":
        """That of the nearest directory from `root` upwards which has one."""
        for above in (root, *root.parents):
            folder = _git_folder(above / ".git")
            if folder is not None:
                prefix = root.relative_to(above).as_posix()
                return cls(folder, "" if prefix == "." else f"{prefix}/")
        return None

    def refresh(self) -> bool:
        """Read the index again if it changed; returns whether it did."""
        index = self._folder / "index"
        try:
            status = index.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp == self._stamp:
                return False
            entries = index_entries(whole_file(index))
        except (OSError, ValueError):
            changed = bool(self.entries)
            self.entries, self._stamp = {}, ()
            return changed
        if prefix := self.prefix:
            inside = {f"{folder}/": names for folder, names in entries.items()}
            entries = {
                folder.removeprefix(prefix).rstrip("/"): names
                for folder, names in inside.items()
                if folder.startswith(prefix)
            }
        self.entries, self._stamp, self.written_ns = entries, stamp, status.st_mtime_ns
        return True

    def converts(self, attributes: Iterable[bytes]) -> bool:
        """Whether files may differ from their blobs; attributes: the `.gitattributes` seen."""
        texts = [*attributes, _read(self._common / "info" / "attributes")]
        home = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config")
        settings = [
            self._common / "config",
            self._folder / "config.worktree",
            Path("~/.gitconfig"),
            home / "git" / "config",
            Path("/etc/gitconfig"),
        ]
        texts.append(_read(home / "git" / "attributes"))
        return any(map(_ATTRIBUTES.search, texts)) or any(
            map(_CONVERTS.search, _included(settings))
        )

    def blob(self, sha: str) -> bytes | None:
        return blob([*with_alternates(self._common / "objects")], sha)


def _git_folder(path: Path) -> Path | None:
    """A `.git`, or the directory that a file of that name leads to."""
    with suppress(OSError):
        if path.is_file():
            text = _read(path).decode(errors="surrogateescape").strip()
            if text.startswith("gitdir:"):
                path = path.parent / text.removeprefix("gitdir:").strip()
        if (path / "HEAD").is_file():
            return path
    return None


def _common(folder: Path) -> Path:
    text = _read(folder / "commondir").decode(errors="surrogateescape").strip()
    return folder / text if text and "\0" not in text else folder


def _read(path: Path) -> bytes:
    with suppress(OSError, RuntimeError, ValueError):
        return whole_file(path.expanduser(), _LONGEST)
    return b""


def _included(settings: list[Path]) -> Iterator[bytes]:
    """The texts of these files, and of those that they include."""
    waiting = [*settings]
    for number, path in enumerate(waiting):
        text = _read(path)
        yield text
        if number < _MOST_SETTINGS and b"include" in text.lower():
            names = [os.fsdecode(name) for name in _PATHS.findall(text)[:_MOST_SETTINGS]]
            waiting += [Path(n) if n[0] == "~" else path.parent / n for n in names]
