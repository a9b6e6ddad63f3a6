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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from threading import Lock
from weakref import ref

IN_REPOSITORY = (
    *("hooks", "config.worktree", "commondir", "info/attributes", "info/grafts"),
    "objects/info/alternates",
)
MAX_CONFIG = 100_000  # bytes of a file that is compared
MAX_NESTED, MAX_DIRECTORIES, DEPTH = 50, 2_000, 3  # of the search for repositories
MAX_COMPARED = 1_000  # files under protected names, where nothing can be mounted
# Known by its name alone: neither read nor written through, so no right is needed.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_NOT_ENTERED = (".git", "node_modules", "__pycache__")
# Keys that a command may change: they name branches, remotes and people, and run nothing.
_HARMLESS = (
    r"user\.(name|email|signingkey)|branch\..+\.(remote|merge|rebase|description|pushremote|vscode-merge-base)"
    r"|remote\..+\.(url|fetch|push|prune|pushurl)|submodule\..+\.(url|active|update|branch)"
    r"|submodule\.active|remote\.pushdefault|pull\.(rebase|ff)|push\.(default|autosetupremote)"
    r"|rebase\.(autostash|autosquash)|merge\.ff|init\.defaultbranch|color\..+|advice\..+"
    r"|core\.(bare|filemode|symlinks|ignorecase|repositoryformatversion|logallrefupdates"
    r"|autocrlf|eol)|extensions\.objectformat|lfs\.repositoryformatversion"
)
# And choices of how git itself works and shows: one word, which names no program, file or address.
_CHOICE = (
    r"blame\.(coloring|date|showemail|showroot)|branch\.(autosetupmerge|autosetuprebase|sort)"
    r"|checkout\.(defaultremote|guess|workers)|column\.[a-z]+|commit\.(cleanup|gpgsign|status|verbose)"
    r"|core\.(abbrev|checkstat|compression|longpaths|precomposeunicode|preloadindex|quotepath"
    r"|safecrlf|trustctime|untrackedcache|whitespace)"
    r"|diff\.(algorithm|colormoved|colormovedws|context|indentheuristic|interhunkcontext"
    r"|mnemonicprefix|noprefix|renamelimit|renames)|feature\.manyfiles"
    r"|fetch\.(all|parallel|prune|prunetags)|format\.(numbered|signoff|thread)"
    r"|gc\.(auto|autodetach|autopacklimit|pruneexpire|reflogexpire|reflogexpireunreachable"
    r"|worktreepruneexpire)|gpg\.format|index\.(threads|version)"
    r"|log\.(abbrevcommit|date|decorate|follow)|maintenance\.(auto|strategy)"
    r"|merge\.(autostash|conflictstyle|directoryrenames|log|renamelimit|renames|stat)"
    r"|pack\.threads|push\.(followtags|useforceifincludes)"
    r"|rebase\.(missingcommitscheck|rebasemerges|stat|updaterefs)|remote\..+\.tagopt"
    r"|rerere\.(autoupdate|enabled)|stash\.(showpatch|showstat)"
    r"|status\.(branch|renames|short|showstash|showuntrackedfiles)"
    r"|submodule\.(fetchjobs|recurse)|tag\.(gpgsign|sort)|user\.useconfigonly"
)
_WORD = re.compile(r"[\w.,:+-]*")
_HARMFUL_VALUE = re.compile(r"^-|^ext::|^fd::|^!|[\x00-\x08\x0b-\x1f]")
_PLACE = re.compile(r"(remote|submodule|branch)\..+\.(url|pushurl|remote|pushremote)", re.DOTALL)
_is = partial(re.fullmatch, flags=re.DOTALL)  # compiles at first use: the tables take long
_Content = tuple[int, bytes]  # mode and bytes of a file


@dataclass
class Reverted:
    """What was undone after a command, as paths from the root."""

    moved: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)  # with the key, for a configuration
    changed: list[str] = field(default_factory=list)  # by somebody else, and left


class Protected:
    """The protected names of one root before a command; paths are absolute.

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
        self._root, self._settings, self._git = root, tuple(settings), git
        self._mounted, self._is_kept = mounted, job and mounted
        outside = _git_directories(root)
        inside = [f"{root}/.git", *_nested(root)]
        configs = [f"{repository}/config" for repository in inside]
        self._configs = {path: _read(path) for path in configs}
        self._was_bare = _is_bare(root)
        self._folders = [path for path in inside if not os.path.isfile(path)]
        names = [*self._expanded(), *_configured(root, git)]
        names += [f"{path}/{name}" for path in (*inside, *outside) for name in IN_REPOSITORY]
        names += [f"{path}/config" for path in outside]
        names += [f"{root}/.git"] if os.path.isfile(f"{root}/.git") else []  # it names a directory
        names += [path for path in configs if not self._configs[path] and os.path.lexists(path)]
        self._names, self._links, existing = names, dict[str, str](), set[str]()
        if self._is_kept:
            existing |= {path for path in configs if self._configs[path]}
        for name in names:
            path, link = name, self._entry(name)
            if link and (target := _target(link)):
                self._links[link] = target
                path = os.path.realpath(name)  # below the root a command could change it there
            if not link or not os.path.exists(path) or not _is_below(path, (root, *outside)):
                continue
            if not (os.path.dirname(path) in inside[1:] and _only_samples(path)):
                existing.add(path)  # else a mount would keep `rm -rf` from a repository
        nested = [os.path.dirname(repository) for repository in inside[1:]]
        above = {str(parent) for path in existing for parent in Path(path).parents}
        above = {path for path in above if _is_below(path, (root,)) and path != root}
        pinned = (path for path in above if not any(_is_below(n, (path,)) for n in nested))
        self._existing = existing
        self.read_only, self.pinned = tuple(sorted(existing)), tuple(sorted(pinned))
        self.writable = tuple(outside)
        self._compared = {} if mounted else dict(_contents(existing))
        others = _running(root)
        self._base: Protected = others[0]._base if others else self
        if not self._is_kept:
            _active.setdefault(root, []).append(ref(self))

    def check(self, kept: Path) -> Reverted:
        """Undo what may not stay, once the command and everything it started have ended.

        Nothing is reached through a symbolic link: the first link on the way is what is moved.

        Args:
            kept: The directory to move things to.
        """
        report = Reverted()
        with _looking:
            active = _active.get(self._root, [])
            active[:] = [each for each in active if each() not in (None, self)]
            if self._mounted or not active:
                (self if self._mounted else self._base)._check_names(report, kept)
            if self._is_kept or not active:
                (self if self._is_kept else self._base)._check_contents(report, kept)
        return report

    def _check_names(self, report: Reverted, kept: Path) -> None:
        known = {*self._existing, *self._links}
        for link, target in self._links.items():
            first = self._entry(os.path.dirname(link))
            if first and first != os.path.dirname(link):  # a link on the way, maybe to outside
                if first not in self._links:
                    report.moved += self._move_away(first, kept)
            elif _target(link) != target:
                report.moved += self._move_away(link, kept)
                # another command is faster; the last one has its turn
                with suppress(OSError), self._above(link, make=True) as (fd, name):
                    os.symlink(target, name, dir_fd=fd)
        for path in dict.fromkeys((*self._names, *self._expanded())):
            entry = self._entry(path)
            if entry and entry not in known and path not in known and not _only_samples(entry):
                report.moved += self._move_away(entry, kept)
        for path in self._folders:
            if os.path.isfile(path):  # it could name any directory
                report.moved += self._move_away(path, kept)
        if _is_bare(self._root) and not self._was_bare:  # git would read the `config` beside it
            report.moved += self._move_away(f"{self._root}/HEAD", kept)

    def _check_contents(self, report: Reverted, kept: Path) -> None:
        if not self._mounted:
            self._compare(report, kept)
        for path, before in self._configs.items():
            above, after = os.path.dirname(path), _read(path)
            known = {*self._links, *self._existing}
            is_new = before is None and path not in known and os.path.lexists(path)
            same = after == before and not is_new
            if same or not os.path.isdir(above) or self._entry(above) != above:
                continue
            keys = self._harmful_keys(before, after, kept)
            if keys and self._is_kept:
                report.changed.append(self._name(path))
            elif keys:
                self._restore(path, before, kept)
                report.restored += [f"{self._name(path)} ({key})" for key in keys]

    def _compare(self, report: Reverted, kept: Path) -> None:
        now = dict(_contents(self._existing))
        for path in now.keys() - self._compared.keys():
            report.moved += self._move_away(self._entry(path) or path, kept)
        for path, before in self._compared.items():
            if before is not None and now.get(path) != before and path not in self._configs:
                self._restore(path, before, kept)
                report.restored.append(self._name(path))

    def _restore(self, path: str, before: _Content | None, kept: Path) -> None:
        self._move_away(self._entry(path) or path, kept)
        if before is None:
            return
        with suppress(OSError), self._above(path, make=True) as (above, name):  # as above
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            fd = os.open(name, flags, before[0], dir_fd=above)
            with open(fd, "wb") as file:
                file.write(before[1])
                os.fchmod(fd, before[0])

    def _move_away(self, path: str, kept: Path) -> list[str]:
        """Its path from the root; nothing is lost. A rename, else a copy."""
        if not os.path.lexists(path):
            return []
        try:
            with self._above(path) as (fd, name):
                with suppress(OSError), self._above(f"{path}/."):
                    pass  # it is unlocked on the way
                target = kept / self._name(path).replace("../", "")
                if any(above.is_symlink() for above in target.parents):  # moved there before
                    target = kept / os.urandom(4).hex() / target.name
                target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                while os.path.lexists(target):
                    target = target.with_name(f"{target.name}~")
                shutil.move(f"/proc/self/fd/{fd}/{name}", target)
        except (OSError, shutil.Error, RecursionError):  # a pipe, say, and another file system
            with suppress(OSError), self._above(path) as (fd, name):
                os.rename(name, f"{name}.{os.urandom(4).hex()}", src_dir_fd=fd, dst_dir_fd=fd)
        return [self._name(path)]

    @contextmanager
    def _above(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The directory of a path, reached through no link below the root whoever swaps what
        meanwhile, and the name in it.
        """
        top = self._root if _is_below(path, (self._root,)) else os.path.dirname(path)
        *parts, name = path[len(top.rstrip("/")) + 1 :].split("/")
        fd = os.open(top, _FOLDER)
        try:
            for part in parts:
                _unlock(f"/proc/self/fd/{fd}", os.X_OK)
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=fd)
                outer, fd = fd, os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=fd)
                os.close(outer)
            _unlock(f"/proc/self/fd/{fd}", os.W_OK | os.X_OK)
            yield fd, name
        finally:
            os.close(fd)

    def _name(self, path: str) -> str:
        return os.path.relpath(path, self._root)

    def _entry(self, path: str) -> str:
        """The first link on the way to it from the root, or itself; "" if it is missing."""
        step = self._root if _is_below(path, (self._root,)) else os.path.dirname(path)
        for part in path[len(step) + 1 :].split("/"):
            step = f"{step}/{part}"
            try:
                if stat.S_ISLNK(os.lstat(step).st_mode):
                    return step
            except OSError:
                return ""
        return path

    def _expanded(self) -> list[str]:
        _unlock(self._root, os.R_OK)
        listed, found = os.listdir(self._root), []
        for name in self._settings:
            found += [n for n in listed if fnmatch(n, name)] if "*" in name else [name]
        paths = (os.path.normpath(f"{self._root}/{name}") for name in found)
        return [path for path in paths if _is_below(path, (self._root,)) and path != self._root]

    def _harmful_keys(
        self, before: _Content | None, after: _Content | None, kept: Path
    ) -> list[str]:
        if self._git is None:  # nobody reads it
            return []
        if after is None:  # a link or a pipe: git would read what it leads to
            return ["not a file of git"]
        old, new = ({*self._values(data, kept)} for data in ((before or (0, b""))[1], after[1]))
        changed, values = {key for key, _ in old ^ new}, new - old
        bad = {key for key in changed if not (_is(_HARMLESS, key) or _is(_CHOICE, key))}
        return sorted(bad | {key for key, value in values if self._is_harmful(key, value)})

    def _is_harmful(self, key: str, value: str) -> bool:
        if _is(_CHOICE, key):
            return not _WORD.fullmatch(value)
        path = os.path.normpath(os.path.join(self._root, value))
        is_inside = _is_below(path, (self._root,)) and path != self._root
        is_place = is_inside and os.path.exists(path) and bool(_PLACE.fullmatch(key))
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
            with suppress(OSError):  # something was moved there
                kept.rmdir()
        yield from map(_pair, _fields(done.stdout))
        if done.returncode:
            yield "not a configuration that git can read", ""


_active: dict[str, list["ref[Protected]"]] = {}  # of commands that run, by root, the oldest first
_looking = Lock()  # a command looks before, or is looked after, while no other one begins or ends


os.register_at_fork(after_in_child=_active.clear)  # what runs stays with the other process


def look(
    root: str, settings: Iterable[str], git: str | None, *, mounted: bool, job: bool
) -> Protected:
    """`Protected`, as it is for a command among others.

    What was changed is decided when the last of them has ended, by what was there before the first:
    else the end of one would take for the user's what another one did.
    """
    with _looking:
        return Protected(root, settings, git, mounted=mounted, job=job)


def _running(root: str) -> list[Protected]:
    return [one for each in _active.get(root, []) if (one := each())]


_known: dict[str, tuple[dict[str, _Content | None], list[str]]] = {}


def _configured(root: str, git: str | None) -> list[str]:
    """What below the root the user's configuration of git names: hooks, included files, programs.

    Git is asked again only when one of the files that it read has other bytes.
    """
    if git is None:
        return []
    files, paths = _known.get(root, ({}, []))
    if not files or any(_read(name) != data for name, data in files.items()):
        own = {n: v for n, v in os.environ.items() if n.startswith("GIT_CONFIG_")}
        own |= {n: os.environ[n] for n in ("HOME", "XDG_CONFIG_HOME") if n in os.environ}
        done = _ran(git, ["config", "--list", "-z", "--show-origin"], root, own)
        fields, home = _fields(done.stdout), os.path.expanduser("~")
        origins = {field.removeprefix("file:") for field in fields[::2]}
        origins |= {f"{home}/.gitconfig", f"{home}/.config/git/config", ".git/config"}
        files, paths = {path: _read(path) for path in (os.path.join(root, o) for o in origins)}, []
        for key, value in map(_pair, fields[1::2]):
            word = os.path.expanduser(value.split(" ")[0])
            for base in (root, f"{root}/.git") if word and not _is(_HARMLESS, key) else ():
                path = os.path.normpath(os.path.join(base, word))
                if _is_below(path, (root,)) and os.path.exists(path):
                    paths.append(path)
        own_files = (root, f"{root}/.git", f"{root}/.git/config")
        paths = [path for path in paths if path not in own_files]
        _known[root] = files, paths
    return [path for path in paths if os.path.exists(path)]


def _git_directories(root: str) -> list[str]:
    """Of a work tree whose `.git` is a file: only if that directory names this root, too."""
    pointer = (_read(f"{root}/.git") or (0, b""))[1]
    if not pointer.startswith(b"gitdir: "):
        return []
    folder = os.path.realpath(os.path.join(root, os.fsdecode(pointer[8:].strip())))
    back, common = (
        (_read(f"{folder}/{n}") or (0, b""))[1].strip() for n in ("gitdir", "commondir")
    )
    place = os.path.realpath(os.path.join(folder, os.fsdecode(common)))
    # A command can write all three where it may write, so none of that is taken for git's.
    is_whole = os.path.isfile(f"{place}/HEAD") and os.path.isdir(f"{place}/objects")
    is_ours = (
        back == os.fsencode(f"{root}/.git") and os.path.dirname(folder) == f"{place}/worktrees"
    )
    return [place] if is_ours and is_whole and not _is_below(folder, (root,)) else []


def _is_bare(root: str) -> bool:
    """Whether git takes the directory itself for a repository."""
    return all(os.path.lexists(f"{root}/{name}") for name in ("HEAD", "objects", "refs"))


def _nested(root: str) -> list[str]:
    """Directories of git of other repositories in the root, and of its submodules."""
    found, level = [], [root]
    for _ in range(DEPTH):
        level = [name for folder in level for name in _folders(folder)][:MAX_DIRECTORIES]
        found += [f"{name}/.git" for name in level if os.path.isfile(f"{name}/.git/HEAD")]
    level = [f"{root}/.git/modules"]
    for _ in range(DEPTH):  # the name of a submodule is its path
        level = [name for folder in level for name in _folders(folder)][:MAX_DIRECTORIES]
        found += [name for name in level if os.path.isfile(f"{name}/HEAD")]
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


def _contents(places: Iterable[str]) -> Iterator[tuple[str, _Content | None]]:
    """Each file at or below them; None for what is no file, or too large."""
    seen = 0
    for place in places:
        folder, _, name = place.rpartition("/")
        for above, _, files in os.walk(place) if os.path.isdir(place) else [(folder, [], [name])]:
            for path in (f"{above}/{name}" for name in files):
                if (seen := seen + 1) > MAX_COMPARED:
                    return
                yield path, _read(path)


def _target(path: str) -> str:
    """What a symbolic link leads to, "" for anything else."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _is_below(path: str, places: Iterable[str]) -> bool:
    return f"{path}/".startswith(tuple(f"{place}/" for place in places))


def _only_samples(path: str) -> bool:
    """What `git init` makes."""
    if not path.endswith("/hooks") or not os.path.isdir(path):
        return False
    try:
        return all(name.endswith(".sample") for name in os.listdir(path))
    except OSError:  # closed to us
        return False


def _unlock(folder: str, needed: int) -> None:
    """Let our user do with a directory what is needed, which a command may have forbidden."""
    with suppress(OSError):  # another user's
        if not os.access(folder, needed):
            os.chmod(folder, stat.S_IMODE(os.stat(folder).st_mode) | stat.S_IRWXU)


def _read(path: str) -> _Content | None:
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
