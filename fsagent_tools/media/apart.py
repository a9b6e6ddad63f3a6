"""Documents are read in a process of their own: no file but the input, no network, few means."""

import json
import signal
import sys
import tempfile
from collections.abc import Sequence
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

from fsagent_tools import errors
from fsagent_tools.media import child
from fsagent_tools.media.image import Picture
from fsagent_tools.media.pdf import PdfText
from fsagent_tools.media.warm import Readers
from fsagent_tools.policy import Limits
from fsagent_tools.runtime.shadows import is_written
from fsagent_tools.shell.profile import Launch, Profile
from fsagent_tools.shell.reader import libraries

MEMORY = 400  # MB of address space
SECONDS = 5  # of computing
MOST_SAID = 16 << 20  # bytes of an answer
_TOO_LONG = {-9, -24}  # SIGKILL, and SIGXCPU where the system warns first
_ABORTED = {-4, -5, -6}  # what compiled libraries do when there is no more memory
_PAGES = "Of a PDF, ask for single `pages`; of HTML, for `format`='html'."
PATIENCE = 60.0  # seconds, on a machine that has other things to do
_recent = dict[tuple[Any, ...], Any]()  # replies by content: who asks for one had it
_MOST_RECENT, _recent_lock = 4, Lock()
SECONDS_OF = {"fsagent_tools.web.convert": 10}  # of computing: a page of 2 MB takes up to 6
_ENV = {  # threads and arenas take address space for each core of the machine
    "LANG": "C.UTF-8",
    "MALLOC_ARENA_MAX": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKIO_WORKER_THREADS": "1",
}
_CODE = (
    f"import sys; sys.path[:] = sys.argv[1:]; from {child.__name__} import serve; "
    "import MODULE; serve(MODULE._FUNCTIONS)"
)


def pdf_text(data: bytes, spec: str | None, seconds: float = PATIENCE) -> PdfText:
    """`pdf.pages`; as `ends.ended` says when it takes too much, `TimedOut`, `Cancelled`."""
    reply = _remembered("pages", data, [spec], seconds)
    found = tuple((number, text) for number, text in reply["pages"])
    return PdfText(found, reply["total"], tuple(reply["scanned"]), reply["unread"])


def pdf_pictures(data: bytes, numbers: Sequence[int], seconds: float = PATIENCE) -> list[Picture]:
    """Pages as pictures, those for which the time is enough. Raises like `pdf_text`."""
    return [Picture(**reply) for reply in ask("page_pictures", data, [[*numbers]], seconds)]


def read_picture(data: bytes, seconds: float = PATIENCE) -> list[Picture]:
    """`image.prepare_parts`. Raises like `pdf_text`, too."""
    return [Picture(**reply) for reply in ask("picture", data, [], seconds)]


def notebook_pictures(data: bytes, numbers: Sequence[int]) -> list[Picture | None]:
    """`notebook.drawings`. Raises like `pdf_text`."""
    reply = ask("drawings", data, [[*numbers]], PATIENCE)
    return [each and Picture(**each) for each in reply]


def office_text(data: bytes, suffix: str, seconds: float = PATIENCE) -> str:
    """`office.markdown`. Raises like `pdf_text`, too."""
    return str(_remembered("office", data, [suffix], seconds))


def _remembered(name: str, data: bytes, arguments: list[Any], seconds: float) -> Any:
    """`ask`, but for a document whose content was read of late: it is read window by window."""
    key = name, *arguments, blake2b(data, digest_size=32).digest()
    if (known := _recent.get(key)) is None:
        known = ask(name, data, arguments, seconds)
        with _recent_lock:
            _recent[key] = known
            if len(_recent) > _MOST_RECENT:
                del _recent[next(iter(_recent))]
    return known


def ask(
    name: str, data: bytes, arguments: list[Any], seconds: float, module: str = child.__name__
) -> Any:
    """What the function `name` of `module`, run in a process of its own, says of `data`."""
    with tempfile.TemporaryFile() as document, tempfile.TemporaryFile() as answer:
        document.write(data)
        document.seek(0)
        asked = json.dumps([name, arguments]).encode()
        if code := _readers(module).ask(asked, document.fileno(), answer.fileno(), seconds):
            raise ended(code, SECONDS_OF.get(module, SECONDS))
        answer.seek(0)
        reply = json.loads(answer.read().decode())  # no copy of it is kept meanwhile
    if "error" in reply:
        raise getattr(errors, reply["error"])(reply["message"], hint=reply["hint"])
    return reply["is"]


def ended(code: int, seconds: int = SECONDS) -> errors.ToolError:
    """Why the process that read a document ended without an answer, by its exit code.

    seconds: of computing that it had.
    """
    name = signal.Signals(-code).name if -code in [*signal.Signals] else f"signal {-code}"
    spent = {
        **dict.fromkeys(_TOO_LONG, f"takes more than {seconds} s of computing"),
        **dict.fromkeys(
            _ABORTED,
            f"made its reader give up ({name}), as it does when {MEMORY} MB of memory are used up",
        ),
        child.NO_MEMORY: f"takes more than {MEMORY} MB of memory",
        child.NO_ROOM: f"holds more than {MOST_SAID >> 20} MB of text",
    }
    if code in spent:
        return errors.TooLarge(f"The document {spent[code]}; it was not read.", hint=_PAGES)
    if code < 0:
        return errors.ReadFailed(
            f"The document made its reader crash ({name}); it was not read.",
            hint="It is damaged, nested too deeply, or made to do this.",
        )
    message = f"The document's reader ended without an answer ({code})."
    return errors.ReadFailed(message, hint="Try again.")


def _launch(module: str) -> Launch:
    own = str(Path(child.__file__).resolve().parents[2])
    path = [entry for entry in sys.path if entry and not is_written(entry)]
    path += [] if own in path else [own]  # last, where it lies in a root: it hides nothing there
    packages = [p for p in path if p.endswith(("site-packages", "dist-packages"))]
    profile = Profile((), readable=(*libraries(), *packages, own, "/proc"))
    argv = [sys.executable, "-I", "-S", "-c", _CODE.replace("MODULE", module), *path]
    limits = Limits(
        memory=MEMORY << 20, cpu_seconds=SECONDS_OF.get(module, SECONDS), file_size=MOST_SAID
    )
    return Launch(argv, _ENV, "/", profile=profile, limits=limits)


@cache
def _readers(module: str) -> Readers:
    """Those of all workspaces: what they start knows nothing of any, and ends soon after use."""
    return Readers(partial(_launch, module))
