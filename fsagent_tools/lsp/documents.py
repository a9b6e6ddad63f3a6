"""The documents one language server has in memory, and what it said about each of them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from urllib.parse import unquote, urlsplit

from fsagent_tools.errors import TimedOut

MAX_OPEN = 64  # documents; the one used longest ago is closed


@dataclass(frozen=True)
class Finding:
    """Diagnostics of the protocol, about `text`. old: something has changed since."""

    items: list[Any]
    text: str
    old: bool = False


@dataclass
class OpenDocument:
    """`text` was sent as `version`, in the state `state` of the project. `items` is what the server
    pushed for it, None before it has; `known` is the last answer to any text.
    """

    uri: str
    language: str
    version: int = 0
    text: str = ""
    state: int = -1
    items: list[Any] | None = None
    known: Finding | None = None
    heard: float = 0.0
    lock: Lock = field(default_factory=Lock)


class Documents:
    """By path; one caller at a time holds one document. `notify` sends to the server."""

    def __init__(self, notify: Callable[[str, Any], None]) -> None:
        self._notify = notify
        self._open: dict[str, OpenDocument] = {}
        self._lock = Lock()

    @contextmanager
    def held(self, uri: str, language: str, until: float) -> Iterator[OpenDocument]:
        """The document, for this thread alone. Raises `TimedOut`."""
        key = _path(uri)
        with self._lock:
            document = self._open.pop(key, None) or OpenDocument(uri, language)
            self._open[key] = document
            self._make_room()
        if not document.lock.acquire(timeout=max(until - time.monotonic(), 0)):
            raise TimedOut("Another call was still checking the same file.")
        try:
            yield document
        finally:
            document.lock.release()

    def send(self, document: OpenDocument, text: str, state: int) -> None:
        """Make `text` the content, in this state of the project; a new version even when it is
        the old text, so that a server that pushes answers again.
        """
        document.version += 1
        named = {"uri": document.uri, "version": document.version}
        if document.version > 1:
            change: dict[str, Any] = {"textDocument": named, "contentChanges": [{"text": text}]}
            if text == document.text:
                change["forceRebuild"] = True  # clangd's word: what it includes has changed
            self._notify("textDocument/didChange", change)
        else:
            opened = {**named, "languageId": document.language, "text": text}
            self._notify("textDocument/didOpen", {"textDocument": opened})
        document.items, document.text, document.state = None, text, state

    def publish(self, params: Any) -> None:
        """Take a `publishDiagnostics`; one for an older version is dropped."""
        document = self._open.get(_path(params["uri"]))
        if document and params.get("version") in (None, document.version):
            document.items = list(params["diagnostics"])
            document.heard = time.monotonic()

    def changed(self, path: str) -> None:
        """The file changed on disk: let the server read it there, unless somebody holds it."""
        with self._lock:
            document = self._open.get(path)
            if document and document.lock.acquire(blocking=False):
                self._close(document)
                document.lock.release()

    def _make_room(self) -> None:
        for document in list(self._open.values())[: max(len(self._open) - MAX_OPEN, 0)]:
            if document.lock.acquire(blocking=False):
                self._close(document)
                del self._open[_path(document.uri)]
                document.lock.release()

    def _close(self, document: OpenDocument) -> None:
        if document.version:
            document.version = 0
            self._notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})


def _path(uri: str) -> str:
    """The file of a URI; servers escape differently, so URIs are compared by this."""
    path = unquote(urlsplit(uri).path)
    return path[1:].replace("/", "\\").lower() if path[2:3] == ":" else path
