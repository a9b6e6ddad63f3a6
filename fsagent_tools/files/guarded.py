"""Files behind their guard: the verbs that change a tree."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from fsagent_tools import call
from fsagent_tools.effects import Effect
from fsagent_tools.files import refusals
from fsagent_tools.files.guard import FileGuard
from fsagent_tools.files.port import TIMEOUT, Copied, Done, EntryFacts, Handle, Place

_Found = list[tuple[str, EntryFacts]]  # of a tree, each with its path from the top


class GuardedFiles(FileGuard):
    """See `FileGuard`; every change is announced before it happens."""

    def make_directory(self, path: str) -> tuple[Place, bool]:
        """Make a directory and its missing parents; False when it was there."""
        with call.one_step(), self._at(path, Effect.WRITE) as found:
            if entry := _entry_at(found):
                if entry.kind == "directory":
                    return found.place, False
                raise refusals.no_directory(path)
            self._check_repository(found)
            _announce(call.PendingChange("mkdir", (found.place.told,)))
            found.mkdir(self._making)
            return found.place, True

    def move(self, source: str, destination: str, overwrite: bool = False) -> Done:
        """Move to exactly `destination`; a link itself is moved. Across devices too.

        overwrite: replace an existing file, never a directory.
        """
        with self._ends("move", source, destination, overwrite=overwrite) as (old, new, members):
            with self._making(new):
                old.move(new, overwrite=overwrite)
            return Done(old.place, new.place, _files_of(members))

    def copy(self, source: str, destination: str, overwrite: bool = False) -> tuple[Done, Copied]:
        """Copy a file or tree with its metadata to exactly `destination`, which appears whole.

        Links in a tree are copied as links when they lead inside, else left out and reported.
        """
        with self._ends("copy", source, destination, overwrite=overwrite) as (old, new, members):
            top = old.real

            def keeps(inner: str) -> bool:
                return self._kind_of(f"{top}/{inner}" if inner else top) is not None

            with self._making(new):
                skipped = old.copy(new, overwrite=overwrite, keeps=keeps)
            files = _files_of(members)
            size = sum(entry.size for _, entry in members if entry.kind == "file")
            return Done(old.place, new.place, files), Copied(len(files), size, skipped)

    def remove(self, path: str, recursive: bool = False) -> Done:
        """Remove a file, a link itself or, when `recursive`, a directory; never the root."""
        with call.one_step(), self._at(_itself(path), Effect.DELETE, follow=False) as found:
            self._entry(path, found)
            self._check_no_root(path, found)
            with self.store.hold([found], path, TIMEOUT):
                entry = self._entry(path, found)  # another may have come while this one waited
                if entry.kind == "directory" and not recursive:
                    raise refusals.needs_recursive(path)
                members = self._members(found, (found.place, Effect.DELETE))
                _announce(_change("remove", (found.place.told,), members, None))
                found.remove()
                return Done(found.place, found.place, _files_of(members))

    @contextmanager
    def _ends(
        self, verb: str, source: str, destination: str, *, overwrite: bool
    ) -> Iterator[tuple[Handle, Handle, _Found]]:
        """Both ends found, allowed for every member of the tree, held and announced."""
        copies = verb == "copy"
        path = source if copies else _itself(source)
        effect = Effect.READ if copies else Effect.DELETE
        with call.one_step(), ExitStack() as ends:
            old = ends.enter_context(self._at(path, effect, follow=copies))
            self._entry(source, old)  # before errors name the destination
            new = ends.enter_context(self._at(_itself(destination), Effect.WRITE, follow=False))
            if len(new.missing) > 1:
                raise refusals.no_directory_of(destination)
            self._check_no_root(source, old, moves=not copies)
            self._check_no_root(destination, new)
            if f"{new.real}/".startswith(f"{old.real}/"):
                raise refusals.into_itself(source, destination)
            with self.store.hold([old, new], source, TIMEOUT):
                self._check_repository(new)
                members = self._members(old, (old.place, effect), (new.place, Effect.WRITE))
                self._check_members(old.place, members, copies=copies)
                if replaced := _entry_at(new):
                    refusals.check_replaced(destination, replaced.kind, overwrite=overwrite)
                    if members[0][1].kind == "directory":
                        raise refusals.not_a_directory(destination)
                _announce(_change(verb, (old.place.told, new.place.told), members, replaced))
                yield old, new, members

    def _check_members(self, top: Place, members: _Found, *, copies: bool) -> None:
        for inner, entry in members:
            told = top.inside(inner).told
            if entry.kind == "file":
                self.policy.check_size(told, entry.size)
            elif copies and entry.kind not in ("directory", "link"):
                raise refusals.not_a_file(told, entry.kind)

    def _check_no_root(self, path: str, found: Handle, *, moves: bool = True) -> None:
        if not found.missing or (moves and self.store.holds_root(found.real)):
            raise refusals.root_refused(path)

    def _members(self, found: Handle, *wanted: tuple[Place, Effect]) -> _Found:
        members = [*found.members()]
        for inner, _ in members:
            for place, effect in wanted:
                self._allow(place.inside(inner), effect)
        return members


def _itself(path: str) -> str:
    """Without the slash that would lead through a link at the end."""
    return path.rstrip("/") or path


def _entry_at(found: Handle) -> EntryFacts | None:
    try:
        return found.entry()
    except FileNotFoundError:
        return None


def _announce(change: call.PendingChange) -> None:
    """Tell the call's watcher, who may prevent it."""
    if watch := call.current.get().watch:
        watch(change)


def _change(
    verb: str, paths: tuple[str, ...], members: _Found, replaced: EntryFacts | None
) -> call.PendingChange:
    names = tuple(inner for inner, _ in members[1:])
    state = tuple((inner, entry.version) for inner, entry in members), replaced and replaced.version
    replaces = replaced is not None
    return call.PendingChange(verb, paths, members=names, replaces=replaces, state=state)


def _files_of(members: _Found) -> tuple[str, ...]:
    return tuple(inner for inner, entry in members if entry.kind == "file")
