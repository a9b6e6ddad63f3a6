"""One running language server: handshake, what it asks of us, and its diagnostics."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from fsagent_tools.errors import TimedOut
from fsagent_tools.lsp.child import Child
from fsagent_tools.lsp.client import Client, Refused
from fsagent_tools.lsp.documents import Documents, Finding, OpenDocument
from fsagent_tools.lsp.table import Spec
from fsagent_tools.lsp.watch import Watch

QUIET = 0.2  # seconds without news after which a server is taken to be done
UNSETTLED = 5  # times as long after files changed on disk: some servers look at those later
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
    },
    "textDocument": {
        "publishDiagnostics": {"versionSupport": True},
        "diagnostic": {"dynamicRegistration": True},
    },
    "experimental": {"serverStatusNotification": True},
}
PULL, WATCHED = "textDocument/diagnostic", "workspace/didChangeWatchedFiles"
STATUS = "experimental/serverStatus"


class Server:
    """`child` speaks the protocol; `root` is the one folder it is told about."""

    def __init__(self, child: Child, root: Path, spec: Spec, watch: Watch | None = None) -> None:
        self.encoding = "utf-16"
        self._root = root
        self._settings = spec.settings
        self._options = spec.options
        self._pushes = spec.pushes
        self._watch = watch
        self._state = 0  # of the project, one more after each change on disk
        self._untold: dict[str, int] = {}  # path -> kind of change
        self._telling = Lock()
        self._registered: dict[str, str] = {}  # ID -> method
        self._busy = {STATUS} if spec.loads else set()  # tokens of work in progress
        self._refreshes = 0
        self._warm = False
        self.documents = Documents(lambda method, params: self.client.notify(method, params))
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
            "initializationOptions": dict(self._options),
        }
        can = (self.client.request("initialize", hello, until) or {}).get("capabilities") or {}
        self.encoding = can.get("positionEncoding") or "utf-16"
        if can.get("diagnosticProvider") not in (None, False):
            self._registered["initialize"] = PULL
        self.client.notify("initialized", {})
        self.client.notify("workspace/didChangeConfiguration", {"settings": dict(self._settings)})

    def diagnose(self, path: Path, language: str, text: str, until: float) -> Finding | None:
        """What the server says about `text` as the content of `path`. An answer from before
        the last change is old; None: it has never said anything, until `until`.

        Raises `Refused`, `Cancelled`, `LanguageServerFailed`.
        """
        known = None
        try:
            with self.documents.held(path.as_uri(), language, until) as document:
                self._announce(document, str(path))
                known = document.known
                items = self._diagnostics(document, text, until)
                if items is not None:
                    document.known = Finding(items, text)
                    return document.known
        except TimedOut:
            pass
        return known and replace(known, old=True)

    def _diagnostics(self, document: OpenDocument, text: str, until: float) -> list[Any] | None:
        if not self.client.wait(lambda: STATUS not in self._busy, until):
            return None  # what is opened before the project is read may never be of it
        same = document.version > 0 and document.text == text
        moved = document.state != self._state  # other files have changed since it was sent
        if not same or moved:
            self.documents.send(document, text, self._state)
        elif document.items is not None:  # a push server repeats nothing
            return document.items
        patience = until
        if same and self._pushes == "changes":
            patience = min(until, time.monotonic() + QUIET * UNSETTLED)
        if not self.client.wait(lambda: self._pulls or document.items is not None, patience):
            return None
        if not self._pulls:
            return self._pushed(document, QUIET * (UNSETTLED if moved else 1), until)
        items = self._pulled(document, until)
        if not self._warm:
            items = self._settled(document, items, until)
            self._warm = True
        return items

    def _pulled(self, document: OpenDocument, until: float) -> list[Any]:
        while True:
            try:
                params = {"textDocument": {"uri": document.uri}}
                report = self.client.request(PULL, params, until)
                return list((report or {}).get("items") or ())
            except Refused as refusal:
                if refusal.code not in RETRY:
                    raise
                self.client.wait(lambda: False, time.monotonic() + 0.02)

    def _settled(self, document: OpenDocument, items: list[Any], until: float) -> list[Any]:
        """A server that has just started may answer before it has seen the whole project: it says
        so by work in progress or by asking for a refresh.
        """
        while time.monotonic() < until:
            asked = self._refreshes
            quiet = min(until, time.monotonic() + QUIET)
            if not self.client.wait(self._news_since(asked), quiet):
                break
            self.client.wait(lambda: not self._busy, until)
            items = self._pulled(document, until)
        return items

    def _news_since(self, refreshes: int) -> Callable[[], bool]:
        return lambda: bool(self._busy) or self._refreshes != refreshes

    def _pushed(self, document: OpenDocument, settle: float, until: float) -> list[Any] | None:
        def quiet() -> bool:
            final = self._pushes == "finally"
            return not self._busy and (final or time.monotonic() - document.heard >= settle)

        self.client.wait(quiet, until)
        return document.items

    def _announce(self, document: OpenDocument, path: str) -> None:
        """Tell the server what changed on disk since the last time. `document`, the file `path`,
        stays as new as it was when nothing else did. Its own change is told with the next one: the
        server gets its text anyway, and would check it twice.
        """
        if self._watch is None:
            return
        with self._telling:
            self._tell(self._watch.changes(), document, path)

    def _tell(self, changes: list[tuple[str, int]], document: OpenDocument, path: str) -> None:
        self._untold |= dict(changes)
        if changes:
            current = document.state == self._state
            self._state += 1
            if current and all(changed == path for changed, _ in changes):
                document.state = self._state
            for changed, _ in changes:
                self.documents.changed(changed)
        told = [(changed, kind) for changed, kind in self._untold.items() if changed != path]
        if told and WATCHED in self._registered.values():
            news = [{"uri": Path(changed).as_uri(), "type": kind} for changed, kind in told]
            self.client.notify(WATCHED, {"changes": news})
        self._untold = {path: self._untold[path]} if path in self._untold else {}

    @property
    def _pulls(self) -> bool:
        return PULL in self._registered.values()

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
            "window/showMessageRequest": lambda params: None,
            "window/workDoneProgress/create": lambda params: None,
            "vscode/content": lambda params: "{}",  # a JSON schema that allows everything
        }

    def _hear(self, method: str, params: Any) -> None:
        if method == "textDocument/publishDiagnostics":
            self.documents.publish(params)
        elif method == STATUS:
            self._work(STATUS, begins=not params["quiescent"])
        elif method == "$/progress":
            kind = params["value"].get("kind")
            if kind in ("begin", "end"):
                self._work(str(params["token"]), begins=kind == "begin")

    def _work(self, token: str, *, begins: bool) -> None:
        if begins:
            self._busy.add(token)
        else:
            self._busy.discard(token)

    def _configuration(self, params: Any) -> list[Any]:
        return [self._section(item.get("section") or "") for item in params["items"]]

    def _section(self, name: str) -> Any:
        value: Any = self._settings
        for part in filter(None, name.split(".")):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def _folders(self, params: Any) -> list[Any]:
        return [{"uri": self._root.as_uri(), "name": self._root.name}]

    def _register(self, params: Any) -> None:
        for item in params["registrations"]:
            self._registered[str(item["id"])] = str(item["method"])

    def _unregister(self, params: Any) -> None:
        for item in params["unregisterations"]:  # the protocol's own spelling
            self._registered.pop(str(item["id"]), None)

    def _refresh(self, params: Any) -> None:
        self._refreshes += 1
