"""Several names of one directory, found, allowed and held at once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from fsagent_tools import errors
from fsagent_tools.effects import Effect
from fsagent_tools.files import refusals
from fsagent_tools.files.keeping import EntrySlot
from fsagent_tools.files.locate import Locator
from fsagent_tools.files.locks import hold_all
from fsagent_tools.files.roots import placed


@contextmanager
def slots(at: Locator, directory: str, names: Sequence[str]) -> Iterator[list[EntrySlot]]:
    """The slots of `names` in a real directory, "" for the root, under their locks.

    Raises `Missing` where the directory is gone, `Conflict` where a link leads elsewhere, and
    `PathDenied`.
    """
    path = f"{directory}/{names[0]}" if directory else names[0]
    with at.locate(path, Effect.WRITE, follow=False) as (spot, place):
        if len(spot.names) != 1:
            raise refusals.no_directory_of(path)
        if place.relative != path:
            raise errors.Conflict(f"{refusals.shown(directory)} is another directory now.")
        whole = place.absolute.rpartition("/")[0] or "/"
        above = placed(directory or ".", whole, virtual=at.virtual)
        found = [EntrySlot(spot.fd, name, above.inside(name)) for name in names]
        for slot in found:
            at.allow(slot.place, Effect.WRITE)
        with hold_all([(spot.fd, name) for name in names], path):
            yield found
