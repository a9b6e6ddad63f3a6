"""Whatever a model sends: its own code, words that name the argument and the way out, no change."""

import json
import re

import pytest

from fsagent_tools import Policy

TEXT = "one\ntwo\nthree\n"
BIG = 10**5000


@pytest.fixture
def files(root):
    (root / "a.txt").write_text(TEXT)
    (root / "sub").mkdir()
    (root / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (root / "nul.txt").write_bytes(b"a\0b\n")
    (root / "big.txt").write_bytes(b"x" * 5000)
    (root / "bad16.txt").write_bytes(b"\xff\xfea\0b")
    return root


def contents(root):
    return {p.name: p.read_bytes() for p in root.iterdir() if p.is_file()}


def refused(out, code, *words):
    assert out.code == code, out.text
    assert len(out.text) < 20_000
    json.dumps(out.to_dict())
    for word in words:
        assert word in out.text, out.text


READS = {
    "a typo in the name": ({"file_path": "b.txt"}, "FILE_NOT_FOUND", "b.txt", "Did you mean"),
    "a directory": ({"file_path": "sub"}, "NOT_A_FILE", "sub", "List it"),
    "an image": ({"file_path": "image.png"}, "BINARY_FILE", "image.png"),
    "NUL bytes": ({"file_path": "nul.txt"}, "BINARY_FILE", "nul.txt"),
    "broken UTF-16": ({"file_path": "bad16.txt"}, "ENCODING_ERROR", "bad16.txt"),
    "too large": ({"file_path": "big.txt"}, "FILE_TOO_LARGE", "big.txt", "max_file_size"),
    "outside": ({"file_path": "../x"}, "PATH_OUTSIDE_WORKSPACE", "../x", "relative"),
    "an empty path": ({"file_path": ""}, "INVALID_PATH", "path"),
    "a NUL in the path": ({"file_path": "a\0.txt"}, "INVALID_PATH", "NUL"),
    "a lone surrogate in the path": ({"file_path": "a\ud800"}, "INVALID_PATH", "surrogate"),
    "a path of 100 kB": ({"file_path": "x" * 100_000}, "INVALID_PATH", "too long"),
    "no path": ({}, "VALIDATION_ERROR", "file_path", "required"),
    "null": ({"file_path": None}, "VALIDATION_ERROR", "file_path"),
    "a number as path": ({"file_path": 5}, "VALIDATION_ERROR", "file_path"),
    "a list as path": ({"file_path": ["a.txt"]}, "VALIDATION_ERROR", "file_path"),
    "an unknown argument": (
        {"file_path": "a.txt", "bogus": 1}, "VALIDATION_ERROR", "bogus", "Allowed"
    ),
    "a key that is no string": ({"file_path": "a.txt", 5: 1}, "VALIDATION_ERROR", "5", "Allowed"),
    "a huge key": ({"file_path": "a.txt", "k" * 10**6: 1}, "VALIDATION_ERROR", "Allowed"),
    "a hidden argument": (
        {"file_path": "a.txt", "max_bytes": 10**9}, "VALIDATION_ERROR", "max_bytes", "Allowed"
    ),
    "offset -1": ({"file_path": "a.txt", "offset": -1}, "VALIDATION_ERROR", "offset"),
    "offset past the end": (
        {"file_path": "a.txt", "offset": 9}, "VALIDATION_ERROR", "offset", "3 lines"
    ),
    "a huge offset": ({"file_path": "a.txt", "offset": 10**30}, "VALIDATION_ERROR", "offset"),
    "an offset too long to print": (
        {"file_path": "a.txt", "offset": BIG}, "VALIDATION_ERROR", "offset"
    ),
    "a negative offset too long to print": (
        {"file_path": "a.txt", "offset": -BIG}, "VALIDATION_ERROR", "offset"
    ),
    "a text as offset": ({"file_path": "a.txt", "offset": "x"}, "VALIDATION_ERROR", "offset"),
    "infinity as offset": (
        {"file_path": "a.txt", "offset": float("inf")}, "VALIDATION_ERROR", "offset"
    ),
    "limit -1": ({"file_path": "a.txt", "limit": -1}, "VALIDATION_ERROR", "limit"),
    "a negative limit": ({"file_path": "a.txt", "limit": -5}, "VALIDATION_ERROR", "limit"),
    "contradicting aliases": (
        {"file_path": "a.txt", "path": "sub"}, "VALIDATION_ERROR", "file_path", "path"
    ),
    "a bare list": ([1], "VALIDATION_ERROR", "JSON object"),
    "nothing": (None, "VALIDATION_ERROR", "JSON object"),
    "bytes": (b"{}", "VALIDATION_ERROR", "JSON object"),
    "an empty text": ("", "VALIDATION_ERROR", "JSON"),
    "broken JSON": ('{"file_path": ', "VALIDATION_ERROR", "JSON"),
    "deep JSON": ("[" * 200_000, "VALIDATION_ERROR", "JSON"),
    "JSON with a number too long": (
        '{"file_path": "a.txt", "offset": ' + "9" * 5000 + "}", "VALIDATION_ERROR", "JSON"
    ),
    "twice the same key": (
        '{"file_path": "a.txt", "file_path": "b"}', "VALIDATION_ERROR", "file_path", "duplicate"
    ),
    "JSON null": ("null", "VALIDATION_ERROR", "JSON object"),
}  # fmt: skip


@pytest.mark.parametrize("name", READS)
def test_a_bad_read_is_refused_with_the_way_out(files, sessions, name):
    arguments, code, *words = READS[name]
    before = contents(files)
    out = sessions(policy=Policy(max_file_size=4096)).tools["read"].call(arguments)
    refused(out, code, *words)
    assert contents(files) == before


X = {"new_content": "x"}
CHANGES = {
    "none": ([], "INVALID_CHANGE", "changes", "at least one"),
    "null": (None, "VALIDATION_ERROR", "changes"),
    "a number": (5, "VALIDATION_ERROR", "changes"),
    "a text that is no JSON": ("edit it", "VALIDATION_ERROR", "changes"),
    "a deep JSON text": ("[" * 100_000, "VALIDATION_ERROR", "changes"),
    "a JSON text with a slip": (
        '[{"line_id": "$1" "new_content": "x"}]', "VALIDATION_ERROR", "changes: not valid JSON"
    ),
    "null in the list": ([None], "VALIDATION_ERROR", "changes.0: should be an object (got None)."),
    "no place": ([X], "VALIDATION_ERROR", "changes.0", "give line_id"),
    "half a range": ([{"start_line_id": "$1", **X}], "VALIDATION_ERROR", "start_line_id"),
    "two places": (
        [{"line_id": "$1", "after_line_id": "$2", **X}], "VALIDATION_ERROR", "line_id"
    ),
    "no new content": ([{"line_id": "$1"}], "VALIDATION_ERROR", "no new_content"),
    "null as content": (
        [{"line_id": "$1", "new_content": None}], "VALIDATION_ERROR", "no new_content"
    ),
    "a number as content": (
        [{"line_id": "$1", "new_content": 5}], "VALIDATION_ERROR", "changes.0.new_content: should"
    ),
    "an unknown key": (
        [{"line_id": "$1", "colour": "x", **X}], "VALIDATION_ERROR", "changes.0.colour"
    ),
    "an unknown ID": ([{"line_id": "ffffff", **X}], "UNKNOWN_LINE_ID", "ffffff", "Available IDs"),
    "a line number": ([{"line_id": "2", **X}], "UNKNOWN_LINE_ID", "'2'", "6 hex digits"),
    "an empty ID": ([{"line_id": "", **X}], "VALIDATION_ERROR", "this change has none"),
    "an ID of 1 MB": ([{"line_id": "f" * 10**6, **X}], "UNKNOWN_LINE_ID", "6 hex digits"),
    "an ID with a NUL": ([{"line_id": "\0", **X}], "UNKNOWN_LINE_ID", "6 hex digits"),
    "a reversed range": (
        [{"start_line_id": "$3", "end_line_id": "$1", **X}], "INVALID_CHANGE", "reversed", "Swap"
    ),
    "the same line twice": (
        [{"line_id": "$1", **X}, {"line_id": "$1", "new_content": "y"}],
        "INVALID_CHANGE", "Changes 1 and 2", "Merge",
    ),
    "overlapping ranges": (
        [
            {"start_line_id": "$1", "end_line_id": "$2", **X},
            {"start_line_id": "$2", "end_line_id": "$3", **X},
        ],
        "INVALID_CHANGE", "Changes 1 and 2", "Merge",
    ),
    "an insertion inside a range": (
        [{"start_line_id": "$1", "end_line_id": "$3", **X}, {"after_line_id": "$2", **X}],
        "INVALID_CHANGE", "Changes 1 and 2",
    ),
    "two insertions at one place": (
        [{"after_line_id": "$1", **X}, {"before_line_id": "$2", **X}], "INVALID_CHANGE", "Merge"
    ),
    "no change": ([{"line_id": "$1", "new_content": "one"}], "INVALID_CHANGE", "changes nothing"),
    "no change in a range": (
        [{"start_line_id": "$1", "end_line_id": "$2", "new_content": ["one", "two"]}],
        "INVALID_CHANGE", "changes nothing",
    ),
    "nothing inserted": (
        [{"after_line_id": "$1", "new_content": ""}], "INVALID_CHANGE", "inserts nothing"
    ),
    "a lone surrogate": (
        [{"line_id": "$1", "new_content": "\ud800"}], "INVALID_CHANGE", "new_content"
    ),
    "a NUL": ([{"line_id": "$1", "new_content": "a\0b"}], "INVALID_CHANGE", "NUL"),
    "prefixes on some lines": (
        [{"line_id": "$1", "new_content": "[LID:$1] x\nbare"}], "INVALID_CHANGE", "line IDs"
    ),
    "elision": (
        [{"start_line_id": "$1", "end_line_id": "$3", "new_content": "x\n# ... existing code ..."}],
        "INVALID_CHANGE", "existing code", "in full",
    ),
    "a repeated neighbour": (
        [{"line_id": "$1", "new_content": "ONE\ntwo"}], "INVALID_CHANGE", "two", "quote"
    ),
    "one bad change among good ones": (
        [{"line_id": "$1", **X}, {"line_id": "ffffff", **X}], "UNKNOWN_LINE_ID", "ffffff"
    ),
    "1001 changes": ([{"line_id": "$1", **X}] * 1001, "VALIDATION_ERROR", "changes", "1000"),
    "100,000 broken changes": ([{"line_id": 1}] * 100_000, "VALIDATION_ERROR", "changes"),
}  # fmt: skip


def filled(value, ids):
    text = json.dumps(value)
    return json.loads(re.sub(r"\$(\d)", lambda match: ids[int(match[1]) - 1], text))


@pytest.mark.parametrize("name", CHANGES)
def test_bad_changes_are_refused_with_the_way_out(files, session, name):
    changes, code, *words = CHANGES[name]
    ids = session.ids()
    before = contents(files)
    arguments = {"file_path": "a.txt", "changes": filled(changes, ids)}
    out = session.tools["edit_lines"].call(arguments)
    refused(out, code, *words)
    assert contents(files) == before
    assert session.ids() == ids
    if code != "VALIDATION_ERROR":
        assert "Nothing was written" in out.text or not changes


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("b.txt", "FILE_NOT_FOUND"),
        ("sub", "NOT_A_FILE"),
        ("image.png", "BINARY_FILE"),
        ("nul.txt", "BINARY_FILE"),
        ("bad16.txt", "ENCODING_ERROR"),
        ("../a.txt", "PATH_OUTSIDE_WORKSPACE"),
        ("a.txt", "NO_LINE_INDEX"),
    ],
)
def test_an_edit_of_what_cannot_be_edited_is_refused(files, session, path, code):
    before = contents(files)
    out = session.edit({"line_id": "abcdef", "new_content": "x"}, path=path)
    refused(out, code, path.removeprefix("../"))
    assert contents(files) == before


def test_an_id_of_another_file_is_refused_with_this_file_s_ids(files, session):
    (files / "c.txt").write_text("other\n")
    foreign, own = session.ids("c.txt")[0], session.ids()[0]
    out = session.edit({"line_id": foreign, "new_content": "x"})
    refused(out, "UNKNOWN_LINE_ID", foreign, own)


def test_an_unread_file_is_refused_with_the_documented_words(files, session):
    out = session.edit({"line_id": "abcdef", "new_content": "x"})
    refused(out, "NO_LINE_INDEX", "Read the file first to generate line IDs")


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        ({"file_path": "a.txt"}, "VALIDATION_ERROR", "content"),
        ({"file_path": "a.txt", "content": None}, "VALIDATION_ERROR", "content"),
        ({"file_path": "a.txt", "content": 5}, "VALIDATION_ERROR", "content"),
        ({"file_path": "a.txt", "content": ["x"]}, "VALIDATION_ERROR", "content"),
        ({"file_path": "a.txt", "content": "\udc00"}, "ENCODING_ERROR", "content"),
        ({"file_path": "sub", "content": "x"}, "NOT_A_FILE", "sub"),
        ({"file_path": "a.txt/b", "content": "x"}, "NOT_A_DIRECTORY", "a.txt is a file"),
        ({"file_path": "new/", "content": "x"}, "NOT_A_FILE", "new"),
    ],
)
def test_a_bad_write_is_refused_with_the_way_out(files, session, arguments, code, word):
    before = contents(files)
    refused(session.tools["write"].call(arguments), code, word)
    assert contents(files) == before


def test_a_refusal_stays_short_however_long_the_lines_are(root, session):
    (root / "a.txt").write_text("".join("y" * 1999 + f"{n}\n" for n in range(50)))
    ids = session.ids(limit=20) + session.ids(offset=25, limit=20)
    range_ = {"start_line_id": ids[0], "end_line_id": ids[-1], "new_content": "x"}
    for change in ({"line_id": "ffffff", "new_content": "x"}, range_):
        out = session.edit(change)
        assert not out.ok
        assert len(out.text) < 20_000


def test_ids_that_a_refusal_shows_are_counted(root, session):
    (root / "a.txt").write_text("one\n")
    (first,) = session.ids()
    (root / "a.txt").write_text("two\nthree\n")
    out = session.edit({"line_id": first, "new_content": "x"})
    assert "Available IDs (2 in all), lines 1 to 2 of 2:" in out.text


def test_a_thousand_echoes_stay_short(root, session):
    (root / "a.txt").write_text("".join(f"line number {n}\n" for n in range(2000)))
    ids = session.ids()
    changes = [
        {"line_id": ids[n], "new_content": f"new\nline number {n + 1}"}
        for n in range(0, len(ids) - 1, 2)
    ]
    out = session.edit(*changes)
    refused(out, "INVALID_CHANGE")


def test_an_id_sent_as_a_number_is_understood(root, session):
    from fsagent_tools.lines.ids import IdSet, mint

    number = next(n for n in range(10**6) if mint(1, [str(n).encode()], IdSet()).isdecimal())
    (root / "a.txt").write_text(f"{number}\n")
    line_id = session.ids()[0]
    if not line_id.startswith("0"):
        assert session.edit({"line_id": int(line_id), "new_content": "x"}).ok
