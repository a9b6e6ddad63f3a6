"""Where a symbol is used, and what renaming it would change: asked of one language server."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from fsagent_tools.errors import (
    InvalidArguments,
    InvalidChange,
    NoMatch,
    TimedOut,
    ToolError,
)
from fsagent_tools.lsp.choice import Plan
from fsagent_tools.lsp.client import Refused
from fsagent_tools.lsp.documents import OpenDocument, path_of_uri
from fsagent_tools.lsp.languages import protocol_id
from fsagent_tools.lsp.positions import Positions
from fsagent_tools.lsp.server import Server

MOST_OPENED = 200  # files that hold the name, for a server that knows no others
_T = TypeVar("_T")
Raw = Mapping[str, Sequence[tuple[Any, str]]]  # path -> ranges of the protocol, and the new text


class Unable(Exception):
    """The server takes no such question."""


@dataclass(frozen=True)
class Texts:
    """What a question is about: `file` with its text, and others that hold the name.

    Paths are real and absolute. read: the text of a file, without a byte-order mark; raises a
    `ToolError`.
    """

    file: Path
    text: str
    others: Iterable[Path]
    read: Callable[[Path], str]


@dataclass(frozen=True, order=True)
class Span:
    """Characters `start` to before `stop` of a text, on `line` (from 1); `new` replaces them."""

    start: int
    stop: int
    line: int
    new: str


class Symbols:
    """One server, as long as nothing that it has read changes. Offsets are of characters."""

    def __init__(self, plan: Plan, server: Server, texts: Texts, until: float) -> None:
        self.said = ""  # by the server, where it found nothing
        self._name, self._server, self._until = plan.spec.name, server, until
        self._uri, self._at = texts.file.as_uri(), Positions(texts.text, server.encoding).position

    def references(self, offset: int) -> Raw:
        """Where what is named at `offset` is used, its declaration included; {} for nothing."""
        context = {"includeDeclaration": True}
        found: dict[str, list[tuple[Any, str]]] = {}
        try:
            for one in self._ask("references", offset, context=context) or ():
                found.setdefault(path_of_uri(one["uri"]), []).append((one["range"], ""))
        except Refused as refusal:  # so do some where there is no name
            self.said = str(refusal)
        except (LookupError, TypeError, AttributeError, ValueError):
            raise self._unfit("it is malformed") from None
        return found

    def rename(self, offset: int, new: str) -> Raw:
        """What a new name changes. Raises `InvalidArguments` where the server refuses, and
        `InvalidChange` for more than changes of texts that it was shown or has read.
        """
        if not (offered := self._server.offers.get("renameProvider")):
            raise Unable
        try:
            asks_first = isinstance(offered, Mapping) and offered.get("prepareProvider")
            if asks_first and self._ask("prepareRename", offset) is None:
                raise Refused(0, "it has no name here that can be changed")
            answer = self._ask("rename", offset, newName=new) or {}
            return self._edits(answer)
        except Refused as refusal:
            said = f"{self._name} does not rename it: {refusal}. Nothing was written."
            raise InvalidArguments(said, hint="Choose another name. Or edit by hand.") from None
        except (LookupError, TypeError, AttributeError, ValueError):
            raise self._unfit("it is malformed") from None

    def spans(self, path: str, text: str, found: Sequence[tuple[Any, str]]) -> list[Span]:
        """In the order of the text. Raises `InvalidChange` where it has no such places."""
        there = self._server.documents.opened(path)
        if there and there.text != text:
            raise self._unfit(f"{path} has changed meanwhile")
        positions, spans = Positions(text, self._server.encoding), set[Span]()
        for place, new in found:
            try:
                start, stop = (positions.offset(place[end]) for end in ("start", "end"))
            except (LookupError, TypeError, ValueError):
                raise self._unfit(f"{path} has no such place") from None
            spans.add(Span(start, stop, positions.counted(start)[0], new))
        ordered = sorted(spans)
        if any(one.stop > two.start for one, two in pairwise(ordered)):
            raise self._unfit(f"places in {path} overlap")
        return ordered

    def _ask(self, method: str, offset: int, **more: Any) -> Any:
        at = {"textDocument": {"uri": self._uri}, "position": self._at(offset)}
        return self._server.request(f"textDocument/{method}", {**at, **more}, self._until)

    def _edits(self, answer: Any) -> Raw:
        parts = answer.get("documentChanges")
        if parts is None:
            changes = (answer.get("changes") or {}).items()
            parts = [{"textDocument": {"uri": uri}, "edits": edits} for uri, edits in changes]
        found: dict[str, list[tuple[Any, str]]] = {}
        for part in parts:
            if kind := part.get("kind"):
                raise self._unfit(f"it would {kind} a file, which `mv` and `rm` do")
            named = part["textDocument"]
            path = path_of_uri(named["uri"])
            there = self._server.documents.opened(path)
            if there and named.get("version") not in (None, there.version):
                raise self._unfit(f"it is of another version of {path}")
            edits = [(one["range"], str(one["newText"])) for one in part["edits"]]
            found.setdefault(path, []).extend(edits)
        return found

    def _unfit(self, why: str) -> InvalidChange:
        return InvalidChange(
            f"The answer of {self._name} cannot be used: {why}. Nothing was written.",
            hint="Try again. Or edit by hand.",
        )


def asked_about(
    plan: Plan, texts: Texts, until: float, question: Callable[[Symbols], _T], server: Server
) -> tuple[_T, list[str]]:
    """What `question` makes of it, asked again when a file changes meanwhile; and what the server
    does not know. Raises `Unable`, `TimedOut` where it has not read the files until then.
    """
    if not server.offers.get("referencesProvider"):
        raise Unable
    beside = {path: None for path in texts.others if path != texts.file} if plan.spec.opens else {}
    others = [path for path in beside if protocol_id(path, plan.language)]
    left = list[str]()
    if len(others) > MOST_OPENED:
        left.append(f"was shown {MOST_OPENED} of {len(others)} files that hold the name")
    with ExitStack() as stack:
        held = dict[str, OpenDocument]()
        for path in sorted([texts.file, *others[:MOST_OPENED]]):  # in one order, whoever asks
            language = protocol_id(path, plan.language)
            documents = server.documents.held(path.as_uri(), language, until)
            held[str(path)] = stack.enter_context(documents)
        main = held[str(texts.file)]
        while True:
            server.look(main, texts.file, time.monotonic(), held)
            state = main.asked
            trouble = _read(server, texts, main, held, until)
            refusal: ToolError | None = None
            try:
                answer = question(Symbols(plan, server, texts, until))
            except (InvalidArguments, NoMatch) as error:
                refusal = error
            server.look(main, texts.file, time.monotonic(), held)
            if main.asked == state:
                if refusal:
                    raise refusal
                return answer, [*filter(None, (trouble,)), *left]


def _read(
    server: Server, texts: Texts, main: OpenDocument, held: Mapping[str, OpenDocument], until: float
) -> str:
    """Have it read the files as they are now; why it does not know the project."""
    now = dict[str, str]()
    for path, document in held.items():
        document.asked = main.asked
        if document is not main:
            with suppress(ToolError):  # gone, or no text any more
                now[path] = texts.read(Path(path))
                if not document.holds(now[path]) or document.moved:
                    server.show(document, now[path], until)
    found = server.checked(main, texts.text, until)
    late = [p for p in now if not server.pulls and not server.checked(held[p], now[p], until)]
    if found is None or late:
        raise TimedOut(
            f"{server.client.name} has not read the files in time.",
            hint="Try again. Or raise `timeout`.",
        )
    if found.trouble:
        return f"has not read the project: {found.trouble}"
    return "was still at work" * found.unfinished
