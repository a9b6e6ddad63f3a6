"""Names in a root that make other programs run code: what a command may not change there.

What exists is mounted read-only by bubblewrap, or else compared afterwards. What does not exist
cannot be mounted: an entry that a command makes there is moved away. `.git/config` stays writable,
since a third of git's commands change it; afterwards a fixed list of keys may have changed, and any
other key puts the whole file back.
"""

import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from glob import escape, glob, has_magic
from pathlib import Path

IN_REPOSITORY = (
    *("hooks", "config.worktree", "commondir", "info/attributes", "info/grafts"),
    "objects/info/alternates",
)
MAX_CONFIG = 100_000  # bytes of a file that is compared
MAX_NESTED, MAX_DIRECTORIES, DEPTH = 50, 2_000, 3  # of the search for repositories
MAX_COMPARED = 1_000  # files under protected names, where nothing can be mounted
_NOT_ENTERED = (".git", "node_modules", "__pycache__")
# Keys that a command may change: they name branches, remotes and people, and run nothing.
_HARMLESS = re.compile(
    r"user\.(name|email)|branch\..+\.(remote|merge|rebase|description|pushremote|vscode-merge-base)"
    r"|remote\..+\.(url|fetch|push|tagopt|prune|pushurl)|submodule\..+\.(url|active|update|branch)"
    r"|submodule\.active|remote\.pushdefault|pull\.(rebase|ff)|push\.(default|autosetupremote)"
    r"|rebase\.(autostash|autosquash)|merge\.ff|init\.defaultbranch|color\..+|advice\..+"
    r"|core\.(bare|filemode|symlinks|ignorecase|repositoryformatversion|logallrefupdates"
    r"|autocrlf|eol)|extensions\.objectformat|lfs\.repositoryformatversion",
    re.DOTALL,
)
_HARMFUL_VALUE = re.compile(r"^-|^ext::|^fd::|^!|[\x00-\x08\x0b-\x1f]")
_PLACE = re.compile(r"(remote|submodule|branch)\..+\.(url|pushurl|remote|pushremote)", re.DOTALL)
_Content = tuple[int, bytes]  # mode and bytes of a file


@dataclass
class Report:
    """What was undone after a command, as paths from the root."""

    moved: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)  # with the key, for a configuration
    changed: list[str] = field(default_factory=list)  # by somebody else, and left


class Protected:
    """The protected names of one root before a command.

    Attributes:
        read_only: Those that exist, to be mounted read-only.
        pinned: Directories above them, which must not be renamed.
        writable: Directories of git outside the root that belong to it.
    """

    def __init__(
        self, root: str, settings: Iterable[str], git: str | None, *, mounted: bool, job: bool
    ) -> None:
        """Look what there is.

        Args:
            root: With links resolved.
            settings: Names in the root, "*" among them.
            git: The program.
            mounted: Whether `read_only` will be mounted; otherwise it is compared.
            job: Whether configurations are mounted, too: in hours the user may change them.
        """
        self._root, self._settings, self._git = Path(root), tuple(settings), git
        self._mounted = mounted
        self._links = dict[Path, str]()
        outside = _git_directories(self._root)
        inside = [self._root / ".git", *_nested(self._root)]
        configs = [repository / "config" for repository in inside]
        names = [*self._expanded(), *_configured(self._root, git)]
        names += [path / name for path in (*inside, *outside) for name in IN_REPOSITORY]
        names += [repository / "config" for repository in outside]
        names += [path for path in configs if _read(path) is None and os.path.lexists(path)]
        self._names = tuple(names)
        self._configs = {path: _read(path) for path in configs}
        self._folders = [path for path in inside if not path.is_file()]
        self._is_kept = job and mounted  # a configuration changed by somebody else
        existing = set[Path](path for path in configs if job and mounted and path.is_file())
        for name in names:
            path = name
            if link := _first_link(path, self._root):
                self._links[link] = os.readlink(link)
                path = path.resolve()  # below the root a command could change it there
            tops = (self._root, *outside)
            if not path.exists() or not any(path.is_relative_to(top) for top in tops):
                continue
            if not (path.parent in inside[1:] and _only_samples(path)):
                existing.add(path)  # else a mount would keep `rm -rf` from a repository
        nested = {repository.parent for repository in inside[1:]}
        above = {parent for path in existing for parent in path.parents}
        below = (path for path in above if path.is_relative_to(self._root) and path != self._root)
        pinned = (path for path in below if not any(n.is_relative_to(path) for n in nested))
        self._existing = existing
        self.read_only = tuple(sorted(map(str, existing)))
        self.pinned = tuple(sorted(map(str, pinned)))
        self.writable = tuple(map(str, outside))
        self._compared = {} if mounted else dict(_contents(existing))

    def check(self, kept: Path) -> Report:
        """Undo what may not stay, once the command and everything it started have ended.

        Nothing is reached through a symbolic link: the first link on the way is what is moved.

        Args:
            kept: The directory to move things to.
        """
        report, known = Report(), {*self._existing, *self._links}
        for link, target in self._links.items():
            if not (link.is_symlink() and os.readlink(link) == target):
                report.moved += self._move_away(link, kept)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(target)
        for path in dict.fromkeys((*self._names, *self._expanded())):
            entry = _first_link(path, self._root) or path
            if entry not in known and path not in known and not _only_samples(entry):
                report.moved += self._move_away(entry, kept)
        for path in self._folders:
            if path.is_file():  # it could name any directory
                report.moved += self._move_away(path, kept)
        if not self._mounted:
            self._compare(report, kept)
        for path, before in self._configs.items():
            above = path.parent
            if not above.is_dir() or _first_link(above, self._root) or _read(path) == before:
                continue
            name = str(path.relative_to(self._root))
            keys = self._harmful_keys(before, _read(path), kept)
            if keys and self._is_kept:
                report.changed.append(name)
            elif keys:
                self._restore(path, before, kept)
                report.restored += [f"{name} ({key})" for key in keys]
        return report

    def _compare(self, report: Report, kept: Path) -> None:
        now = dict(_contents(self._existing))
        for path in [*now.keys() - self._compared.keys()]:
            report.moved += self._move_away(_first_link(path, self._root) or path, kept)
        for path, before in self._compared.items():
            if before is not None and now.get(path) != before and path not in self._configs:
                self._restore(path, before, kept)
                report.restored.append(os.path.relpath(path, self._root))

    def _restore(self, path: Path, before: _Content | None, kept: Path) -> None:
        self._move_away(_first_link(path, self._root) or path, kept)
        if before is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, before[0])
            with open(fd, "wb") as file:
                file.write(before[1])
            path.chmod(before[0])

    def _move_away(self, path: Path, kept: Path) -> list[str]:
        """Its path from the root; nothing is lost. A rename, else a copy."""
        if not os.path.lexists(path):
            return []
        name = os.path.relpath(path, self._root)
        target = kept / name.replace("../", "")
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (path.parent, path):  # which a command may have closed to us
            if not folder.is_symlink() and folder.is_dir() and not os.access(folder, os.W_OK):
                folder.chmod(folder.stat().st_mode | stat.S_IRWXU)
        try:
            while os.path.lexists(target):
                target = target.with_name(f"{target.name}~")
            shutil.move(path, target)
        except (OSError, shutil.Error):  # a pipe, say, and another file system
            with suppress(OSError):
                path.rename(path.with_name(f"{path.name}.{os.urandom(4).hex()}"))
        return [name]

    def _expanded(self) -> list[Path]:
        top, found = escape(str(self._root)), []
        for name in self._settings:
            found += glob(f"{top}/{name}", include_hidden=True) if has_magic(name) else [name]
        paths = [Path(os.path.normpath(self._root / name)) for name in found]
        return [path for path in paths if path.is_relative_to(self._root) and path != self._root]

    def _harmful_keys(
        self, before: _Content | None, after: _Content | None, kept: Path
    ) -> list[str]:
        if self._git is None:  # nobody reads it
            return []
        if after is None:
            return ["not a file of git"] if before else []
        old, new = ({*self._values(data, kept)} for data in ((before or (0, b""))[1], after[1]))
        changed, values = {key for key, _ in old ^ new}, new - old
        bad = {key for key in changed if not _HARMLESS.fullmatch(key)}
        return sorted(bad | {key for key, value in values if self._is_harmful(key, value)})

    def _is_harmful(self, key: str, value: str) -> bool:
        path = Path(os.path.normpath(self._root / value))
        inside = path.is_relative_to(self._root) and path != self._root
        is_place = bool(_PLACE.fullmatch(key)) and inside and path.exists()
        return is_place or bool(_HARMFUL_VALUE.search(value))

    def _values(self, data: bytes, kept: Path) -> Iterator[tuple[str, str]]:
        """As git reads it, from a copy that nobody else writes to, without included files."""
        kept.mkdir(parents=True, exist_ok=True, mode=0o700)
        copy = kept / f"config-{os.urandom(6).hex()}"
        copy.write_bytes(data)
        try:
            words = ["config", "--file", str(copy), "--no-includes", "--list", "-z"]
            done = _ran(self._git, words, "/")
        finally:
            copy.unlink()
        yield from map(_pair, _fields(done.stdout))
        if done.returncode:
            yield "not a configuration that git can read", ""


_known: dict[Path, tuple[dict[str, _Content | None], list[Path]]] = {}


def _configured(root: Path, git: str | None) -> list[Path]:
    """What below the root the user's configuration of git names: hooks, included files, programs.

    Git is asked again only when one of the files that it read has other bytes.
    """
    if git is None:
        return []
    files, paths = _known.get(root, ({}, []))
    if not files or any(_read(Path(name)) != data for name, data in files.items()):
        own = {name: os.environ[name] for name in os.environ if name.startswith("GIT_CONFIG_")}
        own |= {
            name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ
        }
        done = _ran(git, ["config", "--list", "-z", "--show-origin"], str(root), own)
        fields, home = _fields(done.stdout), os.path.expanduser("~")
        origins = {field.removeprefix("file:") for field in fields[::2]}
        origins |= {f"{home}/.gitconfig", f"{home}/.config/git/config", ".git/config"}
        files, paths = {str(root / name): _read(root / name) for name in origins}, []
        for key, value in map(_pair, fields[1::2]):
            word = os.path.expanduser(value.split(" ")[0])
            for base in (root, root / ".git") if word and not _HARMLESS.fullmatch(key) else ():
                path = Path(os.path.normpath(base / word))
                if path.is_relative_to(root) and path.exists():
                    paths.append(path)
        own_files = (root, root / ".git", root / ".git/config")
        paths = [path for path in paths if path not in own_files]
        _known[root] = files, paths
    return [path for path in paths if path.exists()]


def _git_directories(root: Path) -> list[Path]:
    """Of a work tree whose `.git` is a file: only if that directory names this root, too."""
    pointer = (_read(root / ".git") or (0, b""))[1]
    if not pointer.startswith(b"gitdir: "):
        return []
    folder = (root / os.fsdecode(pointer[8:].strip())).resolve()
    back, common = ((_read(folder / n) or (0, b""))[1].strip() for n in ("gitdir", "commondir"))
    if back != os.fsencode(root / ".git"):
        return []
    place = (folder / os.fsdecode(common)).resolve()
    return [place] if folder.is_relative_to(place / "worktrees") else []


def _nested(root: Path) -> list[Path]:
    """Directories of git of other repositories in the root, and of its submodules."""
    found, level = [], [str(root)]
    for _ in range(DEPTH):
        level = [name for folder in level for name in _folders(folder)][:MAX_DIRECTORIES]
        found += [Path(name, ".git") for name in level if os.path.isfile(f"{name}/.git/HEAD")]
    if os.path.isdir(f"{root}/.git/modules"):
        found += [head.parent for head in sorted(root.glob(".git/modules/*/HEAD"))]
    return found[:MAX_NESTED]


_listed: dict[str, tuple[int, int, list[str]]] = {}


def _folders(folder: str) -> list[str]:
    """Directories in it. A new entry changes its ctime, which no program can set back."""
    try:
        state = os.stat(folder, follow_symlinks=False)
        known = _listed.get(folder)
        if known is None or known[:2] != (state.st_ino, state.st_ctime_ns):
            with os.scandir(folder) as entries:
                kept = (e for e in entries if e.name not in _NOT_ENTERED)
                names = [entry.path for entry in kept if entry.is_dir(follow_symlinks=False)]
            known = (state.st_ino, state.st_ctime_ns, names)
            if time.time_ns() - state.st_ctime_ns > 1_000_000_000:  # else others may share its time
                _listed[folder] = known
        return known[2]
    except OSError:
        return []


def _contents(places: Iterable[Path]) -> Iterator[tuple[Path, _Content | None]]:
    """Each file at or below them; None for what is no file, or too large."""
    seen = 0
    for place in places:
        tree = [(str(place.parent), [], [place.name])] if not place.is_dir() else os.walk(place)
        for folder, _, files in tree:
            for name in files:
                if (seen := seen + 1) > MAX_COMPARED:
                    return
                yield Path(folder, name), _read(Path(folder, name))


def _first_link(path: Path, root: Path) -> Path | None:
    """The path, or the first directory above it and below the root, that is a symbolic link."""
    if not path.is_relative_to(root):
        return None
    step = str(root)
    for part in path.relative_to(root).parts:
        step = f"{step}/{part}"
        if os.path.islink(step):
            return Path(step)
    return None


def _only_samples(path: Path) -> bool:
    """What `git init` makes."""
    if path.name != "hooks" or not path.is_dir():
        return False
    return all(name.endswith(".sample") for name in os.listdir(path))


def _read(path: Path) -> _Content | None:
    """None: there is no such regular file, or it is too large."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        mode = os.fstat(fd).st_mode
        data = os.read(fd, MAX_CONFIG + 1) if stat.S_ISREG(mode) else None
    finally:
        os.close(fd)
    return (stat.S_IMODE(mode), data) if data is not None and len(data) <= MAX_CONFIG else None


def _ran(
    git: str | None, words: list[str], cwd: str, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    own = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull} if env is None else env
    env = {"PATH": os.defpath, "LC_ALL": "C", **own}
    words = [git or "git", *words]
    with suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(words, capture_output=True, check=False, env=env, cwd=cwd, timeout=10)
    return subprocess.CompletedProcess(words, 1, b"", b"")


def _fields(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]


def _pair(row: str) -> tuple[str, str]:
    key, _, value = row.partition("\n")
    return key, value
