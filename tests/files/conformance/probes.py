"""What the checks of guarded files do with the files they are given."""

from collections.abc import Callable, Iterator
from contextlib import suppress

from fsagent_tools import errors
from fsagent_tools.call import PendingChange, changed
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.guarded_file import Directory


def put(files: GuardedFiles, path: str, data: bytes) -> None:
    with files.lock(path) as target:
        target.write(data, expect=target.version)


def contents_of(files: GuardedFiles) -> dict[str, bytes]:
    with files.directory(".") as top:
        return dict(_below(top, ""))


def _below(directory: Directory, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in directory.entries():
        if inner := directory.enter(entry.name):
            with inner:
                yield from _below(inner, f"{prefix}{entry.name}/")
        else:
            with directory.open(entry.name) as file:
                yield prefix + entry.name, file.read()


def refused(
    kind: type[errors.ToolError], verb: Callable[..., object], *given: object, **named: object
) -> errors.ToolError:
    try:
        verb(*given, **named)
    except kind as error:
        return error
    raise AssertionError(f"{given} was not refused as {kind.__name__}")


def announced(files: GuardedFiles) -> object:
    told: list[object] = []

    def watch(change: PendingChange) -> None:
        told.append(change.state)
        raise errors.ApprovalDenied("no")

    with changed(watch=watch), suppress(errors.ApprovalDenied):
        files.remove("sub", True)
    return told[0]
