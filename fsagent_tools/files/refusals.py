"""Operating-system errors as refusals that name the path and the next step."""

import errno
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from fsagent_tools import errors
from fsagent_tools.files.keeping import NotKept
from fsagent_tools.names import display, is_unicode, meant

WINDOWS = re.compile(r"[A-Za-z]:[\\/]|[A-Za-z]:[^\s:/]+\.\w+$|\\\\")
PATH_MAX = 4096
NAME_MAX = 255
MAX_DEPTH = 200  # directories inside each other in one tree; each costs an open descriptor
SUGGESTIONS = 3
_SEARCHED = 5000  # names compared for a suggestion; difflib takes about 5 us each


def shown(path: str) -> str:
    """`path` for a message: no control characters, not longer than a line."""
    text = display(path)
    return text if len(text) <= 200 else f"{text[:120]}…{text[-60:]}"


def too_long(path: str) -> errors.InvalidPath:
    return errors.InvalidPath(
        f"The path {shown(path)} is too long.",
        hint=f"A path has fewer than {PATH_MAX:,} bytes, each name at most {NAME_MAX}.",
    )


def outside(path: str, inside: str = "") -> errors.OutsideWorkspace:
    """`inside`: what the same words mean beneath the root."""
    meant = f"Did you mean {shown(inside)}? " if inside else ""
    return errors.OutsideWorkspace(
        f"{shown(path)} is outside the workspace.",
        hint=f"{meant}Use a path relative to the workspace root.",
    )


def loop(path: str) -> errors.LinkLoop:
    return errors.LinkLoop(
        f"{shown(path)} goes through too many symbolic links (a loop?).",
        hint="Name the real file instead.",
    )


def not_a_directory(path: str, above: str = "") -> errors.NotADirectory:
    """`above`: the file that stands where a directory above `path` should be."""
    if not above:
        message = f"{shown(path)} is not a directory."
        return errors.NotADirectory(message, hint="Use the path of a directory.")
    return errors.NotADirectory(
        f"{shown(path)}: {shown(above)} is a file, not a directory.", hint="Choose another path."
    )


def not_a_file(path: str, kind: str) -> errors.NotAFile:
    hint = (
        "Name a file in it. List it with `ls`." if kind == "directory" else "Name a regular file."
    )
    return errors.NotAFile(f"{shown(path)} is a {kind}, not a regular file.", hint=hint)


def _denied(path: str) -> errors.Denied:
    return errors.Denied(
        f"{shown(path)}: the operating system refused (permission denied).",
        hint="Choose another file, or change its permissions first.",
    )


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
    if meaning := None if isinstance(error, NotKept) else MEANINGS.get(error.errno):
        return meaning(path)
    name, reason = shown(path), os.strerror(error.errno or errno.EIO)
    if isinstance(error, NotKept):
        return errors.WriteFailed(
            f"{name} was not changed, as the history has no place for its old state ({reason}).",
            hint=f"Make room in {error.filename}, or turn the history off.",
        )
    if writing:
        return errors.WriteFailed(
            f"{name} could not be written ({reason}).", hint="The old content is unchanged."
        )
    return errors.ReadFailed(f"{name} could not be read ({reason}).", hint="Try again later.")


def not_utf8(path: str) -> errors.InvalidPath:
    """`path`: with its odd bytes as escapes."""
    return errors.InvalidPath(
        f"The name {path[:200]} is not UTF-8, which names are here.",
        hint=f"Rename it first. In `bash` it is $'{path[:200]}'.",
    )


def printable(path: str) -> str:
    """`path` as text that any JSON holds: bytes that are no UTF-8 become escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def check_spelling(path: str) -> None:
    """Raise `InvalidPath` for what no file system could hold."""
    if not path.strip():
        raise errors.InvalidPath("The path is empty.", hint="Name a file, or '.' for the root.")
    if WINDOWS.match(path):
        raise errors.InvalidPath(
            f"{shown(path)!r} is a Windows path.", hint="Use a path relative to the workspace root."
        )
    if "\0" in path:
        raise errors.InvalidPath(
            f"The path {shown(path)!r} contains a NUL character.", hint="Remove it."
        )
    try:
        raw = path.encode()
    except UnicodeEncodeError:
        with suppress(UnicodeEncodeError):
            raise not_utf8(printable(path)) from None
        raise errors.InvalidPath(
            f"The path {ascii(path)[:200]} contains a lone surrogate, which is not a character.",
            hint="Write the name as ordinary text.",
        ) from None
    if len(raw) >= PATH_MAX:
        raise too_long(path)


def missing(
    path: str,
    names: Sequence[str],
    name: str,
    visible: Callable[[str], bool],
    elsewhere: Callable[[], Iterable[str]] = list,
) -> errors.ToolError:
    """A missing `name` in a directory with `names`, and the most similar of the visible ones.

    A name of a listing that no path can spell is told as that.

    elsewhere: tells what bears the name in other directories, where none is similar.
    """
    import difflib

    if "\\x" in name and any(printable(n) == name and visible(n) for n in names if n != name):
        return not_utf8(path)
    folded = {n.casefold(): n for n in names[:_SEARCHED] if is_unicode(n) and visible(n)}
    matches = difflib.get_close_matches(name.casefold(), folded, SUGGESTIONS)
    similar = [folded[match] for match in matches]
    directory = path.rstrip("/")[: -len(name)] if path.rstrip("/").endswith(name) else ""

    def look() -> str:
        others = [directory + n for n in similar] or [*elsewhere()]
        if not others:
            return "Check the path. List the directory with `ls`."
        return f"Did you mean {', '.join(map(shown, others))}?"

    return errors.Missing(f"{shown(path)} does not exist.", look=look)


def leads_nowhere(link: str, target: str) -> str:
    return (
        f"{shown(link)} is a link to {shown(target)}, which does not exist."
        " Write what it leads to, or remove the link."
    )


def needs_slashes(path: str) -> errors.InvalidPath:
    """A new name with the separators of Windows."""
    return errors.InvalidPath(
        f"{shown(path)} would be one file name: a backslash separates nothing here.",
        hint=f"Use {shown(path.replace(chr(92), '/'))}.",
    )


def root_deleted(root: str) -> errors.Missing:
    return errors.Missing(
        f"The workspace root {shown(root)} was deleted; one that is there now is another.",
        hint="Stop and say so: the host application has to open the workspace again.",
    )


def no_such(path: str, name: str) -> errors.Missing:
    return errors.Missing(f"{shown(path)} does not exist: there is no {shown(name)}.")


def no_directory_of(path: str) -> errors.Missing:
    return errors.Missing(
        f"The directory of {shown(path)} does not exist.",
        hint="Make it first, or choose another destination.",
    )


def half_moved(source: str, destination: str, error: OSError) -> errors.WriteFailed:
    reason = os.strerror(error.errno or errno.EIO)
    return errors.WriteFailed(
        f"{shown(destination)} is a whole copy of {shown(source)}, of which not all could be"
        f" removed ({reason}).",
        hint=f"Remove what is left of {shown(source)}.",
    )


def no_directory(path: str) -> errors.AlreadyExists:
    return errors.AlreadyExists(
        f"{shown(path)} exists and is not a directory.", hint="Choose another path."
    )


def into_itself(source: str, destination: str) -> errors.InvalidArguments:
    if source != destination and meant(destination, [source]) == source:
        return errors.InvalidArguments(
            f"{shown(destination)} is the name of {shown(source)}: the same letters, composed or"
            " spaced otherwise.",
            hint="To have them so, move it to another name first, and then to this one.",
        )
    return errors.InvalidArguments(
        f"{shown(destination)} is {shown(source)} or inside it.",
        hint="Choose a destination elsewhere.",
    )


def root_refused(path: str) -> errors.Denied:
    return errors.Denied(
        f"{shown(path)} is or contains a workspace root, which stays where it is.",
        hint="Name an entry inside it.",
    )


def check_replaced(path: str, kind: str, *, overwrite: bool) -> None:
    """Raise `AlreadyExists` unless an existing entry of this kind may be replaced."""
    if kind == "directory":
        raise errors.AlreadyExists(
            f"{shown(path)} is a directory; directories are not replaced.",
            hint="Give the full path of the new entry.",
        )
    if not overwrite:
        raise errors.AlreadyExists(
            f"{shown(path)} already exists.",
            hint="Choose another path. Or set `overwrite`=true to replace a file.",
        )


def needs_recursive(path: str) -> errors.NotAFile:
    return errors.NotAFile(
        f"{shown(path)} is a directory.",
        hint="Set `recursive`=true to remove it and everything in it.",
    )


def too_deep(path: str) -> errors.InvalidPath:
    return errors.InvalidPath(
        f"{shown(path)} is more than {MAX_DEPTH} directories deep.",
        hint="Work on a directory further down.",
    )


def locked_by_another(path: str, timeout: float) -> errors.TimedOut:
    return errors.TimedOut(
        f"{shown(path)} is locked by another writer; waited {timeout:g} s.",
        hint="Nothing was changed. Try again.",
    )


def changed_meanwhile(path: str) -> errors.Conflict:
    return errors.Conflict(
        f"{shown(path)} was changed by someone else meanwhile.",
        hint="Nothing was written. Read it again.",
    )


def write_protected(path: str) -> errors.Denied:
    return errors.Denied(
        f"{shown(path)} is write-protected.",
        hint="Change its permissions first, or write another file.",
    )
