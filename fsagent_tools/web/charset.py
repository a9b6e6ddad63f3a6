"""The bytes of a web page as text, whatever it says or fails to say about its encoding."""

import codecs
import re

from fsagent_tools.encoding import BOMS, detect, is_utf8

# Where a page declares its encoding: `<meta charset=...>`, `<?xml encoding=...?>`.
DECLARED = re.compile(
    rb"""<(?:meta\b[^<>]{0,300}?\bcharset|\?xml\b[^<>]{0,100}?\bencoding)\s*=\s*["']?([\w.:+-]{2,40})""",
    re.IGNORECASE,
)
SCANNED = 4096  # bytes from the start in which a declaration counts
LATIN1 = {"iso8859-1", "ascii", "cp1252"}
SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"}
STATEFUL = re.compile(rb"[\x00\x1b]")  # UTF-16 and ISO-2022 text is also valid UTF-8
DAMAGED = 0.02  # share of broken characters up to which a text still counts as UTF-8


def decode_page(raw: bytes, header: str = "") -> str:
    """By mark, as UTF-8, by the header's charset, by the page's own, by statistics.

    `header` is the Content-Type. Latin-1 in a header is a server's default more often than a fact,
    so it counts last, and means Windows-1252 as it does in browsers (WHATWG Encoding, 4.2).
    """
    for mark, name in BOMS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(name, "replace")
    labels = [label for label in (_of_header(header), _of_page(raw)) if label]
    exact = [label for label in labels if label not in LATIN1]
    if STATEFUL.search(raw[:SCANNED]) and (text := _first(raw, exact)) is not None:
        return text
    if is_utf8(raw):
        return raw.decode()
    text = _first(raw, exact)
    if text is None:
        text = _damaged_utf8(raw)
    if text is not None:
        return text
    guess = "cp1252" if set(labels) & LATIN1 and _western(raw) else detect(raw)
    return raw.decode("cp1252" if guess in LATIN1 else guess, "replace")


def _of_header(content_type: str) -> str:
    found = re.search(r"charset\s*=\s*[\"']?([\w.:+-]{2,40})", content_type, re.IGNORECASE)
    return _known(found[1]) if found else ""


def _of_page(raw: bytes) -> str:
    found = DECLARED.search(raw[:SCANNED])
    label = _known(found[1].decode("ascii", "replace")) if found else ""
    # What could be read as ASCII up to here is not UTF-16, whatever it says (HTML, 13.2.3.3).
    return "" if label.startswith(("utf-16", "utf-32")) else label


def _known(label: str) -> str:
    """The codec for a label, "" for one that is unknown or no charset of the web."""
    try:
        info = codecs.lookup(label)
        "".encode(info.name)
    except (LookupError, ValueError):
        return ""
    return "" if info.name == "utf-7" else SUPERSETS.get(info.name, info.name)


def _first(raw: bytes, labels: list[str]) -> str | None:
    for label in labels:
        try:
            return raw.decode(label)
        except UnicodeError:
            continue
    return None


def _damaged_utf8(raw: bytes) -> str | None:
    """UTF-8 with a few broken bytes, as a cut or patched page has; None when it is not."""
    text = raw.decode("utf-8", "replace")
    wide = len(raw) - len(raw.translate(None, bytes(range(0x80, 0x100))))
    return text if text.count("\ufffd") <= DAMAGED * wide else None


def _western(raw: bytes) -> bool:
    """Accents among mostly plain letters; text in another script is mostly high bytes."""
    letters = sum(map(raw.count, b"aeiourstn"))
    high = len(raw) - len(raw.translate(None, bytes(range(0x80, 0x100))))
    return high <= letters
