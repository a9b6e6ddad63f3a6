"""Where git's repositories lie in a root, and what their configurations name."""

import os
import re
import stat
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

MAX_CONFIG = 100_000  # bytes of a file that is compared
MAX_DIRECTORIES, DEPTH = 2_000, 3  # of the search for repositories
_NOT_ENTERED = (".git", "node_modules", "__pycache__")
# Keys that a command may change: they name branches, remotes and people, and run nothing.
HARMLESS = (
    r"user\.(name|email|signingkey)|branch\..+\.(remote|merge|rebase|description|pushremote|vscode-merge-base)"
    r"|remote\..+\.(url|fetch|push|prune|pushurl|promisor|partialclonefilter)"
    r"|submodule\..+\.(url|active|update|branch)"
    r"|submodule\.active|remote\.pushdefault|pull\.(rebase|ff)|push\.(default|autosetupremote)"
    r"|rebase\.(autostash|autosquash)|merge\.ff|init\.defaultbranch|color\..+|advice\..+"
    r"|core\.(bare|filemode|symlinks|ignorecase|repositoryformatversion|logallrefupdates"
    r"|autocrlf|eol)|extensions\.(objectformat|partialclone)|lfs\.repositoryformatversion"
)
is_key = partial(re.fullmatch, flags=re.DOTALL)  # compiles at first use: the tables take long
SmallFile = tuple[int, bytes]  # mode and bytes of a file


_known: dict[str, tuple[dict[str, SmallFile | None], list[str]]] = {}


def configured(root: str, git: str | None) -> list[str]:
    """What below the root the user's configuration of git names: hooks, included files, programs.

    Git is asked again only when one of the files that it read has other bytes.
    """
    if git is None:
        return []
    files, paths = _known.get(root, ({}, []))
    if not files or any(read_small(name) != data for name, data in files.items()):
        own = {n: v for n, v in os.environ.items() if n.startswith("GIT_CONFIG_")}
        own |= {n: os.environ[n] for n in ("HOME", "XDG_CONFIG_HOME") if n in os.environ}
        done = ran(git, ["config", "--list", "-z", "--show-origin"], root, own)
        found, home = fields(done.stdout), os.path.expanduser("~")
        origins = {field.removeprefix("file:") for field in found[::2]}
        origins |= {f"{home}/.gitconfig", f"{home}/.config/git/config", ".git/config"}
        files, paths = (
            {path: read_small(path) for path in (os.path.join(root, o) for o in origins)},
            [],
        )
        for key, value in map(pair, found[1::2]):
            word = os.path.expanduser(value.split(" ")[0])
            for base in (root, f"{root}/.git") if word and not is_key(HARMLESS, key) else ():
                path = os.path.normpath(os.path.join(base, word))
                if is_below(path, (root,)) and os.path.exists(path):
                    paths.append(path)
        own_files = (root, f"{root}/.git", f"{root}/.git/config")
        paths = [path for path in paths if path not in own_files]
        _known[root] = files, paths
    return [path for path in paths if os.path.exists(path)]


def git_directories(root: str) -> list[str]:
    """Of a work tree whose `.git` is a file: only if that directory names this root, too."""
    pointer = (read_small(f"{root}/.git") or (0, b""))[1]
    if not pointer.startswith(b"gitdir: "):
        return []
    folder = os.path.realpath(os.path.join(root, os.fsdecode(pointer[8:].strip())))
    back, place = (read_small(f"{folder}/gitdir") or (0, b""))[1].strip(), _common(folder)
    # A command can write all three where it may write, so none of that is taken for git's.
    is_whole = os.path.isfile(f"{place}/HEAD") and os.path.isdir(f"{place}/objects")
    is_ours = (
        back == os.fsencode(f"{root}/.git") and os.path.dirname(folder) == f"{place}/worktrees"
    )
    return [place, folder] if is_ours and is_whole and not is_below(folder, (root,)) else []


def is_bare(root: str) -> bool:
    """Whether git takes the directory itself for a repository."""
    return all(os.path.lexists(f"{root}/{name}") for name in ("HEAD", "objects", "refs"))


class Repositories(NamedTuple):
    """What is in a root, but its own repository.

    Attributes:
        nested: Directories of git of others, three levels deep, and of its submodules.
        pointers: Files and links that lead git elsewhere: to the directory of a repository.
        work_trees: Directories of git of the other work trees of all of them.
    """

    nested: list[str]
    pointers: dict[str, str]
    work_trees: list[str]


def repositories(root: str) -> Repositories:
    nested, pointers = list[str](), dict[str, str]()
    work_trees, level = _folders(f"{root}/.git/worktrees"), [root]
    for _ in range(DEPTH):
        level = [name for folder in level for name in _folders(folder)][:MAX_DIRECTORIES]
        for git in (f"{name}/.git" for name in level if os.path.lexists(f"{name}/.git")):
            folder, pointer = git, f"{git}/commondir"
            if (said := (read_small(git) or (0, b""))[1]).startswith(b"gitdir: "):
                path = os.path.join(os.path.dirname(git), os.fsdecode(said[8:].strip()))
                folder, pointer = os.path.realpath(path), git
            elif os.path.islink(git):
                folder, pointer = os.path.realpath(git), git
            elif os.path.isfile(f"{git}/HEAD"):
                nested.append(git)
            if pointer == git or os.path.lexists(pointer):
                pointers[pointer] = _common(folder)
                work_trees += [folder] if is_below(folder, (root,)) else []
    nested += [place for place in pointers.values() if is_below(place, (root,))]
    level = [f"{root}/.git/modules"]
    for _ in range(DEPTH):  # the name of a submodule is its path
        level = [name for folder in level for name in _folders(folder)][:MAX_DIRECTORIES]
        nested += [name for name in level if os.path.isfile(f"{name}/HEAD")]
    own = os.path.realpath(f"{root}/.git")
    return Repositories(
        [name for name in dict.fromkeys(nested) if name != own], pointers, work_trees
    )


def _common(folder: str) -> str:
    """Of the repository that a work tree's directory of git belongs to."""
    said = (read_small(f"{folder}/commondir") or (0, b""))[1].strip()
    return os.path.realpath(os.path.join(folder, os.fsdecode(said)))


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


def is_below(path: str, places: Iterable[str]) -> bool:
    return f"{path}/".startswith(tuple(f"{place}/" for place in places))


def read_small(path: str) -> SmallFile | None:
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


def ran(
    git: str | None, words: list[str], cwd: str, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    own = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull} if env is None else env
    env = {"PATH": os.defpath, "LC_ALL": "C", **own}
    words = [git or "git", *words]
    with suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(words, capture_output=True, check=False, env=env, cwd=cwd, timeout=10)
    return subprocess.CompletedProcess(words, 1, b"", b"")


def fields(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]


def pair(row: str) -> tuple[str, str]:
    key, _, value = row.partition("\n")
    return key, value
