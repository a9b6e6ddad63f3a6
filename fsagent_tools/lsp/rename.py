"""Where a symbol is used and what a new name changes, as a server says: checked before use."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from fsagent_tools.errors import InvalidArguments, InvalidChange, NoLanguageServer
from fsagent_tools.lsp.client import MAX_OPEN, LanguageServer, ResponseError, path_of_uri
from fsagent_tools.lsp.positions import Positions

MAX_OPENED = MAX_OPEN - 4  # files that hold the name, for a server that knows only open ones
Places = Mapping[str, Sequence[tuple[Any, str]]]  # path -> ranges of the protocol, and the new text


@dataclass(frozen=True, order=True)
class Span:
    """Characters `start` to before `stop` of a text, on `line` (from 1), and what replaces them."""

    start: int
    stop: int
    line: int
    new: str


class Symbols:
    """One server that has read the file `path` with its `text`. Offsets are of characters.

    Attributes:
        refusal: What the server said where it found no symbol.
    """

    def __init__(self, server: LanguageServer, path: Path, text: str, deadline: float) -> None:
        self.name, self.refusal = server.spec.name, ""
        self._server, self._path, self._text, self._deadline = server, path, text, deadline
        if not server.capabilities.get("referencesProvider"):
            raise NoLanguageServer(f"{self.name} cannot rename.", hint="Use `grep` and edit.")

    def read(self, language: str, others: Collection[Path], text_of: Callable[[Path], str]) -> str:
        """Have the server read the file, and `others` that hold the name where it knows only open
        files; what it does not know, "" for nothing. Raises as `LanguageServer.diagnose`.
        """
        server = self._server
        server.diagnose(self._path, language, self._text, self._deadline)
        opened = [*others][:MAX_OPENED] if server.spec.opens else []
        for other in opened:
            if server.spec.final_push:  # it indexes a text when it checks it
                server.diagnose(other, language, text_of(other), self._deadline)
            else:
                server.show(other, language, text_of(other))
        if opened and len(opened) < len(others):
            return f"{self.name} was shown {len(opened)} of {len(others)} files that hold the name."
        trouble = server.trouble
        return f"{self.name} has not read the project: {trouble}." if trouble else ""

    def references(self, offset: int) -> Places:
        """The uses of what is named at `offset`, its declaration included; {} for no symbol."""
        found: dict[str, list[tuple[Any, str]]] = {}
        try:
            for one in self._ask("references", offset, context={"includeDeclaration": True}) or ():
                found.setdefault(path_of_uri(one["uri"]), []).append((one["range"], ""))
        except ResponseError as error:  # so do some where there is no name
            self.refusal = str(error)
        except (LookupError, TypeError, AttributeError, ValueError):
            raise self._unusable("it is malformed") from None
        return found

    def rename(self, offset: int, new: str) -> Places:
        """What the name `new` changes. Raises `NoLanguageServer`, `InvalidArguments` where the
        server refuses, `InvalidChange` for more than changes of texts that it has.
        """
        offered = self._server.capabilities.get("renameProvider")
        if not offered:
            raise NoLanguageServer(f"{self.name} cannot rename.", hint="Use `grep` and edit.")
        try:
            prepares = isinstance(offered, Mapping) and offered.get("prepareProvider")
            if prepares and self._ask("prepareRename", offset) is None:
                raise ResponseError("it has no name here that can be changed")
            return self._edits(self._ask("rename", offset, newName=new) or {})
        except ResponseError as error:
            message = f"{self.name} does not rename it: {error}. Nothing was written."
            raise InvalidArguments(message, hint="Choose another name. Or edit by hand.") from None
        except (LookupError, TypeError, AttributeError, ValueError):
            raise self._unusable("it is malformed") from None

    def spans(self, path: str, text: str, found: Sequence[tuple[Any, str]]) -> list[Span]:
        """In the order of the text. Raises `InvalidChange` where it has no such places."""
        document = self._server.document(path)
        if document and document.text != text:
            raise self._unusable(f"{path} has changed meanwhile")
        positions, spans = Positions(text), set[Span]()
        for place, new in found:
            try:
                start, stop = (positions.offset(place[end]) for end in ("start", "end"))
            except (LookupError, TypeError, ValueError):
                raise self._unusable(f"{path} has no such place") from None
            spans.add(Span(start, stop, positions.counted(start)[0], new))
        ordered = sorted(spans)
        if any(one.stop > two.start for one, two in pairwise(ordered)):
            raise self._unusable(f"places in {path} overlap")
        return ordered

    def _ask(self, method: str, offset: int, **more: Any) -> Any:
        position = Positions(self._text).position(offset)
        at = {"textDocument": {"uri": self._path.as_uri()}, "position": position}
        return self._server.request(f"textDocument/{method}", {**at, **more}, self._deadline)

    def _edits(self, answer: Any) -> Places:
        parts: Any = answer.get("documentChanges")
        if parts is None:
            changes = (answer.get("changes") or {}).items()
            parts = [{"textDocument": {"uri": uri}, "edits": edits} for uri, edits in changes]
        found: dict[str, list[tuple[Any, str]]] = {}
        for part in parts:
            if kind := part.get("kind"):
                raise self._unusable(f"it would {kind} a file, which `mv` and `rm` do")
            path = path_of_uri(part["textDocument"]["uri"])
            document = self._server.document(path)
            if document and part["textDocument"].get("version") not in (None, document.version):
                raise self._unusable(f"it is of another version of {path}")
            edits = [(one["range"], str(one["newText"])) for one in part["edits"]]
            found.setdefault(path, []).extend(edits)
        return found

    def _unusable(self, why: str) -> InvalidChange:
        message = f"The answer of {self.name} cannot be used: {why}. Nothing was written."
        return InvalidChange(message, hint="Try again. Or edit by hand.")
