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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from threading import Lock
from weakref import ref

from fsagent_tools.shell.repositories import (
    HARMLESS,
    SmallFile,
    configured,
    fields,
    git_directories,
    is_bare,
    is_below,
    is_key,
    pair,
    ran,
    read_small,
    repositories,
)

IN_REPOSITORY = (
    *("hooks", "config.worktree", "commondir", "info/attributes", "info/grafts"),
    "objects/info/alternates",
)
MAX_NESTED = 50  # other repositories that a command may not change
MAX_COMPARED = 1_000  # files under protected names, where nothing can be mounted
# Known by its name alone: neither read nor written through, so no right is needed.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
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
# And what makes a repository one whose work trees, all of them looked at, differ.
_OF_CLONES = r"extensions\.worktreeconfig|core\.(sparsecheckout(cone)?|worktree)|index\.sparse"
_WORD = re.compile(r"[\w.,:+-]*")
_HARMFUL_VALUE = re.compile(r"^-|^ext::|^fd::|^!|[\x00-\x08\x0b-\x1f]")
_PLACE = re.compile(r"(remote|submodule|branch)\..+\.(url|pushurl|remote|pushremote)", re.DOTALL)
_ENDS = ("", ".git", "/.git")  # which git tries behind an address


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
        outside = git_directories(root)
        own = os.path.realpath(f"{root}/.git")  # below the root a command could change it there
        others = repositories(root)
        inside = [own if is_below(own, (root,)) else f"{root}/.git", *others.nested[:MAX_NESTED]]
        configs = [f"{repository}/config" for repository in inside]
        configs += [f"{folder}/config.worktree" for folder in others.work_trees]
        self._configs = {path: read_small(path) for path in configs}
        self._was_bare = is_bare(root)
        self._folders = [path for path in inside if not os.path.isfile(path)]
        self._nested, self._pointers = {*others.nested}, others.pointers
        names = [*self._expanded(), *configured(root, git)]
        names += [f"{path}/{name}" for path in (*inside, *outside) for name in IN_REPOSITORY]
        names += [f"{path}/config" for path in outside]
        is_pointer = os.path.islink(f"{root}/.git") or os.path.isfile(f"{root}/.git")
        names += [f"{root}/.git"] if is_pointer else []
        names += [path for path in configs if not self._configs[path] and os.path.lexists(path)]
        self._names, self._links, existing = names, dict[str, str](), set[str]()
        if self._is_kept:
            existing |= {path for path in configs if self._configs[path]}
        for name in names:
            path, link = name, self._entry(name)
            if link and (target := _target(link)):
                self._links[link] = target
                path = os.path.realpath(name)  # below the root a command could change it there
            if not link or not os.path.exists(path) or not is_below(path, (root, *outside)):
                continue
            if not (os.path.dirname(path) in inside[1:] and _only_samples(path)):
                existing.add(path)  # else a mount would keep `rm -rf` from a repository
        nested = [os.path.dirname(repository) for repository in inside[1:]]
        free = [] if job else nested  # a job has time to move one and to come back
        above = _parents(existing, (root, *outside))
        pinned = (path for path in above if not any(is_below(n, (path,)) for n in free))
        self._existing = existing
        self.read_only, self.pinned = tuple(sorted(existing)), tuple(sorted(pinned))
        self.writable = tuple(outside)
        self._compared = {} if mounted else dict(_contents(existing))
        files = [f"{f}/{name}" for f in others.work_trees for name in ("commondir", "gitdir")]
        files += self._pointers
        # What is mounted moves with a nested repository.
        files += [path for path in existing if mounted and is_below(path, nested)]
        self._watched = dict(_contents(files))
        running = _running(root)
        self._base: Protected = running[0]._base if running else self
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
        if is_bare(self._root) and not self._was_bare:  # git would read the `config` beside it
            report.moved += self._move_away(f"{self._root}/HEAD", kept)

    def _check_contents(self, report: Reverted, kept: Path) -> None:
        if not self._mounted:
            self._compare(report, kept)
        for path, before in self._configs.items():
            above, after = os.path.dirname(path), read_small(path)
            known = {*self._links, *self._existing}
            is_new = before is None and path not in known and os.path.lexists(path)
            same = after == before and not is_new
            if same or not os.path.isdir(above) or self._entry(above) != above:
                continue
            keys = self._harmful_keys(before, after, kept)
            if keys and self._is_kept and before:
                report.changed.append(self._name(path))
            elif keys:
                self._restore(path, before, kept)
                report.restored += [f"{self._name(path)} ({key})" for key in keys]

        for path, before in self._watched.items():
            if (now := read_small(path)) and now != before and self._entry(path) == path:
                self._restore(path, before, kept)
                report.restored.append(self._name(path))
        self._check_new(report, kept)

    def _check_new(self, report: Reverted, kept: Path) -> None:
        """Repositories that the command made, or led git to: it enters those of the root itself."""
        now = repositories(self._root)
        for pointer, place in now.pointers.items():
            if place != self._pointers.get(pointer) and not is_below(place, (self._root,)):
                report.moved += self._move_away(pointer, kept)
        made = [place for place in now.nested if place not in self._nested]
        configs = [f"{place}/{name}" for place in made for name in ("config", "config.worktree")]
        configs += [f"{folder}/config.worktree" for folder in now.work_trees]
        for config in configs:
            if config in self._configs or not os.path.lexists(config):
                continue
            place = os.path.dirname(config)
            if keys := self._harmful_keys(None, read_small(config), kept, made=place):
                self._restore(config, None, kept)
                report.restored += [f"{self._name(config)} ({key})" for key in keys]
        for hooks in (f"{place}/hooks" for place in made):
            if os.path.lexists(hooks) and not _only_samples(hooks):
                report.moved += self._move_away(hooks, kept)

    def _compare(self, report: Reverted, kept: Path) -> None:
        now = dict(_contents(self._existing))
        for path in now.keys() - self._compared.keys():
            report.moved += self._move_away(self._entry(path) or path, kept)
        for path, before in self._compared.items():
            if before is not None and now.get(path) != before and path not in self._configs:
                self._restore(path, before, kept)
                report.restored.append(self._name(path))

    def _restore(self, path: str, before: SmallFile | None, kept: Path) -> None:
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
        top = self._root if is_below(path, (self._root,)) else os.path.dirname(path)
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
        step = self._root if is_below(path, (self._root,)) else os.path.dirname(path)
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
        return [path for path in paths if is_below(path, (self._root,)) and path != self._root]

    def _harmful_keys(
        self,
        before: SmallFile | None,
        after: SmallFile | None,
        kept: Path,
        *,
        made: str = "",
    ) -> list[str]:
        """made: the directory of a repository that the command made, maybe of others here."""
        if self._git is None:  # nobody reads it
            return []
        if after is None:  # a link or a pipe: git would read what it leads to
            return ["not a file of git"]
        old, new = ({*self._values(data, kept)} for data in ((before or (0, b""))[1], after[1]))
        changed, values = {key for key, _ in old ^ new}, new - old
        allowed = (HARMLESS, _CHOICE, *([_OF_CLONES] if made else []))
        bad = {key for key in changed if not any(is_key(keys, key) for keys in allowed)}
        return sorted(bad | {key for key, value in values if self._is_harmful(key, value, made)})

    def _is_harmful(self, key: str, value: str, made: str) -> bool:
        if is_key(_CHOICE, key):
            return not _WORD.fullmatch(value)
        if key == "core.worktree":
            return not is_below(os.path.realpath(os.path.join(made, value)), (self._root,))
        is_here = not made and bool(_PLACE.fullmatch(key)) and self._is_here(value)
        return is_here or bool(_HARMFUL_VALUE.search(value))

    def _is_here(self, address: str) -> bool:
        """Whether git, in the root, finds something below it there, or where a process is."""
        address = address.removeprefix("file://")
        if address in ("", "."):  # a branch follows another one of its repository
            return False
        places = (os.path.realpath(os.path.join(self._root, address + end)) for end in _ENDS)
        return address.startswith("/proc/") or any(
            os.path.exists(p) and is_below(p, (self._root,)) and p != self._root for p in places
        )

    def _values(self, data: bytes, kept: Path) -> Iterator[tuple[str, str]]:
        """As git reads it, from a copy that nobody else writes to, without included files."""
        kept.mkdir(parents=True, exist_ok=True, mode=0o700)
        copy = kept / f"config-{os.urandom(6).hex()}"
        copy.write_bytes(data)
        try:
            words = ["config", "--file", str(copy), "--no-includes", "--list", "-z"]
            done = ran(self._git, words, "/")
        finally:
            copy.unlink()
            with suppress(OSError):  # something was moved there
                kept.rmdir()
        yield from map(pair, fields(done.stdout))
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


def _contents(places: Iterable[str]) -> Iterator[tuple[str, SmallFile | None]]:
    """Each file at or below them; None for what is no file, or too large."""
    seen = 0
    for place in places:
        folder, _, name = place.rpartition("/")
        _unlock(place, os.R_OK | os.X_OK) if os.path.isdir(place) else None
        for above, _, files in os.walk(place) if os.path.isdir(place) else [(folder, [], [name])]:
            for path in (f"{above}/{name}" for name in files):
                seen += 1
                yield path, read_small(path) if seen <= MAX_COMPARED else None


def _parents(paths: Iterable[str], places: Sequence[str]) -> set[str]:
    """Directories above them, below these places."""
    above = {str(parent) for path in paths for parent in Path(path).parents}
    return {path for path in above if is_below(path, places) and path not in places}


def _target(path: str) -> str:
    """What a symbolic link leads to, "" for anything else."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


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
