"""One running language server: handshake, the documents it has, and its diagnostics."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import unquote, urlsplit

from fsagent_tools.errors import LanguageServerFailed, TimedOut
from fsagent_tools.lsp.confinement import ServerProcess
from fsagent_tools.lsp.connection import Connection, ResponseError
from fsagent_tools.lsp.servers import ServerSpec
from fsagent_tools.lsp.status import ServerStatus

MAX_OPEN = 64  # documents; the one used longest ago is closed
UNSURE = 1.0  # seconds without news after what a server published of no version, though it has them
MAX_PULLS = 5  # for one answer, while the server says that it has news
_PULL = "textDocument/diagnostic"
_CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
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


class Outdated(Exception):
    """The server cannot be trusted with the next text: it needs a successor."""


@dataclass
class OpenDocument:
    """A text that the server has. items: what it published for it, None before it has; state: that
    of the other files when it was sent."""

    uri: str
    version: int
    text: str
    state: int
    items: list[Any] | None = None
    heard: float = 0.0
    sure: bool = True  # the items are of this very version
    complete: bool = False


class LanguageServer:
    """One question at a time: who asks holds it by `turn`. root: the folder it is told about."""

    def __init__(self, spec: ServerSpec, process: ServerProcess, root: Path) -> None:
        self.spec, self.root = spec, root
        self.capabilities: Mapping[str, Any] = {}
        self.status = ServerStatus(spec)
        self._turn = Lock()
        self._documents: dict[str, OpenDocument] = {}  # by path, the one used last at the end
        self._versions, self._state = count(1), 0
        self._pulls, self._settled = spec.pulls, not spec.settles
        self._connection = Connection(
            spec.name,
            process,
            {
                "workspace/configuration": self._configuration,
                "workspace/workspaceFolders": lambda params: self._folders(),
                "client/registerCapability": self._register,
                "client/unregisterCapability": lambda params: None,
                "workspace/diagnostic/refresh": self._refresh,
                "workspace/applyEdit": lambda params: {"applied": False},
                "window/showDocument": lambda params: {"success": False},
                "window/showMessageRequest": lambda params: None,
                "window/workDoneProgress/create": lambda params: None,
            },
            self._notified,
        )
        self.request, self.close = self._connection.request, self._connection.close

    @property
    def heard(self) -> int:
        """How many messages it has sent."""
        return self._connection.heard

    def start(self, deadline: float) -> None:
        """The handshake. Raises as `Connection.request` does."""
        hello = {
            "processId": None,  # in a PID namespace of its own, it would miss us and leave
            "clientInfo": {"name": "fsagent-tools"},
            "rootUri": self.root.as_uri(),
            "rootPath": str(self.root),
            "workspaceFolders": self._folders(),
            "capabilities": _CAPABILITIES,
            "initializationOptions": dict(self.spec.options),
        }
        answer = self.request("initialize", hello, deadline) or {}
        self.capabilities = answer.get("capabilities") or {}
        self._pulls |= self.capabilities.get("diagnosticProvider") not in (None, False)
        self._connection.notify("initialized", {})
        settings = {"settings": dict(self.spec.settings)}
        self._connection.notify("workspace/didChangeConfiguration", settings)

    @contextmanager
    def turn(self, deadline: float) -> Iterator[None]:
        """The server for this thread alone. Raises `TimedOut`."""
        if not self._turn.acquire(timeout=max(deadline - time.monotonic(), 0)):
            raise TimedOut(f"{self.spec.name} was still busy with another question.")
        try:
            yield
        finally:
            self._turn.release()

    def changed_on_disk(self, changes: Mapping[str, int], asked: str) -> None:
        """Files that were created (1), changed (2) or deleted (3); that which is `asked` about
        has its text from us.
        """
        changes = {path: kind for path, kind in changes.items() if path != asked}
        if not changes:
            return
        for path in changes:
            self._close(path)
        self._state, self._settled = self._state + 1, not self.spec.settles
        self._tell(changes)

    def diagnose(self, path: Path, language: str, text: str, deadline: float) -> list[Any]:
        """What the server says about `text` as the content of `path`.

        Raises `TimedOut` when it has not said all by `deadline`, `ResponseError`, `Cancelled`,
        `LanguageServerFailed`, and `Outdated` when its next word may be about another text.
        """
        if not self._connection.wait(lambda: not self.status.loading, deadline):
            raise TimedOut(f"{self.spec.name} was still reading the project.")
        document = self.show(path, language, text)

        def complete() -> bool:  # a server may say by a registration of its own that it is asked
            if self._pulls or document.items is None or self.status.busy:
                return self._pulls
            quiet = time.monotonic() - max(document.heard, self.status.rested)
            if self.spec.has_versions and not document.sure:
                return quiet >= UNSURE
            return self.spec.final_push or quiet >= self.spec.quiet

        if not document.complete and not self._connection.wait(complete, deadline):
            raise TimedOut(f"{self.spec.name} did not answer in time.")
        if self._pulls:
            return self._pull(document, deadline)
        document.complete = True
        return document.items or []

    def show(self, path: Path, language: str, text: str) -> OpenDocument:
        """Let the server have `text` as the content of `path`. Raises `Outdated`."""
        document = self._documents.pop(str(path), None)
        if document and (document.text, document.state) == (text, self._state):
            self._documents[str(path)] = document
            return document
        if document and not (self._pulls or document.complete or self.spec.has_versions):
            raise Outdated  # what it publishes next may be of the text before
        new = OpenDocument(path.as_uri(), next(self._versions), text, self._state)
        with self._connection.changed:
            self._documents[str(path)] = new
        if self.spec.trouble_per_text:
            self.status.trouble = ""
        identity = {"uri": new.uri, "version": new.version}
        if document:
            change: dict[str, Any] = {"textDocument": identity, "contentChanges": [{"text": text}]}
            if document.text == text:
                change["forceRebuild"] = True  # clangd's word: what it includes has changed
            self._connection.notify("textDocument/didChange", change)
        else:
            opened = {**identity, "languageId": language, "text": text}
            self._connection.notify("textDocument/didOpen", {"textDocument": opened})
        for oldest in [*self._documents][:-MAX_OPEN]:  # which it has to read from disk from now on
            self._close(oldest)
            self._tell({oldest: 2})
        return new

    def document(self, path: str) -> OpenDocument | None:
        """What the server has from us as the content of `path`."""
        return self._documents.get(path)

    def _pull(self, document: OpenDocument, deadline: float) -> list[Any]:
        """A server that has just started may not have seen the whole project: it says so by work in
        progress or by asking for a refresh, however shortly after its answer.
        """
        items: list[Any] = []
        for _ in range(MAX_PULLS):
            news = self.status.news
            try:
                answer = self.request(_PULL, {"textDocument": {"uri": document.uri}}, deadline)
            except ResponseError as error:
                raise LanguageServerFailed(f"{self.spec.name} refused to check: {error}.") from None
            found = answer.get("items") if isinstance(answer, dict) else None
            if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
                message = f"{self.spec.name} answered without diagnostics."
                raise LanguageServerFailed(message, hint="Try again.")
            items = found
            quiet = time.monotonic() + self.spec.quiet
            if self._settled or not self._has_news(news, min(deadline, quiet)):
                self._settled = self._settled or quiet <= deadline
                break
            if not self._connection.wait(lambda: not self.status.busy, deadline):
                break
        if not self._settled and time.monotonic() >= deadline:
            raise TimedOut(f"{self.spec.name} was still at work.")
        self._settled = True
        return items

    def _has_news(self, known: int, deadline: float) -> bool:
        """Whether it begins a work, or asks for a refresh, until then."""
        return self._connection.wait(
            lambda: self.status.busy or self.status.news != known, deadline
        )

    def _tell(self, changes: Mapping[str, int]) -> None:
        news = [{"uri": Path(path).as_uri(), "type": kind} for path, kind in changes.items()]
        self._connection.notify("workspace/didChangeWatchedFiles", {"changes": news})

    def _close(self, path: str) -> None:
        if document := self._documents.pop(path, None):
            closed = {"textDocument": {"uri": document.uri}}
            self._connection.notify("textDocument/didClose", closed)

    def _notified(self, method: str, params: Any) -> None:
        if method != "textDocument/publishDiagnostics":
            self.status.take(method, params)
            if self.status.died:
                self._connection.failure = "lost the process that checks for it"
            return
        document, version = self._documents.get(path_of_uri(params["uri"])), params.get("version")
        if document and version in (None, document.version):
            document.items, document.heard = [*params["diagnostics"]], time.monotonic()
            document.sure, document.complete = version is not None, False

    def _configuration(self, params: Any) -> list[Any]:
        return [self._section(item.get("section") or "") for item in params["items"]]

    def _section(self, name: str) -> Any:
        value: Any = self.spec.settings
        for part in filter(None, name.split(".")):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def _folders(self) -> list[Any]:
        return [{"uri": self.root.as_uri(), "name": self.root.name}]

    def _register(self, params: Any) -> None:
        self._pulls |= any(one["method"] == _PULL for one in params["registrations"])

    def _refresh(self, params: Any) -> None:
        self.status.news += 1


def path_of_uri(uri: str) -> str:
    """The file of a URI; servers escape differently, so documents go by it."""
    return unquote(urlsplit(uri).path)
