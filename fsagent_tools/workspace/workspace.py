"""The facade of one session: files, a policy, what was shown, services."""

import os
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from fsagent_tools.effects import ASKED, Effect
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.files.base import Copied, Done
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.files.memory import Store
from fsagent_tools.gate.request import Origins
from fsagent_tools.lines.ids import STYLES, StyleName
from fsagent_tools.policy import Policy
from fsagent_tools.runtime.shadows import importing
from fsagent_tools.session.encodings import Encodings
from fsagent_tools.session.index_store import IndexStore
from fsagent_tools.session.memory import Session
from fsagent_tools.session.review import Lint
from fsagent_tools.validation import check_types
from fsagent_tools.workspace import lazy
from fsagent_tools.workspace.config import Staleness, load
from fsagent_tools.workspace.methods import Direct, Rewind, verb
from fsagent_tools.workspace.services import Services

if TYPE_CHECKING:
    from fsagent_tools.events import EventLog
    from fsagent_tools.files.guarded import LockedFile
    from fsagent_tools.gate.request import Approve
    from fsagent_tools.lsp.servers import LanguageSettings
    from fsagent_tools.session.editing import Edit, Written
    from fsagent_tools.web.search import SearchSettings

PathForm = Literal["relative", "virtual"]
_Given = str | PathLike[str] | None
_MOST_VIEWS = 64  # of a workspace that are found again


class Workspace(Direct, Rewind):
    """A project as one agent session sees it. Creating one does no IO.

    Configuration files and `FSAGENT_*` are not read: `Workspace.from_config(root)` does that.

    Args:
        root: The directory that nothing leaves.
        files: A `Store` of files elsewhere, such as `MemoryFiles`, in place of `root`.
        policy: What is allowed; by default everything inside the root.
        cache_dir: Where line indexes are kept; by default `.ai/cache/` in the root, for a home
            directory the state directory, and in memory if read-only or if files are elsewhere.
        line_ids: How IDs look, in place of each toolset's own style: "tag" `[LID:a3f2c1] text`,
            or "words" `amp<TAB>text`, cheaper than line numbers.
        staleness: "lines" (default) refuses an edit by ID if an addressed line has changed, "file"
            if anything in the file has.
        durable: Sync to disk before a write returns.
        lint: What a write does about problems it introduces: "off" (default), "report" them,
            or "reject" a new syntax error.
        encodings: Glob of paths -> encoding of the files that do not tell their own: by default as
            `charset` of .editorconfig has it, else it is guessed, and the answer says so.
        search: The web search service; by default the one that the environment names.
        servers: Language -> its language server: the name of a known one, a whole command, () for
            none, or a `Language`; by default what is installed.
        approve: Called before every effect listed in `approve_effects`; by default nothing is
            asked.
        approve_effects: By default writing, deleting and running programs.
        approve_direct: Ask before changes made by this object's own methods, too.
        log: Gets a record of every call and method; by default none.
        history: Keep what is changed, for `undo`; a read-only workspace has no history.
        state: A directory for history and line indexes: hosts that have it and the root at the
            same paths share undo, checkpoints and IDs.

    Raises:
        ConfigInvalid: If a value cannot be used.

    Examples:
        >>> workspace = Workspace(files=MemoryFiles({"a.py": "x = 1\\n"}), line_ids="words")
        >>> workspace.edit_text("a.py", "1", "2").replacements
        1
        >>> workspace.read_text("a.py").text
        'x = 2\\n'
    """

    _private: "Workspace | None" = None  # on what commands keep for themselves

    def __init__(
        self,
        root: str | Path | None = None,
        *,
        files: "Store | None" = None,
        policy: Policy | None = None,
        cache_dir: str | Path | None = None,
        line_ids: StyleName | None = None,
        staleness: Staleness = "lines",
        durable: bool = False,
        lint: Lint = "off",
        encodings: Mapping[str, str] | None = None,
        search: "SearchSettings | None" = None,
        servers: "LanguageSettings | None" = None,
        approve: "Approve | None" = None,
        approve_effects: Iterable[Effect] = ASKED,
        approve_direct: bool = False,
        log: "EventLog | None" = None,
        history: bool = True,
        state: str | Path | None = None,
    ) -> None:
        self._given = {name: value for name, value in locals().items() if name != "self"}
        given = {**self._given, "line_ids": line_ids or "tag"}
        check_types(given, line_ids=StyleName, staleness=Staleness, lint=Lint)
        check_types(given, **dict.fromkeys(("root", "cache_dir"), str | PathLike | None))
        check_types(given, durable=bool, history=bool, approve_direct=bool)
        check_types(given, servers=Mapping | None, encodings=Mapping | None)
        check_types(given, files=Store | None, approve_effects=Iterable)
        _check_guards(policy, approve, log)
        check_types({"state": state}, state=str | PathLike | None)
        home = _shared_home(state, root, cache_dir)
        self.policy = (policy or Policy()).closed_to(home)
        self.files = _files(root, files, self.policy, durable=durable)
        local = self.files.local_root
        self.root, self.staleness = local or Path("/"), staleness
        self._views: dict[object, Self] = {}  # kept: a workspace rests by its last use
        self.approve, self.approve_direct, self.log = approve, approve_direct, log
        self.approve_effects, self.origins = frozenset(approve_effects), Origins()
        for effect in self.approve_effects:
            check_types({"approve_effects": effect}, approve_effects=Effect)
        self.style = STYLES[line_ids or "tag"]
        private = self.policy.readonly or local is None
        alone = private and cache_dir is None and not home
        indexes = IndexStore(self.root, cache_dir, home, memory_only=alone)
        # a door of its own: that of the workspace keeps history, and so leads back to it
        door = _files(root, files, self.policy, durable=durable)
        self.session = Session(indexes, Encodings(door, encodings or {}).of)
        past = {"session": self.session, "durable": durable} if history and not private else None
        self.services = Services(
            local, self.policy, lint=lint, search=search, servers=servers, past=past, state=home
        )
        if past and isinstance(self.files, LocalFiles):
            self.files.store.recording = self.services.recorder

    @classmethod
    def from_config(
        cls, root: str | Path, *, config_file: str | Path | None = None, **options: Any
    ) -> Self:
        """A workspace as configured by files and variables.

        These are the files of the system and the user, and `FSAGENT_*` variables.

        Args:
            root: The directory that nothing leaves.
            config_file: A further file, such as the project's own, whose values win.
            **options: Those of `Workspace`; they override the configuration.

        Raises:
            ConfigInvalid: If a value cannot be used or a variable does not exist.
            MissingDependency: If there is a file and the extra `config` is not installed.
        """
        with importing([root := Path(root).expanduser()]):
            return cls(root, **{**load(config_file).options, **options})

    def __repr__(self) -> str:
        return f"Workspace({str(self.root)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has how the workspace was made, and nothing of what happened in it."""
        of_view = {"policy": self.policy, "approve_direct": self.approve_direct}
        if self.style is not STYLES["tag"]:
            of_view["line_ids"] = self.style.name
        form: PathForm = "virtual" if self.files.virtual else "relative"
        return _made, (type(self), {**self._given, **of_view}, form)

    def view(
        self,
        *,
        max_file_size: int | str | None = None,
        paths: PathForm = "relative",
        beneath: Iterable[str] | None = None,
        approve_direct: bool = False,
        line_ids: StyleName | None = None,
    ) -> Self:
        """The same session for tools that read and write no larger files, have such paths, see what
        is beneath some directories only (commands do not), or show IDs so. approve_direct: as of
        the class. A limit of its policy, virtual paths and a style of its own stay.
        """
        style = STYLES[self._given["line_ids"] or line_ids or self.style.name]
        limit = None if self.policy.max_file_size is not None else max_file_size
        check_types({"paths": paths}, paths=PathForm)
        virtual = paths == "virtual" or self.files.virtual
        direct = self.approve_direct or approve_direct
        inside = None if beneath is None else tuple(beneath)
        asked = limit, inside, virtual, direct, style
        if asked == (None, None, self.files.virtual, self.approve_direct, self.style):
            return self
        if known := self._views.get(asked):
            return known
        view = object.__new__(type(self))  # `copy` would make it anew, as a pickle does
        vars(view).update({**vars(self), "_views": {}})
        if limit is not None:
            view.policy = self.policy.limited(limit)
        if inside is not None:
            view.policy = view.policy.beneath(inside)
        view.approve_direct, view.style = direct, style
        view.files = self.files.under(view.policy, virtual=virtual)
        if len(self._views) >= _MOST_VIEWS:
            self._views.clear()
        return self._views.setdefault(asked, view)

    def readable(self, path: str) -> "Workspace":
        """This one, or for a path in the commands' private directory one that only reads that."""
        folder = self.services.private_directory(path) if path.startswith("/") else ""
        if not folder:
            return self
        if self._private is None or str(self._private.root) != folder:
            self._private = Workspace(folder, policy=Policy(readonly=True))
        return self._private.view(line_ids=self.style.name)

    @verb("write", Effect.WRITE)
    def write(
        self,
        path: str,
        utf8: bytes,
        encoding: str | None = None,
        lint: Lint | None = None,
        *,
        create_dirs: bool = True,
        check: "Callable[[LockedFile, Edit | None], None] | None" = None,
    ) -> "Written":
        """Create or overwrite a text file, atomically. Raises a `ToolError`.

        encoding: default the existing file's own, UTF-8 for a new one. lint: overrides the
        workspace's. check: gets the existing text, None for no text, and may raise.
        """
        with self.files.lock(path, create_dirs=create_dirs) as target:
            return lazy.editing.overwrite(self, target, utf8, encoding, lint, check=check)

    @verb("mv", Effect.WRITE)
    def move(self, source: str, destination: str, overwrite: bool = False) -> Done:
        """Move a file or directory within the workspace; line IDs move along.

        Args:
            source: What to move.
            destination: Its new path, in a directory that exists.
            overwrite: Replace an existing file.

        Raises:
            AlreadyExists: If the destination exists.
            Missing: If the source, or the directory of the destination, does not exist.
        """
        done = self.files.move(source, destination, overwrite)
        for old, new in done.pairs():
            self.session.move(old, new)
        return done

    @verb("cp", Effect.WRITE)
    def copy(self, source: str, destination: str, overwrite: bool = False) -> tuple[Done, Copied]:
        """Copy a file or directory, as `move` does; the copy has no line IDs yet."""
        done, copied = self.files.copy(source, destination, overwrite)
        for old, new in done.pairs():
            self.session.forget(new)
            self.session.copied(old, new)
        return done, copied

    @verb("rm", Effect.DELETE)
    def remove(self, path: str, recursive: bool = False) -> Done:
        """Remove a file, a link itself or, if `recursive`, a directory; never a root.

        Raises:
            Missing: If there is nothing at `path`.
        """
        done = self.files.remove(path, recursive)
        for file in done.files:
            self.session.forget(done.source.inside(file).relative, gone=True)
        return done

    def rest(self) -> None:
        """Give up open handles and texts; what was shown and background commands stay."""
        self.session.free()
        self.session.store.rest()
        self.services.rest()
        self.files.close()

    def close(self) -> None:
        """End commands and language servers, free handles and texts; it can be used again."""
        self.services.close()
        self.rest()


def _made(kind: type[Workspace], given: dict[str, Any], paths: PathForm) -> Workspace:
    return kind(**given).view(paths=paths)


def _files(
    root: str | Path | None, files: "Store | None", policy: Policy, *, durable: bool
) -> GuardedFiles:
    if files is not None and root is None:
        return GuardedFiles(files, policy)
    if root is None or files is not None:
        raise ConfigInvalid("A workspace has either a root or files.")
    return LocalFiles(Path(root).expanduser(), policy, durable=durable)


def _shared_home(given: _Given, root: _Given, cache_dir: _Given) -> str:
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


def _check_guards(policy: object, approve: object, log: object) -> None:
    """Raise `ConfigInvalid` for what would fail only when it is first asked."""
    if policy is not None and not hasattr(policy, "check_action"):
        raise ConfigInvalid(f"policy is a Policy, not {policy!r}: Policy(readonly=True).")
    if approve is not None and not callable(approve):
        raise ConfigInvalid(f"approve is a function that gets each Request, not {approve!r}.")
    if log is not None and not hasattr(log, "event"):
        raise ConfigInvalid(f"log is an EventLog, not {log!r}: EventLog('agent.jsonl').")
