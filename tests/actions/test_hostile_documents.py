"""Documents made to exhaust their reader: they are refused, and the host does not notice."""

import base64
import io
import json
import os
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from fsagent_tools import Workspace, errors, toolset
from fsagent_tools.actions.read import MOST_PICTURES
from fsagent_tools.call import CallContext, current
from fsagent_tools.errors import Cancelled, TimedOut
from fsagent_tools.media import apart, child
from fsagent_tools.media.apart import ended
from tests.conftest import PATIENCE, soon
from tests.office import pdf, shown

pytestmark = pytest.mark.full

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("pypdfium2")


@pytest.fixture
def read(root):
    workspace = Workspace(root)
    yield toolset("workspace").bind(workspace)["read"]
    workspace.close()


@pytest.fixture
def patient(monkeypatch):
    """Time is the last thing that a document uses up."""
    monkeypatch.setattr(apart, "SECONDS", PATIENCE)


@pytest.fixture
def runs(monkeypatch):
    """`runs(code)`: the readers of this test run that program."""

    def make(code):
        monkeypatch.setattr(apart, "_CODE", code)
        monkeypatch.setattr(apart, "_readers", cache(apart._readers.__wrapped__))

    return make


def peak():
    """Bytes of memory that this process had at most."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10


BOMBS = {
    "text of 17 MB": lambda: pdf(zlib.compress(shown(1_000_000), 9)),
    "text of 170 MB": lambda: pdf(zlib.compress(shown(10_000_000), 9)),
    "compressed twice": lambda: pdf(
        zlib.compress(zlib.compress(bytes(1 << 29), 9), 9), "/FlateDecode /FlateDecode"
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_pdf_that_swells_is_refused_and_costs_the_host_nothing(read, root, name, patient):
    (root / "a.pdf").write_bytes(BOMBS[name]())
    before = peak()
    out = read.call({"file_path": "a.pdf"})
    assert peak() - before < 60 << 20
    if name == "compressed twice" and out.ok:  # the engine gives it up by itself
        assert out.text == "--- page 1 of 1 ---"
    else:
        assert out.code == "FILE_TOO_LARGE"
        assert "400 MB of memory" in out.text
        assert "it was not read" in out.text


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (-9, "more than 5 s of computing"),
        (3, "more than 400 MB of memory"),
        (4, "more than 16 MB of text"),
        (-6, r"give up \(SIGABRT\), as it does when 400 MB of memory are used up"),
    ],
)
def test_what_a_document_took_too_much_of_is_told(code, told):
    with pytest.raises(errors.TooLarge, match=f"{told}.*; it was not read"):
        raise ended(code)


@pytest.mark.parametrize("code", [-11, -99, 1, 255])
def test_another_end_of_the_reader_is_not_told_as_a_large_document(code):
    assert isinstance(ended(code), errors.ReadFailed)


def test_at_every_level_of_confinement_a_pdf_that_swells_costs_the_host_nothing(level, read, root):
    (root / "a.pdf").write_bytes(BOMBS["text of 17 MB"]())
    before = peak()
    out = read.call({"file_path": "a.pdf"})
    assert peak() - before < 60 << 20
    assert (out.code, "it was not read" in out.text) == ("FILE_TOO_LARGE", True)


def test_pages_for_which_there_is_no_time_are_named(read, root, patient):
    (root / "a.pdf").write_bytes(pdf(zlib.compress(shown(20_000)), pages=3000))
    out = read.call({"file_path": "a.pdf"}, max_bytes=1 << 30)
    assert out.ok, out.text
    last, told = out.text.count("--- page"), out.text.split("\n")[-1]
    assert told == f"(page {last + 1} and the rest took too long: ask for them by `pages`)"
    (page,) = apart.pdf_text((root / "a.pdf").read_bytes(), "2999").pages
    assert page[0] == 2999


def bomb():
    out = io.BytesIO()
    Image.new("RGB", (8900, 8900)).save(out, "PNG")
    return out.getvalue()


def test_a_picture_of_too_many_pixels_is_refused(read, root):
    (root / "a.png").write_bytes(bomb())
    before = peak()
    out = read.call({"file_path": "a.png"})
    assert out.code == "FILE_TOO_LARGE"
    assert "more than 50,000,000 pixels" in out.text
    assert peak() - before < 60 << 20


def test_a_notebook_of_bombs_is_text_without_pictures(read, root):
    drawn = {
        "output_type": "display_data",
        "data": {"image/png": base64.b64encode(bomb()).decode()},
    }
    cell = {"cell_type": "code", "source": "plot()", "outputs": [drawn] * (MOST_PICTURES + 2)}
    (root / "a.ipynb").write_text(json.dumps({"cells": [cell]}))
    out = read.call({"file_path": "a.ipynb"})
    assert out.ok
    assert out.blocks == ()
    assert "plot()" in out.text
    assert "pictures from line" in out.data["note"]


def test_a_notebook_nested_without_end_is_plain_text(read, root):
    (root / "a.ipynb").write_text("[" * 1_000_000)
    assert read.call({"file_path": "a.ipynb"}).ok


def test_a_document_is_given_up_with_its_call_and_at_its_deadline(runs):
    runs("import time; time.sleep(600)")  # it is never done
    data = pdf(zlib.compress(shown(3), 9))
    with pytest.raises(TimedOut):
        apart.pdf_text(data, None, 0.05)
    call = CallContext()
    token = current.set(call)
    threading.Timer(0.05, call.cancelled.set).start()
    try:
        with soon(), pytest.raises(Cancelled):
            apart.pdf_text(data, None)
    finally:
        current.reset(token)


def test_the_reader_of_a_document_sees_no_other_file_and_no_network(tmp_path, runs):
    (tmp_path / "secret").write_text("secret")
    runs(_PROBE)
    told = json.loads(apart.ask("probe", str(tmp_path).encode(), [], apart.PATIENCE))
    if not told["landlock"]:
        pytest.skip("reading is confined by Landlock only")
    assert told["read"] in (2, 13)  # not there, or closed
    assert (told["traced"], told["net"]) == (13, True)
    assert told["write"] in (2, 13, 30)  # no such place in its view, or closed
    assert told["open"] == 4  # output, errors, the answer, and the directory that lists them
    assert os.listdir(tmp_path) == ["secret"]


_PROBE = """
import sys; sys.path[:] = sys.argv[1:]
import json, os, socket
from fsagent_tools.media import child
from fsagent_tools.shell import landlock
def failed(do):
    try:
        do()
    except OSError as error:
        return error.errno
def probe(folder):
    folder = folder.decode()
    return json.dumps({
        "landlock": landlock.version(),
        "read": failed(lambda: open(folder + "/secret")),
        "write": failed(lambda: open(folder + "/new", "w")),
        "net": bool(failed(lambda: socket.create_connection(("127.0.0.1", 9), 1))),
        "traced": failed(lambda: open(f"/proc/{os.getppid()}/mem", "rb")),
        "open": len(os.listdir("/proc/self/fd")),
    })
child.serve({"probe": probe})
"""


def test_a_reader_is_used_again_and_replaced_when_it_has_ended(runs):
    runs(apart._CODE.replace("serve(", f"serve.__globals__['WARM'] = {PATIENCE}; serve("))
    picture = io.BytesIO()
    Image.new("RGB", (2, 2)).save(picture, "PNG")
    readers, bombed, ended = apart._readers(child.__name__), bomb(), None
    for _ in range(3):
        assert apart.read_picture(picture.getvalue())[0].width == 2
        (reader,) = readers._idle
        assert reader is not ended
        with pytest.raises(errors.TooLarge):
            apart.read_picture(bombed)
        assert readers._idle == [reader]  # only who read the bomb has ended
        reader._child.kill()
        assert reader._child.wait_gone(PATIENCE)
        ended = reader


def test_documents_are_read_side_by_side(tmp_path):
    def width(number):
        picture = io.BytesIO()
        Image.new("RGB", (number, 1)).save(picture, "PNG")
        return apart.read_picture(picture.getvalue())[0].width

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(width, range(1, 9))] == [*range(1, 9)]
    assert len(apart._readers(child.__name__)._idle) == 1
