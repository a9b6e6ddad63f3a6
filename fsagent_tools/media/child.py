"""The process that reads documents: it imports what that takes once, and forks for each of them.

On its standard input, a socket, comes [name of a function, its further arguments] as JSON, with two
descriptors: the document, and a file for the answer. It tells the exit code of the process that it
forked; that one has the two files, and no way to this one or to the next document.
"""

import _socket
import ctypes
import errno
import json
import os
import select
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from typing import Any, NoReturn

from fsagent_tools.errors import ToolError
from fsagent_tools.media import image, office, pdf

WARM = 10.0  # seconds without a document after which it ends
_LONGEST = 1 << 15  # bytes of a question
_MOST = 100  # documents: its own computing is limited as well
_Function = Callable[..., Any]
_FUNCTIONS: Mapping[str, _Function] = {
    "pages": pdf.pages,
    "page_pictures": pdf.page_pictures,
    "picture": image.prepare_parts,
    "drawings": image.drawings,
    "office": office.markdown,
}
NO_MEMORY, NO_ROOM = 3, 4  # exit codes: the document takes more than there is, its text more
_REASON = 200  # characters of what a library says that are told
_DUMPABLE = 4


def serve(functions: Mapping[str, _Function]) -> None:
    """Until nobody asks for `WARM` seconds."""
    sock = _socket.socket(fileno=0)
    ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)  # no process of the same user may trace it
    for _ in range(_MOST):
        if not select.select([0], (), (), WARM)[0]:
            return
        asked, ancillary, _, _ = sock.recvmsg(_LONGEST, _socket.CMSG_SPACE(8))
        if not asked:
            return
        name, arguments = json.loads(asked)
        files = struct.unpack("2i", ancillary[0][2])
        with suppress(ImportError):  # where one is missing, the function says so
            if name in ("pages", "page_pictures"):
                import pypdfium2  # noqa: F401
            if name in ("picture", "page_pictures", "drawings"):
                from PIL import ImageOps, JpegImagePlugin, PngImagePlugin  # noqa: F401
        child = os.fork()
        if child == 0:
            sock.close()
            _answer(functions[name], arguments, *files)
        for fd in files:
            os.close(fd)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sock.send(json.dumps(code).encode())


def _answer(function: _Function, arguments: Sequence[Any], document: int, answer: int) -> NoReturn:
    """Answer {is}, or {error, message, hint} for a refusal."""
    try:
        with open(document, "rb") as file:
            data = file.read()
        result = _result(function, data, arguments)
        with open(answer, "w", encoding="utf-8") as out:
            json.dump(result, out, default=_plain)
        os._exit(0)
    except MemoryError:
        os._exit(NO_MEMORY)
    except OSError as error:
        os._exit(NO_ROOM if error.errno == errno.EFBIG else 1)
    finally:
        os._exit(1)


def _result(function: _Function, data: bytes, arguments: Sequence[Any]) -> dict[str, Any]:
    try:
        return {"is": function(data, *arguments)}
    except ToolError as error:
        return {"error": type(error).__name__, "message": error.message, "hint": error.hint}
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  whatever a document makes of a library
        reason = f"{type(error).__name__}: {error}".rstrip(" .:")[:_REASON]
        return {
            "error": "ReadFailed",
            "message": f"The document cannot be read: {reason}.",
            "hint": "",
        }


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)
