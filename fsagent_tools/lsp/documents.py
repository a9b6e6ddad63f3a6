"""The documents one language server has in memory, and what it said about each of them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Any
from urllib.parse import unquote, urlsplit

from fsagent_tools.errors import TimedOut

MAX_OPEN = 64  # documents; the one used longest ago is closed


@dataclass(frozen=True)
class Finding:
    """Diagnostics of the protocol, about `text`. old: something has changed since. unfinished: the
    server was still at work. trouble: why it knows nothing of the file's project, in its own words.
    """

    items: list[Any]
    text: str
    old: bool = False
    unfinished: bool = False
    trouble: str = ""


@dataclass
class OpenDocument:
    """`text` was sent as `version`, 0 while it is not open, in the state `state` of the project.
    `items` is what the server pushed for it, None before it has; sure: of this very text; settled:
    that was all. `known` is the last answer to any text. asked: the state in which it is asked
    about now. trouble: of the next `Finding`.
    """

    uri: str
    language: str
    version: int = 0
    asked: int = 0
    text: str = ""
    state: int = -1
    items: list[Any] | None = None
    sure: bool = True
    settled: bool = False
    known: Finding | None = None
    heard: float = 0.0
    trouble: str = ""
    lock: Lock = field(default_factory=Lock)

    def holds(self, text: str) -> bool:
        """Whether the server has this very text."""
        return self.version > 0 and self.text == text

    @property
    def moved(self) -> bool:
        """Whether other files have changed since it was sent."""
        return self.state != self.asked


class Documents:
    """By path; one caller at a time holds one document. `notify` sends to the server. versioned:
    what that publishes without a version is of a file on disk, and not of what it was sent.
    """

    def __init__(self, notify: Callable[[str, Any], None], *, versioned: bool = False) -> None:
        self._notify = notify
        self._open: dict[str, OpenDocument] = {}
        self._versions = count(1)  # of all documents: what is closed and opened again has a new one
        self._always = versioned
        self._versioned = False  # whether the server says what version its answers are of
        self._closed: set[str] = set()  # what was open once
        self._lock = Lock()

    @contextmanager
    def held(self, uri: str, language: str, until: float) -> Iterator[OpenDocument]:
        """The document, for this thread alone. Raises `TimedOut`."""
        document = self._acquired(path_of_uri(uri), OpenDocument(uri, language), until)
        try:
            yield document
        finally:
            document.lock.release()

    def _acquired(self, key: str, new: OpenDocument, until: float) -> OpenDocument:
        while True:
            with self._lock:
                document = self._open.pop(key, None) or new
                self._open[key] = document
                self._make_room()
            if not document.lock.acquire(timeout=max(until - time.monotonic(), 0)):
                raise TimedOut("Another call was still checking the same file.")
            with self._lock:
                if self._open.get(key) is document:  # nobody made room of it meanwhile
                    return document
            document.lock.release()

    def send(self, document: OpenDocument, text: str) -> None:
        """Make `text` the content, in the state in which it is asked about; a new version even when
        it is the old text, so that a server that pushes answers again.
        """
        again, opened = text == document.text, document.version > 0
        with self._lock:  # an answer to the version before counts no more, one to this at once
            document.items, document.text, document.state = None, text, document.asked
            document.version, document.settled = next(self._versions), False
        named = {"uri": document.uri, "version": document.version}
        if opened:
            change: dict[str, Any] = {"textDocument": named, "contentChanges": [{"text": text}]}
            if again:
                change["forceRebuild"] = True  # clangd's word: what it includes has changed
            self._notify("textDocument/didChange", change)
        else:
            whole = {**named, "languageId": document.language, "text": text}
            self._notify("textDocument/didOpen", {"textDocument": whole})

    def owes(self, document: OpenDocument, text: str) -> bool:
        """Whether the server may yet publish what cannot be told from its answer to `text`, the
        next content: of an earlier text, or that there is nothing since the document was closed.
        """
        with self._lock:
            unanswered = document.items is None and document.text != text
            if document.version and unanswered and not self._versioned:
                self._close(document)
            return not document.version and path_of_uri(document.uri) in self._closed

    def publish(self, params: Any, trouble: str = "") -> None:
        """Take a `publishDiagnostics`; one for an older version is dropped."""
        items, key = list(params["diagnostics"]), path_of_uri(params["uri"])
        with self._lock:
            document = self._open.get(key)
            version = params.get("version")
            self._versioned = self._versioned or version is not None
            if document and document.version and version in (None, document.version):
                document.items, document.heard = items, time.monotonic()
                document.trouble = trouble
                document.sure = version is not None or not self._always

    def opened(self, path: str) -> OpenDocument | None:
        """The document of a file, if the server has its text from us."""
        with self._lock:
            document = self._open.get(path)
            return document if document and document.version else None

    def show(self, uri: str, language: str, text: str) -> None:
        """Let the server have the text of a file that is not asked about."""
        with self._lock:
            if path_of_uri(uri) in self._open and self._open[path_of_uri(uri)].version:
                return
            named = {"uri": uri, "version": next(self._versions)}
            opened = {**named, "languageId": language, "text": text}
            self._notify("textDocument/didOpen", {"textDocument": opened})
            self._notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def changed(self, path: str) -> bool:
        """The file changed on disk: let the server read it there. False while somebody holds it."""
        with self._lock:
            document = self._open.get(path)
            if document and not document.lock.acquire(blocking=False):
                return False
            if document:
                self._close(document)
                document.lock.release()
        return True

    def _make_room(self) -> None:
        for document in list(self._open.values())[: max(len(self._open) - MAX_OPEN, 0)]:
            if document.lock.acquire(blocking=False):
                self._close(document)
                del self._open[path_of_uri(document.uri)]
                document.lock.release()

    def _close(self, document: OpenDocument) -> None:
        if document.version:
            document.version = 0
            self._closed.add(path_of_uri(document.uri))
            self._notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})


def path_of_uri(uri: str) -> str:
    """The file of a URI; servers escape differently, so URIs are compared by this."""
    return unquote(urlsplit(uri).path)


def first_line(said: str) -> str:
    return said.strip().partition("\n")[0].strip().removesuffix(".")


def short_cause(said: str) -> str:
    """The first and the last of what the first line says one for the other (`a: b: error: c`)."""
    head, _, reasons = first_line(said).partition(": ")
    last = reasons.rpartition("error: ")[2]
    return f"{head}: {last}" if last else head
