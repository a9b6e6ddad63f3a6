"""Refusals of paths: errors of the system with the path and the next step, and suggestions."""

import errno
import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from fsagent_tools import errors
from fsagent_tools.files.base import TEMP_PREFIX, NotKept, Place, ResolvedPath
from fsagent_tools.names import display, is_unicode, meant

if TYPE_CHECKING:
    from fsagent_tools.files.guarded import GuardedFiles

WINDOWS = re.compile(r"[A-Za-z]:[\\/]|[A-Za-z]:[^\s:/]+\.\w+$|\\\\")
PATH_MAX, NAME_MAX = 4096, 255  # bytes
MAX_DEPTH = 200  # directories inside each other in one tree; each costs an open descriptor
SUGGESTIONS = 3
_COMPARED = 5000  # names compared for a suggestion; difflib takes about 5 us each
MAX_SEARCHED = 5_000  # entries in a search for a name elsewhere, those nearest to the root first
_SKIPPED = ("node_modules", "__pycache__")


def shown(path: str) -> str:
    """`path` for a message: no control characters, not longer than a line."""
    text = display(path)
    return text if len(text) <= 200 else f"{text[:120]}…{text[-60:]}"


def printable(path: str) -> str:
    """`path` as text that any JSON holds: bytes that are no UTF-8 become escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def too_long(path: str) -> errors.InvalidPath:
    hint = f"A path has fewer than {PATH_MAX:,} bytes, each name at most {NAME_MAX}."
    return errors.InvalidPath(f"The path {shown(path)} is too long.", hint=hint)


def too_deep(path: str) -> errors.InvalidPath:
    message = f"{shown(path)} is more than {MAX_DEPTH} directories deep."
    return errors.InvalidPath(message, hint="Work on a directory further down.")


def outside(path: str, inside: str = "") -> errors.OutsideWorkspace:
    """`inside`: what the same words mean beneath the root."""
    meant = f"Did you mean {shown(inside)}? " if inside else ""
    hint = f"{meant}Use a path relative to the workspace root."
    return errors.OutsideWorkspace(f"{shown(path)} is outside the workspace.", hint=hint)


def loop(path: str) -> errors.LinkLoop:
    message = f"{shown(path)} goes through too many symbolic links (a loop?)."
    return errors.LinkLoop(message, hint="Name the real file instead.")


def no_such(path: str, name: str) -> errors.Missing:
    return errors.Missing(f"{shown(path)} does not exist: there is no {shown(name)}.")


def no_directory_of(path: str) -> errors.Missing:
    hint = "Make it first, or choose another destination."
    return errors.Missing(f"The directory of {shown(path)} does not exist.", hint=hint)


def not_a_directory(path: str, above: str = "") -> errors.NotADirectory:
    """`above`: the file that stands where a directory above `path` should be."""
    if not above:
        message = f"{shown(path)} is not a directory."
        return errors.NotADirectory(message, hint="Use the path of a directory.")
    message = f"{shown(path)}: {shown(above)} is a file, not a directory."
    return errors.NotADirectory(message, hint="Choose another path.")


def not_a_file(path: str, kind: str) -> errors.NotAFile:
    is_directory = kind == "directory"
    hint = "Name a file in it. List it with `ls`." if is_directory else "Name a regular file."
    return errors.NotAFile(f"{shown(path)} is a {kind}, not a regular file.", hint=hint)


def locked_by_another(path: str, timeout: float) -> errors.TimedOut:
    message = f"{shown(path)} is locked by another writer; waited {timeout:g} s."
    return errors.TimedOut(message, hint="Nothing was changed. Try again.")


def changed_meanwhile(path: str) -> errors.Conflict:
    message = f"{shown(path)} was changed by someone else meanwhile."
    return errors.Conflict(message, hint="Nothing was written. Read it again.")


def backslash_in_name(path: str) -> errors.InvalidPath:
    message = f"{shown(path)} would be one file name: a backslash separates nothing here."
    return errors.InvalidPath(message, hint=f"Use {shown(path.replace(chr(92), '/'))}.")


def is_root(path: str) -> errors.Denied:
    message = f"{shown(path)} is or contains a workspace root, which stays where it is."
    return errors.Denied(message, hint="Name an entry inside it.")


def into_itself(source: str, destination: str) -> errors.InvalidArguments:
    if source != destination and meant(destination, [source]) == source:
        return errors.InvalidArguments(
            f"{shown(destination)} is the name of {shown(source)}: the same letters, composed or"
            " spaced otherwise.",
            hint="To have them so, move it to another name first, and then to this one.",
        )
    message = f"{shown(destination)} is {shown(source)} or inside it."
    return errors.InvalidArguments(message, hint="Choose a destination elsewhere.")


def not_replaced(path: str, kind: str) -> errors.AlreadyExists:
    """`kind`: of what is there."""
    if kind == "directory":
        message = f"{shown(path)} is a directory; directories are not replaced."
        return errors.AlreadyExists(message, hint="Give the full path of the new entry.")
    hint = "Choose another path. Or set `overwrite`=true to replace a file."
    return errors.AlreadyExists(f"{shown(path)} already exists.", hint=hint)


def _denied(path: str) -> errors.Denied:
    message = f"{shown(path)}: the operating system refused (permission denied)."
    return errors.Denied(message, hint="Choose another file, or change its permissions first.")


def _exists(path: str) -> errors.AlreadyExists:
    return errors.AlreadyExists(f"{shown(path)} already exists.", hint="Choose another path.")


MEANINGS: dict[int | None, Callable[[str], errors.ToolError]] = {
    errno.ENOENT: lambda path: errors.Missing(f"{shown(path)} does not exist."),
    errno.EEXIST: _exists,
    errno.ENOTEMPTY: _exists,
    errno.ENOTDIR: not_a_directory,
    errno.EISDIR: lambda path: not_a_file(path, "directory"),
    errno.ELOOP: loop,
    errno.ENXIO: lambda path: not_a_file(path, "device, socket or pipe"),
    errno.ENODEV: lambda path: not_a_file(path, "device, socket or pipe"),
    errno.ENAMETOOLONG: too_long,
    errno.EACCES: _denied,
    errno.EPERM: _denied,
}


def refusal(error: OSError, path: str, *, writing: bool = False) -> errors.ToolError:
    """The refusal for what the system answered about `path`; unknown errors are failures."""
    name, reason = shown(path), os.strerror(error.errno or errno.EIO)
    if isinstance(error, NotKept):
        return errors.WriteFailed(
            f"{name} was not changed, as the history has no place for its old state ({reason}).",
            hint=f"Make room in {error.filename}, or turn the history off.",
        )
    if meaning := MEANINGS.get(error.errno):
        return meaning(path)
    if writing:
        message = f"{name} could not be written ({reason})."
        return errors.WriteFailed(message, hint="The old content is unchanged.")
    return errors.ReadFailed(f"{name} could not be read ({reason}).", hint="Try again later.")


def _not_utf8(path: str) -> errors.InvalidPath:
    """`path`: with its odd bytes as escapes."""
    return errors.InvalidPath(
        f"The name {path[:200]} is not UTF-8, which names are here.",
        hint=f"Rename it first. In `bash` it is $'{path[:200]}'.",
    )


def check_spelling(path: str) -> None:
    """Raise `InvalidPath` for what no file system could hold."""
    if not path.strip():
        raise errors.InvalidPath("The path is empty.", hint="Name a file, or '.' for the root.")
    if WINDOWS.match(path):
        hint = "Use a path relative to the workspace root."
        raise errors.InvalidPath(f"{shown(path)!r} is a Windows path.", hint=hint)
    if "\0" in path:
        message = f"The path {shown(path)!r} contains a NUL character."
        raise errors.InvalidPath(message, hint="Remove it.")
    try:
        raw = path.encode()
    except UnicodeEncodeError:
        with suppress(UnicodeEncodeError):
            raise _not_utf8(printable(path)) from None
        raise errors.InvalidPath(
            f"The path {ascii(path)[:200]} contains a lone surrogate, which is not a character.",
            hint="Write the name as ordinary text.",
        ) from None
    if len(raw) >= PATH_MAX:
        raise too_long(path)


def missing(
    files: "GuardedFiles", path: str, at: ResolvedPath, above: Place, *, new: bool
) -> errors.ToolError:
    """The refusal of a path that leads to nothing; above: the place of `at.above`.

    The hint is made when somebody reads it: similar names there, else what bears the name in other
    directories. Nothing is named that the policy hides. new: something was to be made there.
    """
    import difflib

    name, names = at.name, files.store.siblings(at)

    def visible(name: str) -> bool:
        return not name.startswith(TEMP_PREFIX) and files.shows(above.inside(name))

    if "\\x" in name and any(printable(n) == name and visible(n) for n in names if n != name):
        return _not_utf8(path)
    folded = {n.casefold(): n for n in names[:_COMPARED] if is_unicode(n) and visible(n)}
    similar = difflib.get_close_matches(name.casefold(), folded, SUGGESTIONS)
    stem = path.rstrip("/")
    directory = stem[: -len(name)] if stem.endswith(name) else ""

    def hint() -> str:
        if link := _dangling(files, path):
            return (
                f"{shown(link[0])} is a link to {shown(link[1])}, which does not exist."
                " Write what it leads to, or remove the link."
            )
        slashed = path.replace("\\", "/")
        if slashed != path and files.kind_of(slashed):
            return f"Did you mean {shown(slashed)}?"
        others = [directory + folded[match] for match in similar]
        if not others and not new:
            others = [*islice(_elsewhere(files, stem.rpartition("/")[2]), SUGGESTIONS)]
        if not others:
            return "Check the path. List the directory with `ls`."
        return f"Did you mean {', '.join(map(shown, others))}?"

    return errors.Missing(f"{shown(path)} does not exist.", look=hint)


def _dangling(files: "GuardedFiles", path: str) -> tuple[str, str] | None:
    """The first link on the way that leads to nothing, and what it says."""
    ends = [at for at, character in enumerate(path) if character == "/" and at]
    for end in [*ends, len(path)]:
        with suppress(errors.ToolError):
            status = files.stat(path[:end].rstrip("/"))
            if status.target is not None and status.target_kind is None:
                return path[:end], status.target
    return None


def _elsewhere(files: "GuardedFiles", name: str) -> Iterator[str]:
    """Entries of that name that may be read, as answers call them, the nearest ones first.

    No link is followed, and no directory entered that begins with a dot.
    """
    left, waiting = MAX_SEARCHED, deque(["."])
    while waiting and left > 0:
        path = waiting.popleft()
        try:
            with files.directory(path) as directory:
                entries, place = directory.entries(), directory.place
        except errors.ToolError:
            continue
        for entry in entries[:left]:
            if entry.name == name and files.shows(place.inside(name)):
                yield place.inside(name).told
            passed = entry.name.startswith(".") or entry.name in _SKIPPED
            if not passed and entry.is_dir(follow_symlinks=False):
                waiting.append(f"{path}/{entry.name}")
        left -= len(entries)
