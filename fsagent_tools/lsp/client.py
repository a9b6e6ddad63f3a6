"""One running language server: JSON-RPC over its streams, the texts it has, and what it says."""

import json
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from threading import Condition
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from fsagent_tools.call import current
from fsagent_tools.errors import LanguageServerFailed, TimedOut
from fsagent_tools.lsp.process import ServerProcess
from fsagent_tools.lsp.servers import ServerSpec
from fsagent_tools.runtime.shadows import Thread

MAX_HEADER = 4096  # bytes of one header line
MAX_BODY = 64 << 20  # bytes of a message; no real one comes near it
MAX_OPEN = 64  # documents; the one used longest ago is closed
MAX_PULLS = 5  # for one answer, while the server says that it has news
_POLL = 0.05  # seconds between two looks at the caller's cancel flag
_UNSURE = 1.0  # seconds without news after a publication that names no version
_METHOD_NOT_FOUND = -32601
_BUSY = (-32800, -32801, -32802)  # request cancelled, content modified, server cancelled
_PULL = "textDocument/diagnostic"
_ACKNOWLEDGED = (  # requests of the server to which the answer is nothing
    *("client/unregisterCapability", "window/showMessageRequest", "window/workDoneProgress/create"),
)
_DYNAMIC = {"dynamicRegistration": True}
_CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {
        **{"configuration": True, "workspaceFolders": True},
        **{"didChangeConfiguration": _DYNAMIC, "didChangeWatchedFiles": _DYNAMIC},
        "diagnostics": {"refreshSupport": True},
        "workspaceEdit": {"documentChanges": True},  # with versions; nothing made, moved, removed
    },
    "textDocument": {
        "rename": {"prepareSupport": True},
        "publishDiagnostics": {"versionSupport": True},
        "diagnostic": _DYNAMIC,
    },
    "experimental": {"serverStatusNotification": True},
}


class ResponseError(Exception):
    """The server answered a request with an error."""


class Outdated(Exception):
    """The next word of the server may be about another text: it needs a successor."""


@dataclass
class OpenDocument:
    """A text that the server has; `generation` counts the changes on disk that it was told of."""

    uri: str
    version: int
    text: str
    generation: int
    items: list[Any] | None = None  # what it published for this text, None before it has
    published: float = 0.0
    has_version: bool = False  # the items are of this very version
    is_complete: bool = False


class LanguageServer:
    """One server for the project in the folder `root`; whoever asks has it alone.

    Attributes:
        trouble: Why it does not know the project, in its own words; "" if it does.
        heard: How many messages it has sent.
        capabilities: What it says that it can do.
    """

    def __init__(self, spec: ServerSpec, process: ServerProcess, root: Path) -> None:
        self.spec, self.root = spec, root
        self.trouble, self.heard = "", 0
        self.capabilities: Mapping[str, Any] = {}
        self._process = process
        self._changed, self._failure = Condition(), ""
        self._ids, self._replies = count(1), dict[int, dict[str, Any] | None]()
        self._outgoing = SimpleQueue[dict[str, Any] | None]()
        self._documents = dict[str, OpenDocument]()  # by path, the one used last at the end
        self._versions, self._generation = count(1), 0
        self._pulls, self._is_settled = spec.pulls, not spec.settles
        self._work = {"loading"} if spec.reports_loading else set[str]()  # tokens of progress
        self._news, self._rested = 0, 0.0  # works begun and refreshes; when the last work ended
        for work in (self._write, self._read):
            Thread(target=work, name=f"lsp-{spec.name}", daemon=True).start()

    def start(self, deadline: float) -> None:
        """The handshake. Raises as `request` does."""
        hello = {
            "processId": None,  # in a PID namespace of its own, it would miss us and leave
            "clientInfo": {"name": "fsagent-tools"},
            **{"rootUri": self.root.as_uri(), "rootPath": str(self.root)},
            "workspaceFolders": self._folders,
            "capabilities": _CAPABILITIES,
            "initializationOptions": dict(self.spec.options),
        }
        answer = self.request("initialize", hello, deadline)
        self.capabilities = (answer or {}).get("capabilities") or {}
        self._pulls |= self.capabilities.get("diagnosticProvider") not in (None, False)
        self._notify("initialized", {})
        self._notify("workspace/didChangeConfiguration", {"settings": dict(self.spec.settings)})

    def close(self) -> None:
        """End its process, and all that it started. Safe to call twice."""
        self._outgoing.put(None)
        self._process.kill()

    def diagnose(self, path: Path, language: str, text: str, deadline: float) -> list[Any]:
        """Diagnostics of the protocol for `text` as the content of `path`.

        Raises:
            TimedOut: It has not said all by the monotonic time `deadline`.
            Outdated: Its next word may be about another text.
            ResponseError, LanguageServerFailed, Cancelled: As `request`.
        """
        if not self._wait(lambda: "loading" not in self._work, deadline):
            raise TimedOut(f"{self.spec.name} was still reading the project.")
        document = self.show(path, language, text)

        def is_complete() -> bool:  # a registration may say only now that it is to be asked
            return self._pulls or document.is_complete or self._has_said_all(document)

        if not self._wait(is_complete, deadline):
            raise TimedOut(f"{self.spec.name} did not answer in time.")
        if self._pulls:
            return self._pull(document, deadline)
        document.is_complete = True
        return document.items or []

    def show(self, path: Path, language: str, text: str) -> OpenDocument:
        """Let the server have `text` as the content of `path`. Raises `Outdated`."""
        document = self._documents.pop(str(path), None)
        if document and (document.text, document.generation) == (text, self._generation):
            self._documents[str(path)] = document
            return document
        if document and not (self._pulls or document.is_complete or self.spec.final_push):
            raise Outdated
        new = OpenDocument(path.as_uri(), next(self._versions), text, self._generation)
        with self._changed:
            self._documents[str(path)] = new
        if self.spec.trouble_per_text:
            self.trouble = ""
        identity = {"uri": new.uri, "version": new.version}
        if document:
            change: dict[str, Any] = {"textDocument": identity, "contentChanges": [{"text": text}]}
            if document.text == text:
                change["forceRebuild"] = True  # clangd's word: what it includes has changed
            self._notify("textDocument/didChange", change)
        else:
            opened = {**identity, "languageId": language, "text": text}
            self._notify("textDocument/didOpen", {"textDocument": opened})
        for oldest in [*self._documents][:-MAX_OPEN]:  # which it reads from disk from now on
            self._close({oldest: 2})
        return new

    def document(self, path: str) -> OpenDocument | None:
        """What the server has from us as the content of `path`."""
        return self._documents.get(path)

    def files_changed(self, changes: Mapping[str, int], asked: str) -> None:
        """Files that were created (1), changed (2) or deleted (3) on disk; that which is `asked`
        about has its text from us.
        """
        if changes := {path: kind for path, kind in changes.items() if path != asked}:
            self._close(changes)
            self._generation, self._is_settled = self._generation + 1, not self.spec.settles

    def _close(self, changes: Mapping[str, int]) -> None:
        for path in changes:
            if document := self._documents.pop(path, None):
                self._notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})
        news = [{"uri": Path(path).as_uri(), "type": kind} for path, kind in changes.items()]
        self._notify("workspace/didChangeWatchedFiles", {"changes": news})

    def _has_said_all(self, document: OpenDocument) -> bool:
        """Of a server that publishes: nothing more is to come for this text."""
        if document.items is None or self._work:
            return False
        quiet = time.monotonic() - max(document.published, self._rested)
        if self.spec.final_push:
            return document.has_version or quiet >= _UNSURE
        return quiet >= self.spec.quiet

    def _pull(self, document: OpenDocument, deadline: float) -> list[Any]:
        """Ask, and ask again while it has news: a server that has just started may not have seen
        the whole project, and says so by work or a refresh, however shortly after its answer.
        """
        items: list[Any] = []
        for _ in range(MAX_PULLS):
            known = self._news
            answer = self.request(_PULL, {"textDocument": {"uri": document.uri}}, deadline)
            found = answer.get("items") if isinstance(answer, dict) else None
            if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
                message = f"{self.spec.name} answered without diagnostics."
                raise LanguageServerFailed(message, hint="Try again.")
            items, quiet = found, time.monotonic() + self.spec.quiet
            if self._is_settled:
                break
            has_news = self._wait(lambda: bool(self._work) or self._news != known,  # noqa: B023
                                  min(deadline, quiet))  # fmt: skip
            self._is_settled = not has_news and quiet <= deadline
            if not self._is_settled and not self._wait(lambda: not self._work, deadline):
                break
        if not self._is_settled and time.monotonic() >= deadline:
            raise TimedOut(f"{self.spec.name} was still at work.")
        self._is_settled = True
        return items

    def request(self, method: str, params: Any, deadline: float) -> Any:
        """The result of `method`, asked again where the server says that it was busy.

        Raises:
            ResponseError: It answers with an error.
            TimedOut: It has not answered by the monotonic time `deadline`.
            LanguageServerFailed: It has ended, or does not speak the protocol.
            Cancelled: The caller gave up.
        """
        while True:
            number = next(self._ids)
            self._replies[number] = None
            self._outgoing.put({"id": number, "method": method, "params": params})
            try:
                if not self._wait(lambda: self._replies[number] is not None, deadline):  # noqa: B023
                    self._notify("$/cancelRequest", {"id": number})
                    raise TimedOut(f"{self.spec.name} did not answer in time.")
                reply = self._replies[number] or {}
            finally:
                del self._replies[number]
            error = reply.get("error")
            if not error:
                return reply.get("result")
            error = error if isinstance(error, dict) else {"message": error}
            if error.get("code") not in _BUSY:
                raise ResponseError(str(error.get("message"))[:200])
            self._wait(lambda: False, min(deadline, time.monotonic() + 0.02))

    def _notify(self, method: str, params: Any) -> None:
        self._outgoing.put({"method": method, "params": params})

    def _wait(self, is_done: Callable[[], bool], deadline: float) -> bool:
        """Sleep until `is_done()`; False when `deadline` has passed first. Raises as `request`."""
        with self._changed:
            while not is_done():
                if self._failure:
                    words = self._process.last_words()
                    hint = f"It said: {words}" if words else ""
                    raise LanguageServerFailed(f"{self.spec.name} {self._failure}.", hint=hint)
                if (left := deadline - time.monotonic()) <= 0:
                    return False
                current.get().check()
                self._changed.wait(min(left, _POLL))
        return True

    def _write(self) -> None:
        """In a thread: no caller blocks on a server that has stopped reading."""
        with suppress(OSError, ValueError), self._process.stdin as stream:
            while (message := self._outgoing.get()) is not None:
                body = json.dumps({"jsonrpc": "2.0", **message}).encode()
                stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                stream.flush()

    def _read(self) -> None:
        """In a thread: whoever waits is woken after each message."""
        failure = "ended unexpectedly"
        try:
            with self._process.stdout as stream:
                while (message := _read_message(stream)) is not None:
                    with self._changed:
                        self.heard += 1
                        self._take(message)
                        self._changed.notify_all()
        except (ValueError, RecursionError) as error:
            failure = f"does not speak the language server protocol: {error}"
        except OSError:
            pass
        with self._changed:
            self._failure = failure
            self._changed.notify_all()

    def _take(self, message: dict[str, Any]) -> None:
        method, number, params = (message.get(key) for key in ("method", "id", "params"))
        if method is None:
            if isinstance(number, int) and number in self._replies:
                self._replies[number] = message
        elif number is None:
            with suppress(LookupError, TypeError, AttributeError, ValueError):  # malformed
                self._notified(str(method), params)
        else:
            try:
                reply = {"result": self._answer(str(method), params)}
            except (LookupError, TypeError, AttributeError):
                reply = {"error": {"code": _METHOD_NOT_FOUND, "message": f"{method}: unknown"}}
            self._outgoing.put({"id": number, **reply})

    def _answer(self, method: str, params: Any) -> Any:
        """To a request of the server. Raises `LookupError` for one that is not known."""
        match method:
            case "workspace/configuration":
                return [self._section(item.get("section") or "") for item in params["items"]]
            case "workspace/workspaceFolders":
                return self._folders
            case "client/registerCapability":
                self._pulls |= any(one["method"] == _PULL for one in params["registrations"])
            case "workspace/diagnostic/refresh":
                self._news += 1
            case "workspace/applyEdit":
                return {"applied": False}
            case "window/showDocument":
                return {"success": False}
            case other if other not in _ACKNOWLEDGED:
                raise LookupError(method)
        return None

    @property
    def _folders(self) -> list[Any]:
        return [{"uri": self.root.as_uri(), "name": self.root.name}]

    def _section(self, name: str) -> Any:
        value: Any = self.spec.settings
        for part in filter(None, name.split(".")):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def _notified(self, method: str, params: Any) -> None:
        match method:
            case "textDocument/publishDiagnostics":
                document = self._documents.get(path_of_uri(params["uri"]))
                version = params.get("version")
                if document and version in (None, document.version):
                    document.items, document.published = [*params["diagnostics"]], time.monotonic()
                    document.has_version, document.is_complete = version is not None, False
            case "experimental/serverStatus":  # rust-analyzer's
                self._note_work("loading", begins=not params["quiescent"])
                is_ill = params.get("health") in ("error", "warning")
                self.trouble = _cause(str(params.get("message"))) if is_ill else ""
            case "window/logMessage" | "window/showMessage":
                self._hear(str(params["message"]))
            case "$/progress":
                value = params["value"]
                is_trouble = self._hear(f"{value.get('title', '')}: {value.get('message', '')}")
                if value.get("kind") in ("begin", "end") and not is_trouble:
                    self._note_work(str(params["token"]), begins=value["kind"] == "begin")

    def _hear(self, message: str) -> bool:
        """Whether a message of the server tells of trouble."""
        if self.spec.died and re.search(self.spec.died, message):
            self._failure = "lost the process that checks for it"
        found = re.search(self.spec.trouble, message) if self.spec.trouble else None
        if found:
            self.trouble = _cause(found[found.lastindex or 0])
        return bool(found)

    def _note_work(self, token: str, *, begins: bool) -> None:
        if begins:
            self._news += 1
            self._work.add(token)
        else:
            self._work.discard(token)
            self._rested = time.monotonic()


def path_of_uri(uri: str) -> str:
    """The file of a URI; servers escape differently, so documents go by it."""
    return unquote(urlsplit(uri).path)


def _cause(message: str) -> str:
    """The first and the last part of what the first line says (`a: b: error: c`)."""
    head, _, reasons = message.strip().partition("\n")[0].strip().removesuffix(".").partition(": ")
    last = reasons.rpartition("error: ")[2]
    return f"{head}: {last}" if last else head


def _read_message(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message, None at the end. Raises `ValueError` for what is not one."""
    length = None
    while (line := stream.readline(MAX_HEADER)) and (line.strip() or length is None):
        name, colon, value = line.partition(b":")
        if not colon or not line.endswith(b"\n"):
            raise ValueError(f"it sent {line[:60]!r}")
        if name.strip().lower() == b"content-length":
            length = int(value) if value.strip().isdigit() and len(value) < 12 else MAX_BODY + 1
            if length > MAX_BODY:
                raise ValueError(f"it announced a message of {value[:20]!r} bytes")
    body = stream.read(length) if line and length is not None else b""
    if not line or len(body) < (length or 0):
        return None
    message = json.loads(body)
    if not isinstance(message, dict):
        raise ValueError(f"it sent {body[:60]!r}")
    return message
