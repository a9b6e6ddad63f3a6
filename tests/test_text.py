"""Bytes to text and back: whatever a file holds, nothing but the edited line changes."""

import codecs
from contextlib import suppress

import pytest

from fsagent_tools import errors
from fsagent_tools.encoding import decode
from fsagent_tools.lines.source import Window, text_of
from fsagent_tools.text import clip, newline_of

WORDS = "grün süß Straße\nzweite Zeile\n"
CYRILLIC = "Привет, мир! Это обычный русский текст, чтобы кодировка угадывалась.\n" * 5
BOMS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@pytest.mark.parametrize("encoding", BOMS)
def test_a_mark_decides_the_encoding_and_comes_back(encoding):
    raw = BOMS[encoding] + WORDS.encode(encoding)
    decoded = decode(raw, "a")
    assert decoded.utf8.decode() == WORDS
    assert (decoded.encoding, decoded.bom, decoded.exact) == (encoding, BOMS[encoding], True)
    assert decoded.bom + decoded.encode(decoded.utf8) == raw


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "koi8-r", "shift_jis"])
def test_a_given_encoding_is_used(encoding):
    text = "abc Привет\n" if encoding == "koi8-r" else "abc\nテスト\n"
    text = WORDS if encoding in ("utf-8", "latin-1", "cp1252") else text
    decoded = decode(text.encode(encoding), "a", encoding)
    assert decoded.utf8.decode() == text
    assert decoded.encode(decoded.utf8) == text.encode(encoding)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp1251", "koi8-r", "shift_jis", "gbk"])
def test_an_unmarked_text_of_any_encoding_is_read_and_can_be_written_back(encoding):
    text = {"shift_jis": "これは日本語の文章です。\n" * 20, "gbk": "这是一个中文的句子。\n" * 20}
    sample = text.get(encoding, CYRILLIC if encoding in ("cp1251", "koi8-r") else WORDS * 5)
    raw = sample.encode(encoding)
    decoded = decode(raw, "a")
    assert decoded.exact
    assert decoded.encode(decoded.utf8) == raw


@pytest.mark.parametrize(
    ("encoding", "line"),
    [
        ("cp1252", "# Müller, Köln"),
        ("cp1252", "25 °C"),
        ("cp1252", "© 2020 Example Inc."),
        ("cp1252", "l'élève a déjà payé, où est la clé ?"),
        ("cp1252", "São Paulo não é a capital"),
        ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy"),
        ("cp1251", "# Автор: Иван Петров"),
        ("koi8-r", "Ошибка: файл не найден"),
        ("cp1253", "Καλημέρα κόσμε"),
        ("cp1254", "Türkçe açıklama satırı"),
        ("cp1255", "שלום עולם"),
        ("shift_jis", "// 配列を初期化する"),
        ("euc_jp", "# 設定ファイル"),
        ("gbk", "错误：找不到文件"),
        ("big5", "錯誤：找不到檔案"),
        ("euc_kr", "오류가 발생했습니다"),
    ],
)
def test_one_line_tells_the_encoding(encoding, line):
    raw = b"plain = 1\n" * 9 + line.encode(encoding) + b"\nplain = 2\n"
    decoded = decode(raw, "a")
    assert decoded.utf8.decode().splitlines()[9] == line
    assert decoded.encode(line.encode()) == line.encode(encoding)


@pytest.mark.parametrize("place", [0, 70_000, 200_000])
def test_one_odd_byte_anywhere_does_not_make_a_text_unreadable(place):
    raw = bytearray(b"plain ascii text, line by line\n" * 8000)
    raw[place] = 0xE9
    decoded = decode(bytes(raw), "a")
    assert decoded.encode(decoded.utf8) == bytes(raw)


def test_every_byte_but_nul_is_read_and_round_trips():
    raw = bytes(range(1, 256)) * 3
    decoded = decode(raw, "a")
    assert decoded.encode(decoded.utf8) == raw


@pytest.mark.parametrize(
    "raw",
    [
        b"a\0b",
        b"%PDF-1.4",
        b"\x89PNG\r\n",
        b"\x7fELF",
        b"PK\x03\x04",
        b"\0" * 9000,
        b"some text\1\0\2",
    ],
)
def test_what_is_no_text_is_called_binary(raw):
    with pytest.raises(errors.BinaryFile, match="a is a binary file"):
        decode(raw, "a")


@pytest.mark.parametrize(
    "encoding", ["nope", "rot13", "base64", "undefined", "", "a\0b", "x" * 999]
)
def test_an_unknown_encoding_is_refused(encoding):
    if not encoding:
        return
    with pytest.raises(errors.EncodingError, match="`encoding`: "):
        decode(b"x", "a", encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "utf-16", "shift_jis"])
def test_an_encoding_that_does_not_fit_is_refused(encoding):
    with pytest.raises(errors.EncodingError, match="not valid"):
        decode(b"\xff\xfe\xfd"[1:] + b"\x81", "a", encoding)


@pytest.mark.parametrize("encoding", ["unicode_escape", "raw_unicode_escape", "utf-7", "idna"])
def test_odd_codecs_are_read_or_refused_but_never_crash(encoding):
    for raw in (b"\\ud800", b"abc\\", b"+2AA-", b"a..b", b"xn--a"):
        with suppress(errors.EncodingError):
            decode(raw, "a", encoding)


def test_what_cannot_be_written_back_is_marked():
    raw = codecs.BOM_UTF16_LE + "a".encode("utf-16-le") + b"\x00\xd8"
    with pytest.raises(errors.EncodingError):
        decode(raw, "a")
    assert not decode(b"+AGE-", "a", "utf-7").exact


def test_a_character_that_the_encoding_lacks_is_named():
    with pytest.raises(errors.EncodingError, match="iso8859-1, which cannot hold '€'"):
        decode(b"\xe9", "a", "latin-1").encode("€".encode())


@pytest.mark.parametrize(
    ("text", "newline"),
    [(b"", b"\n"), (b"a", b"\n"), (b"a\n", b"\n"), (b"a\r\n", b"\n"), (b"a\rb", b"\r"),
     (b"a\rb\n", b"\n"), ("a\u2028b\fc\vd".encode(), b"\n")],
)  # fmt: skip
def test_the_newline_of_a_text(text, newline):
    assert newline_of(text) == newline


def test_a_clipped_line_says_what_is_hidden():
    assert clip("abc", 3) == "abc"
    assert clip("abcd" * 1000, 3) == "abc… [3,997 more characters]"


FILES = {
    "utf-8": "grün\nzwei\ndrei\n".encode(),
    "a mark": codecs.BOM_UTF8 + "grün\nzwei\ndrei\n".encode(),
    "utf-16": codecs.BOM_UTF16_LE + "grün\nzwei\ndrei\n".encode("utf-16-le"),
    "utf-16 big": codecs.BOM_UTF16_BE + "grün\r\nzwei\r\ndrei".encode("utf-16-be"),
    "utf-32": codecs.BOM_UTF32_LE + "grün\nzwei\ndrei\n".encode("utf-32-le"),
    "latin-1": "grün\nzwei\ndrei\n".encode("latin-1"),
    "crlf": b"eins\r\nzwei\r\ndrei\r\n",
    "mixed": b"eins\r\nzwei\ndrei\r\nvier\n",
    "mixed the other way": b"eins\nzwei\r\ndrei\n",
    "cr": b"eins\rzwei\rdrei\r",
    "no final newline": b"eins\nzwei\ndrei",
    "crlf, no final newline": b"eins\r\nzwei\r\ndrei",
    "odd characters": "eins\u2028a\f\nzwei\ndrei\v\x85\n".encode(),
    "a lone cr": b"eins\rx\nzwei\ndrei\n",
    "blank lines": b"\n\nzwei\n\n\n",
}


@pytest.mark.parametrize("name", FILES)
def test_an_edit_changes_the_named_line_and_no_other_byte(root, session, name):
    raw = FILES[name]
    (root / "a.txt").write_bytes(raw)
    lines = session.read().text.split("[LID:")
    line_id = next(line[:6] for line in lines if line[8:].startswith("zwei"))
    assert session.edit({"line_id": line_id, "new_content": "ZWEI"}).ok
    encodings = {"utf-16": "utf-16-le", "utf-16 big": "utf-16-be", "utf-32": "utf-32-le"}
    codec = encodings.get(name, "ascii")
    expected = raw.replace("zwei".encode(codec), "ZWEI".encode(codec))
    assert (root / "a.txt").read_bytes() == expected


def test_a_character_the_file_cannot_hold_is_refused(root, session):
    raw = ("müde größe ärger\n" * 5).encode("latin-1")
    (root / "a.txt").write_bytes(raw)
    out = session.edit({"line_id": session.ids()[0], "new_content": "中"})
    assert out.code == "ENCODING_ERROR"
    assert (root / "a.txt").read_bytes() == raw


@pytest.mark.parametrize(("raw", "added"), [
    (b"a\r\nb\r\n", b"a\r\nb\r\nc\r\n"), (b"a\nb", b"a\nb\nc"), (b"a\r\nb", b"a\r\nb\r\nc"),
    (b"a\rb\r", b"a\rb\rc\r"), (b"b", b"b\nc"), (b"b\r\n", b"b\r\nc\r\n"),
    (b"a\nb\r\n", b"a\nb\r\nc\r\n"),
])  # fmt: skip
def test_an_appended_line_ends_like_the_one_above(root, session, raw, added):
    (root / "a.txt").write_bytes(raw)
    assert session.edit({"after_line_id": session.ids()[-1], "new_content": "c\n"}).ok
    assert (root / "a.txt").read_bytes() == added


def test_a_line_feed_inside_a_line_makes_no_second_one():
    assert text_of([b"x\ny", b"z"]) == ["x\ny", "z"]
    assert text_of([]) == []
    assert Window(0, 2, b"x\ny\rz", b"\r").text == b"x\ry\nz"
