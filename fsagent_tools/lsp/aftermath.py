"""What changes broke, as language servers find out beside the calls: a later call tells it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event, Lock

from fsagent_tools.errors import ToolError
from fsagent_tools.lsp.checked import TextErrors
from fsagent_tools.lsp.languages import language_of
from fsagent_tools.lsp.pool import Servers
from fsagent_tools.lsp.watch import regular_text
from fsagent_tools.problems import Problem
from fsagent_tools.runtime.shadows import Thread

_START = 30.0  # seconds that a server may take
_OTHERS = 20  # files besides the changed one that are looked at
_SHOWN, _LONGEST = 3, 160  # errors in a line of text, characters of each
Fresh = Callable[[Path, TextErrors, TextErrors], list[Problem]]  # of the second, not the first


class Aftermath:
    """Of the changed file, and of files of its language that were asked about or changed before.
    `servers.known` is what was told of each. first: what paths from the root are told with.
    """

    def __init__(self, servers: Servers, fresh: Fresh, first: str = "") -> None:
        self._servers, self._fresh, self._first = servers, fresh, first
        self._changed = dict[Path, tuple[str | None, str]]()
        self._found = dict[Path, TextErrors]()
        self._lock, self._idle = Lock(), Event()
        self._idle.set()

    def begin(self, file: Path, old: bytes | None, new: bytes) -> None:
        """A change that was written, in UTF-8; old: None for a new file."""
        before, after = old if old is None else old.decode(), new.decode()
        with self._lock:
            first, _ = self._changed.pop(file, (before, ""))
            self._changed[file] = first, after
            works = not self._idle.is_set()
            self._idle.clear()
        if not works:
            try:
                Thread(target=self._work, name="lsp-after", daemon=True).start()
            except RuntimeError:  # the system gives no further thread: the next change tries again
                self._idle.set()

    def news(self, wait: float = 0.0) -> str:
        """What is new since it was last asked, on one line, "" for nothing."""
        self._idle.wait(wait)
        with self._lock:
            found, self._found = self._found, {}
        rows = list[str]()
        for file, (text, problems) in found.items():
            if _on_disk(file) == text:  # what was taken back, or changed again, is over
                fresh = self._fresh(file, self._servers.known.find(file) or ("", []), found[file])
                rows += (f"{self._name(file)}:{problem}"[:_LONGEST] for problem in fresh)
                self._servers.remember(file, (text, problems))
        more = f"; and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        return f"New errors: {'; '.join(rows[:_SHOWN])}{more}" if rows else ""

    def _name(self, file: Path) -> str:
        root = self._servers.root.resolve()
        inside = file.is_relative_to(root)
        return f"{self._first}{file.relative_to(root)}" if inside else str(file)

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._changed:
                    self._idle.set()
                    return
                file = next(iter(self._changed))
                before, after = self._changed.pop(file)
            try:
                self._look(file, before, after)
            except ToolError:
                pass
            except Exception:
                self._idle.set()
                raise

    def _look(self, file: Path, before: str | None, after: str) -> None:
        known = self._servers.known
        others = [other for other in known if other != file and self._alike(other, file)]
        if known.find(file) is None and before is not None:
            self._servers.remember(file, self._state(file, before))
        self._keep({file: self._state(file, after)})
        found = dict[Path, TextErrors | None]()
        for other in reversed(others[-_OTHERS:]):
            if self._changed:
                return  # they are looked at again, behind the next one
            text = _on_disk(other)
            found[other] = None if text is None else self._state(other, text)
        self._keep(found)

    def _keep(self, found: Mapping[Path, TextErrors | None]) -> None:
        with self._lock:
            self._found |= {file: state for file, state in found.items() if state}

    def _state(self, file: Path, text: str) -> TextErrors | None:
        return self._servers.check(file, text, _START).errors(text)

    def _alike(self, one: Path, other: Path) -> bool:
        among = self._servers.languages
        return language_of(one, among) == language_of(other, among)


def _on_disk(file: Path) -> str | None:
    text = regular_text(str(file))
    return None if text is None else text.removeprefix("\ufeff")
