"""One running language server: handshake, what it asks of us, and its diagnostics."""

import time
from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from fsagent_tools.errors import TimedOut
from fsagent_tools.lsp.changes import DiskChanges
from fsagent_tools.lsp.child import Child
from fsagent_tools.lsp.client import Client, Refused, items_in
from fsagent_tools.lsp.documents import Documents, Finding, OpenDocument, short_cause
from fsagent_tools.lsp.progress import Progress
from fsagent_tools.lsp.spec import Spec
from fsagent_tools.lsp.watch import DELETED, Watch, regular_text

QUIET = 0.2  # seconds without news after which a server is taken to be done
UNSETTLED = 5  # times as long after files changed on disk: some servers look at those later
MOST_PULLS = 5  # for one answer, while the server says that it has news
RETRY = (-32800, -32801, -32802)  # request cancelled, content modified, server cancelled
CAPABILITIES = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "diagnostics": {"refreshSupport": True},
        "workspaceEdit": {"documentChanges": True},  # with versions; nothing made, moved, removed
    },
    "textDocument": {
        "rename": {"prepareSupport": True},
        "publishDiagnostics": {"versionSupport": True},
        "diagnostic": {"dynamicRegistration": True},
    },
    "experimental": {"serverStatusNotification": True},
}
PULL, WATCHED = "textDocument/diagnostic", "workspace/didChangeWatchedFiles"
_GRANTED = ("window/showMessageRequest", "window/workDoneProgress/create")
STATUS, LOG = "experimental/serverStatus", "window/logMessage"


class Server:
    """`child` speaks the protocol; `root` is the one folder it is told about."""

    def __init__(self, child: Child, root: Path, spec: Spec, watch: Watch | None = None) -> None:
        self.encoding = "utf-16"
        self.offers: Mapping[str, Any] = {}  # capability -> what there is of it
        self._root = root
        self._spec = spec
        self._registered: dict[str, str] = {}  # ID -> method
        self._ails = ""  # why it told nothing, as its log says
        self._work = Progress(spec.loads)
        self._warm = False  # it has seen the whole project
        final = spec.pushes == "finally"
        self.documents = Documents(lambda *sent: self.client.notify(*sent), versioned=final)
        self._changes = DiskChanges(watch, self.documents) if watch else None
        self.client = Client(child, self._answers(), self._hear)

    def start(self, until: float) -> None:
        """The handshake. Raises like `Client.request`."""
        hello = {
            "processId": None,  # in a PID namespace of its own, it would miss us and leave
            "clientInfo": {"name": "fsagent-tools"},
            "rootUri": self._root.as_uri(),
            "rootPath": str(self._root),
            "workspaceFolders": self._folders(None),
            "capabilities": CAPABILITIES,
            "initializationOptions": dict(self._spec.options),
        }
        can = (self.client.request("initialize", hello, until) or {}).get("capabilities") or {}
        self.encoding, self.offers = can.get("positionEncoding") or "utf-16", can
        if can.get("diagnosticProvider") not in (None, False):
            self._registered["initialize"] = PULL
        self.client.notify("initialized", {})
        self.client.notify(
            "workspace/didChangeConfiguration", {"settings": dict(self._spec.settings)}
        )

    def diagnose(self, path: Path, language: str, text: str, until: float) -> Finding | None:
        """What the server says about `text` as the content of `path`. An answer from before
        the last change is old; None: it has never said anything, until `until`.

        Raises `Refused`, `Cancelled`, `LanguageServerFailed`, `Outdated`.
        """
        known, asked = None, time.monotonic()
        held = self.documents.held(path.as_uri(), language, until)
        with suppress(TimedOut), held as document:
            self.look(document, path, asked)
            known = document.known
            if found := self.checked(document, text, until):
                document.known = found
                return found
        return known and replace(known, old=True)

    def look(
        self, document: OpenDocument, path: Path, asked: float, held: Container[str] = ()
    ) -> None:
        """Tell what changed on disk since the monotonic time `asked`, as `announce` does."""
        if self._changes:
            tell = partial(self._tell, language=document.language)
            self._changes.announce(document, str(path), asked, tell, held)

    def checked(self, document: OpenDocument, text: str, until: float) -> Finding | None:
        """What it says about `text`, which it then has read; None: nothing in time."""
        if not self._has_read(until):
            return None  # what is opened before the project is read may never be of it
        same, moved = document.holds(text), document.moved
        if not same or moved:
            self.show(document, text, until)
        elif document.items is not None and document.settled:
            return self._finding(document, document.items)  # a push server repeats nothing
        patience = until
        if same and self._spec.pushes == "changes":
            patience = min(until, time.monotonic() + QUIET * UNSETTLED)
        if not self.client.wait(lambda: self.pulls or document.items is not None, patience):
            return None
        if self.pulls:
            return self._settled(document, until)
        return self._pushed(document, QUIET * (UNSETTLED if moved else 1), until)

    def _has_read(self, until: float) -> bool:
        """Wait for a server that says when it has read the project, or files that changed, which it
        has to begin soon: perhaps it wants nothing of them.
        """
        work = self._work
        if work.expected:
            self.client.round_trip(until)
            soon = min(until, time.monotonic() + QUIET * UNSETTLED)
            self.client.wait(lambda: not work.expected, soon)
            work.expect(work=False)
        whole = self._spec.pushes == "rechecks"
        return self.client.wait(lambda: not (work.busy if whole else work.reading), until)

    def show(self, document: OpenDocument, text: str, until: float) -> None:
        if not self.pulls and self.documents.owes(document, text):
            self.client.round_trip(until)
        self.documents.send(document, text)

    def _finding(self, of: OpenDocument, items: list[Any], *, done: bool = True) -> Finding:
        trouble = (self._work.trouble or of.trouble).replace(f"{self._root}/", "")
        return Finding(items, of.text, unfinished=not done, trouble=trouble)

    def _pulled(self, document: OpenDocument, until: float) -> list[Any]:
        asked = {"textDocument": {"uri": document.uri}}
        return items_in(self.request(PULL, asked, until), "items")

    def request(self, method: str, params: Any, until: float) -> Any:
        """As of the client, and again where the server asks for that."""
        while True:
            try:
                return self.client.request(method, params, until)
            except Refused as refusal:
                if refusal.code not in RETRY:
                    raise
                self.client.wait(lambda: False, time.monotonic() + 0.02)

    def _settled(self, document: OpenDocument, until: float) -> Finding:
        """A server that has just started may not have seen the whole project: it says so by work in
        progress or by asking for a refresh, however shortly after its answer.
        """
        for _ in range(0 if self._warm else MOST_PULLS):
            known = self._work.news
            items = self._pulled(document, until)
            quiet = time.monotonic() + QUIET
            if not self.client.wait(self._news_since(known), min(until, quiet)):
                self._warm = quiet <= until
                return self._finding(document, items, done=self._warm)
            if not self.client.wait(lambda: not self._work.busy, until):
                return self._finding(document, items, done=False)
        self._warm = True
        return self._finding(document, self._pulled(document, until))

    def _news_since(self, known: int) -> Callable[[], bool]:
        return lambda: self._work.busy or self._work.news != known

    def _pushed(self, document: OpenDocument, settle: float, until: float) -> Finding | None:
        def quiet() -> bool:
            wanted = 0 if self._spec.pushes == "finally" else settle
            wanted = wanted if document.sure else QUIET * UNSETTLED
            since = max(document.heard, self._work.rested)
            return not self._work.busy and time.monotonic() - since >= wanted

        document.settled = self.client.wait(quiet, until)
        items = document.items
        return None if items is None else self._finding(document, items, done=document.settled)

    def _tell(self, changes: Mapping[str, int], language: str) -> None:
        """Whether or not it asked for that: who asks later, too, has read files before."""
        if self._spec.pushes == "rechecks":
            self._work.expect(work=True)
        news = [{"uri": Path(path).as_uri(), "type": kind} for path, kind in changes.items()]
        self.client.notify(WATCHED, {"changes": news})
        if self._spec.loads:
            self._hand_over(changes, language)

    def _hand_over(self, changes: Mapping[str, int], language: str) -> None:
        """A server that reads the project in its own time has not read what changed: the text of a
        file that is opened it has at once. What is gone cannot be opened.
        """
        for changed, kind in changes.items():
            if Path(changed).is_dir():
                continue
            text = None if kind == DELETED else regular_text(changed)
            if text is None:
                self._warm = False
            else:
                self.documents.show(Path(changed).as_uri(), language, text)

    @property
    def left(self) -> tuple[str, ...]:
        """What the server cannot know of the project."""
        missed = "may not know of changes: the workspace has too many files to look at"
        return (missed,) if self._changes and self._changes.watch.partial else ()

    @property
    def pulls(self) -> bool:
        return self._spec.pushes == "rechecks" or PULL in self._registered.values()

    def _answers(self) -> Mapping[str, Callable[[Any], Any]]:
        """What the server may ask of us. Called on the reader's thread."""
        return {
            "workspace/configuration": self._configuration,
            "workspace/workspaceFolders": self._folders,
            "client/registerCapability": self._register,
            "client/unregisterCapability": self._unregister,
            "workspace/diagnostic/refresh": self._refresh,
            "workspace/applyEdit": lambda params: {"applied": False},
            "window/showDocument": lambda params: {"success": False},
            **dict.fromkeys(_GRANTED, lambda params: None),
        }

    def _hear(self, method: str, params: Any) -> None:
        if method == "textDocument/publishDiagnostics":
            ails, self._ails = self._ails, ""
            self.documents.publish(params, ails)
        elif method == LOG and (ails := self._spec.sign("ailing", params["message"])):
            self._ails = short_cause(ails)
        elif method == STATUS:
            self._work.status(params)
        elif method == "$/progress":
            self._work.step(params)

    def _configuration(self, params: Any) -> list[Any]:
        return [self._section(item.get("section") or "") for item in params["items"]]

    def _section(self, name: str) -> Any:
        value: Any = self._spec.settings
        for part in filter(None, name.split(".")):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def _folders(self, params: Any) -> list[Any]:
        return [{"uri": self._root.as_uri(), "name": self._root.name}]

    def _register(self, params: Any) -> None:
        self._registered |= {str(one["id"]): str(one["method"]) for one in params["registrations"]}

    def _unregister(self, params: Any) -> None:
        for item in params["unregisterations"]:  # the protocol's own spelling
            self._registered.pop(str(item["id"]), None)

    def _refresh(self, params: Any) -> None:
        self._work.news += 1
