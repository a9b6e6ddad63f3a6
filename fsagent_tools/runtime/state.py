"""Where what outlives a process is kept: outside the root, and readable by this user only."""

import os
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from fsagent_tools.errors import ConfigInvalid, NotConfigured

FORMATS = {"history": 2}  # of what later versions have to understand
_Given = str | os.PathLike[str] | None
STATE = "/fsagent"  # ends the path of all that is kept so


def state_home() -> str:
    """`fsagent` in `$XDG_STATE_HOME`, default `~/.local/state`. Raises `RuntimeError`: no home."""
    return _home(os.environ.get("XDG_STATE_HOME") or "~/.local/state", os.environ.get("HOME"))


@lru_cache(maxsize=64)
def _home(given: str, _: str | None) -> str:
    return f"{Path(given).expanduser().resolve()}{STATE}"


def shared_home(given: _Given, root: _Given, cache_dir: _Given) -> str:
    """The directory of `Workspace(state=...)`, links resolved; "" for None. Raises `ConfigInvalid`.

    It has to be there: where a volume is not mounted, each host would keep a state of its own.
    """
    if given is None:
        return ""
    if root is None or cache_dir is not None:
        what = "a workspace of files elsewhere" if root is None else "line indexes in cache_dir"
        raise ConfigInvalid(f"state is not for {what}.", hint="Leave out one of the two.")
    path = Path(given).expanduser()
    home, own = (os.path.realpath(each) for each in (path, Path(root).expanduser()))
    beside = "Give a directory outside the root, which neither tools nor commands may reach."
    shared = "Make it, or mount the volume that the hosts share."
    for wrong, is_so, hint in (
        ("is relative", not path.is_absolute(), "Give its whole path."),
        ("does not exist", not path.exists(), shared),
        ("is not a directory", not path.is_dir(), beside),
        ("is inside the root", f"{home}/".startswith(f"{own.rstrip('/')}/"), beside),
        ("holds the root", own.startswith(f"{home.rstrip('/')}/"), beside),
        ("cannot be written by this user", not os.access(home, os.W_OK | os.X_OK), shared),
    ):
        if is_so:
            raise ConfigInvalid(f"state: {path} {wrong}.", hint=hint)
    return home


def is_project(root: str) -> bool:
    """False for "/" and for home directories, in which nobody looks for what tools leave behind."""
    homes = ("/", "/root", os.path.realpath(os.environ.get("HOME") or "/"))
    return root not in homes and str(Path(root).parent) not in ("/home", "/Users")


def state_folder(root: str, name: str, home: str = "", *, inside: bool = False) -> str | None:
    """The directory `name` for what belongs to `root` (links resolved), made if it is missing.

    home: that of `shared_home`, "" for this user's own. None where it would lie inside the root
    (inside: it may), or cannot be made or written. Raises `NotConfigured` for what a later version
    wrote there.
    """
    try:
        if home and not Path(home).is_dir():  # a volume that is not mounted any more
            return None
        home = home or state_home()
        if not inside and f"{home}/".startswith(f"{root.rstrip('/')}/"):
            return None
        folder = _place(home, root, name)
        if known := FORMATS.get(name):
            _check_folder(Path(folder), name, known)
        if os.access(folder, os.W_OK):
            return folder
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        Path(folder).chmod(0o700)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None


def check_format(what: str, found: object, known: int, where: str) -> None:
    """Raises `NotConfigured` for a format of a later version."""
    if isinstance(found, int) and found > known:
        raise NotConfigured(
            f"{what} is of format {found}, and this version of fsagent-tools knows formats up to "
            f"{known}. Nothing was changed.",
            hint=f"Upgrade fsagent-tools here, or move {where} away to begin anew.",
        )


def _check_folder(folder: Path, name: str, known: int) -> None:
    """Beside the folder stands its format, which a later version raises."""
    mark, found = folder.with_suffix(".format"), 0
    with suppress(FileNotFoundError, ValueError):
        found = int(mark.read_text())
    check_format(f"What is kept in {folder}", found, known, str(folder))
    if found < known:
        with suppress(OSError):
            mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            mark.write_text(f"{known}\n")


def _place(home: str, root: str, name: str) -> str:
    return f"{home}/{root_name(root)}/{name}"


def root_name(root: str) -> str:
    """Of a root (links resolved), among those whose state is kept in one place."""
    return sha256(os.fsencode(root)).hexdigest()[:16]


def own_state(home: str = "") -> tuple[str, ...]:
    """The directories of all that is kept so, closed to every tool."""
    given = (home,) if home else ()
    try:
        return (state_home(), *given)
    except (OSError, RuntimeError):
        return given


def is_own_state(path: str) -> bool:
    """Whether that real path is the user's own such directory, or beneath it."""
    return f"{path}/".startswith(tuple(f"{place}/" for place in own_state()))
