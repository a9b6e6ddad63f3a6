"""The parts of a packed document, some of them rewritten for who reads it."""

import io
from collections.abc import Callable

_MOST = 64 << 20  # bytes of all parts, unpacked, up to which they are looked at


def rewritten(
    data: bytes, concerns: Callable[[str], bool], rewrite: Callable[[bytes], bytes]
) -> bytes:
    """`data` with what `rewrite` makes of each part whose name `concerns` it. Unchanged where that
    changes nothing, and where it is damaged or very large.
    """
    from zipfile import ZipFile

    try:
        with ZipFile(io.BytesIO(data)) as archive:
            if sum(part.file_size for part in archive.infolist()) > _MOST:
                return data
            parts = {part.filename: archive.read(part) for part in archive.infolist()}
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  whatever damage makes of this reader
        return data
    changed = {name: rewrite(part) if concerns(name) else part for name, part in parts.items()}
    if changed == parts:
        return data
    out = io.BytesIO()
    with ZipFile(out, "w") as archive:
        for name, part in changed.items():
            archive.writestr(name, part)
    return out.getvalue()
