"""What changed on disk, told to a server once: before the next question, whoever asks it."""

from collections.abc import Callable, Container, Mapping
from threading import Lock

from fsagent_tools.lsp.documents import Documents, OpenDocument
from fsagent_tools.lsp.watch import Watch

Tell = Callable[[Mapping[str, int]], object]  # path -> kind of change


class Outdated(Exception):
    """What a server reads once, when it starts, has changed: it needs a successor."""


class DiskChanges:
    """`documents` are those of the server, which `watch` looks for."""

    def __init__(self, watch: Watch, documents: Documents) -> None:
        self.watch = watch
        self._documents = documents
        self._lock = Lock()
        self._state = 0  # of the project, one more after each change on disk
        self._outdated = False
        self._untold: dict[str, int] = {}
        self._held_back: dict[str, int] = {}  # files that somebody else asks about meanwhile

    def announce(
        self,
        document: OpenDocument,
        path: str,
        asked: float,
        tell: Tell,
        held: Container[str] = (),
    ) -> None:
        """Tell what changed on disk since the last time. `document`, the file `path`, stays as new
        as it was when nothing else did. Its own change is told with the next one: the server gets
        its text anyway, and would check it twice. held: files of which it then gets the text, too.
        Raises `Outdated`.
        """
        with self._lock:
            changes = dict(self.watch.changes(asked))
            self._outdated = self._outdated or any(map(self.watch.is_setting, changes))
            if self._outdated:  # also for those who waited meanwhile
                raise Outdated
            self._take({**self._held_back, **changes}, document, path, held)
            self._untold |= changes
            others = {p: kind for p, kind in self._untold.items() if p != path}
            if others:
                self._untold = {p: kind for p, kind in self._untold.items() if p == path}
                tell(others)
            document.asked = self._state  # the next change is not told to the server yet

    def _take(
        self, changes: Mapping[str, int], document: OpenDocument, path: str, held: Container[str]
    ) -> None:
        """What others ask about keeps its text in the server till they are done: it counts as
        changed once more.
        """
        others = {changed: kind for changed, kind in changes.items() if changed != path}
        if changes:
            current = document.state == self._state
            self._state += 1
            if current and not others:
                document.state = self._state
        left = {p: kind for p, kind in others.items() if p not in held}
        self._held_back = {p: kind for p, kind in left.items() if not self._documents.changed(p)}
