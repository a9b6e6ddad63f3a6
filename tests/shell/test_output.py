"""A stream of any length in bounded memory."""

import os
import threading

import pytest

from fsagent_tools.shell import output
from fsagent_tools.shell.output import CHUNK, Output, Screen


def fed(made, *chunks):
    """An output that has read these, from a pipe."""
    for chunk in chunks:
        for start in range(0, len(chunk), CHUNK):
            read, write = os.pipe()
            threading.Thread(target=sent, args=(write, chunk[start : start + CHUNK])).start()
            while not made.read(read):
                pass
    return made


def sent(fd, data):
    with open(fd, "wb") as file:
        file.write(data)


def text(limit, *chunks):
    return fed(Output(limit), *chunks).so_far(consume=False)[0]


def test_a_stream_within_the_limit_comes_back_whole():
    assert text(10, b"01234", b"56789") == "0123456789"


def test_a_longer_stream_keeps_its_ends_and_counts_the_rest():
    assert (
        text(10, *[b"%d" % (i % 10) for i in range(100)])
        == "01234\n[... 90 of 100 bytes left out ...]\n56789"
    )


@pytest.mark.parametrize("size", [1000, CHUNK, 3 * CHUNK])
def test_the_size_of_the_pieces_changes_nothing(size):
    data = b"".join(b"line %d\n" % i for i in range(20_000))
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    assert text(51_200, *pieces) == text(51_200, data)


def test_a_cut_falls_between_lines():
    shown = text(5000, b"".join(b"line %06d\n" % i for i in range(10_000)))
    head, tail = shown.split("\n[... ")
    assert head.endswith("line 000207")
    assert tail.split("...]\n")[1].startswith("line 0097")


def test_bytes_that_are_no_text_are_replaced():
    assert text(100, b"a\xff\0b") == "a\ufffd\\x00b"


SEQUENCES = {
    b"\x1b[1;31mred\x1b[0m\n": b"red\n",
    b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n": b"alink\n",
    b"\x1bPq" + b"0" * 20_000 + b"\x1b\\after\n": b"after\n",
    b"\x1b(B\x1b\x1b[31mtwice\n": b"twice\n",
    b"a\x1b]no end\nnext\n": b"a\nnext\n",
    b"a\x1b]no end\x1b[1mnext\n": b"anext\n",
    b"a\x1b[3\nb\x1b\xffc\n": b"a\nb\xffc\n",
    b"a" * 9_000 + b"\x1b[": b"a" * 9_000,
    b"\x1b[" + b"1;" * 9_000 + b"mok": b"ok",
    b"\x1b": b"",
}


@pytest.mark.parametrize("size", [1, 2, 7, CHUNK])
@pytest.mark.parametrize(("written", "shown"), SEQUENCES.items())
def test_no_control_sequence_is_shown_however_it_arrives(written, shown, size):
    screen = Screen()
    lines = [screen.add(written[i : i + size]) for i in range(0, len(written), size)]
    assert b"".join(lines) + screen.rest() == shown


@pytest.mark.parametrize("begin", [b"\x1b]0;", b"\x1b["])
def test_a_sequence_without_an_end_is_neither_shown_nor_kept(begin):
    screen = Screen()
    told = screen.add(begin) + b"".join(screen.add(b"0" * CHUNK) for _ in range(50))
    assert (told + screen.rest(), len(screen._begun)) == (b"", 2)


def test_the_file_of_a_stream_that_goes_on_stays(tmp_path, monkeypatch):
    for name, size in (("MOST_KEPT", 100), ("ALL_KEPT", 300)):
        monkeypatch.setattr(output, name, size)

    def long_one():
        made = fed(Output(10, str(tmp_path)), b"x" * 100)
        return made, made.so_far(consume=False)[2]

    quiet, path = long_one()
    for _ in range(5):
        long_one()[0].close()
    assert os.path.exists(path)
    quiet.close()
    for _ in range(5):
        long_one()[0].close()
    assert not os.path.exists(path)
