"""What is no plain text: images, PDF, notebooks; and the lines of a text that match."""

import base64
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import fsagent_tools
from fsagent_tools import Tool, Workspace, toolset
from fsagent_tools.actions.read import MOST_PICTURES
from fsagent_tools.media import apart
from fsagent_tools.types import Entry
from fsagent_tools_langchain.tools import adapt
from fsagent_tools_llamaindex import FsAgentTool

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("pypdfium2")


def picture(size=(40, 20), kind="PNG"):
    out = io.BytesIO()
    Image.new("RGB", size, "red").save(out, kind)
    return out.getvalue()


def pdf_of(*pages):
    """A PDF whose pages hold a text, or a picture where there is None."""
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
    ]
    font = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
    for number, text in enumerate(pages):
        stream = f"BT /F1 24 Tf 20 100 Td ({text}) Tj ET"
        if text is None:
            image = "BI /W 1 /H 1 /CS /RGB /BPC 8 /F /AHx ID FF0000> EI"
            stream = f"q 200 0 0 200 0 0 cm {image} Q"
        objects += [
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] "
            f"/Contents {4 + 2 * number} 0 R /Resources << {font} >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    body, offsets = "%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    return (
        f"{body}xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    ).encode()


@pytest.fixture
def read_tool(root):
    workspace = Workspace(root)
    yield Tool(Entry("read", show=("offset", "limit")), workspace)
    workspace.close()


def test_an_image_comes_as_a_block_with_its_type_and_size(read_tool, root):
    (root / "a.png").write_bytes(picture())
    out = read_tool.call({"path": "a.png"})
    assert out.ok, out.text
    assert "a.png: image/png, 40 x 20 pixels" in out.text
    (block,) = out.blocks
    assert base64.b64decode(block.data) == picture()
    assert out.data["image_data"] == block.data


def test_a_large_image_is_scaled(read_tool, root):
    (root / "a.jpg").write_bytes(picture((3000, 1000), "JPEG"))
    out = read_tool.call({"path": "a.jpg"})
    assert "3000 x 1000 pixels, shown at 1568 at most" in out.text
    (block,) = out.blocks
    assert Image.open(io.BytesIO(base64.b64decode(block.data))).size[0] == 1568


def test_the_compact_read_has_the_image_in_its_metadata(root):
    (root / "a.png").write_bytes(picture())
    out = toolset("compact").bind(Workspace(root))["Read"].call({"file_path": "a.png"})
    told = out.to_dict()
    assert told["metadata"]["image_data"] == out.blocks[0].data
    assert told["metadata"]["path"] == str(root / "a.png")
    json.dumps(told)


def test_the_text_of_a_pdf_comes_page_by_page(read_tool, root):
    (root / "a.pdf").write_bytes(pdf_of("first page here", "second page here", "third page here"))
    out = read_tool.call({"path": "a.pdf"})
    assert out.text.split("\n")[:2] == ["--- page 1 of 3 ---", "first page here"]
    out = read_tool.call({"path": "a.pdf"}, pages="2-3")
    assert "first" not in out.text
    assert "third page here" in out.text
    assert read_tool.call({"path": "a.pdf"}, pages=2).text.startswith("--- page 2 of 3 ---")
    out = read_tool.call({"path": "a.pdf"}, pages="7")
    assert out.code == "VALIDATION_ERROR"
    assert "pages" in out.text
    out = read_tool.call({"path": "a.pdf", "offset": 3, "limit": 2})
    assert out.text.startswith("--- page 2 of 3 ---\nsecond page here\n(lines 3-4 of 6; continue")


def test_the_next_window_of_a_document_needs_no_second_reading(read_tool, root, monkeypatch):
    (root / "a.pdf").write_bytes(pdf_of("a page", "another page", "the last page"))
    first = read_tool.call({"path": "a.pdf", "limit": 2})
    asked = []
    monkeypatch.setattr(apart, "ask", lambda *question, **_: asked.append(question))
    rest = read_tool.call({"path": "a.pdf", "offset": 3})
    assert first.text.startswith("--- page 1 of 3 ---\na page")
    assert rest.text.startswith("--- page 2 of 3 ---\nanother page")
    assert asked == []
    (root / "a.pdf").write_bytes(pdf_of("changed"))
    monkeypatch.undo()
    assert "changed" in read_tool.call({"path": "a.pdf"}).text


def test_scanned_pages_come_as_pictures_a_few_at_a_time(read_tool, root):
    (root / "a.pdf").write_bytes(pdf_of("a page with text", *[None] * (MOST_PICTURES + 1)))
    out = read_tool.call({"path": "a.pdf"})
    assert len(out.blocks) == MOST_PICTURES
    assert out.data["truncated"]
    (rest,) = read_tool.call({"path": "a.pdf", "offset": out.data["line_count"] + 1}).blocks
    assert rest.mime_type.startswith("image/")


@pytest.mark.parametrize("name", ["a.png", "scan.pdf"])
def test_both_adapters_pass_the_picture_on(name, root):
    (root / name).write_bytes(picture() if name == "a.png" else pdf_of(None))
    tool = toolset("compact").bind(Workspace(root))["Read"]
    call = {"type": "tool_call", "id": "1", "name": "Read", "args": {"file_path": name}}
    text, image = adapt(tool).invoke(call).content
    assert (text["type"], image["type"]) == ("text", "image")
    assert base64.b64decode(image["base64"]).startswith((b"\x89PNG", b"\xff\xd8"))
    output = FsAgentTool(tool).call(file_path=name)
    assert [block.block_type for block in output.blocks] == ["text", "image"]


NOTEBOOK = {
    "nbformat": 4,
    "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "stream", "name": "stdout", "text": "x" * 9000},
                {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []},
                {
                    "output_type": "display_data",
                    "data": {"image/png": base64.b64encode(picture()).decode()},
                },
                {"output_type": "display_data", "data": {"image/png": "AAAA"}},
                {"output_type": "execute_result", "data": {"text/plain": "3"}},
            ],
        },
    ],
}


def test_a_notebook_comes_as_numbered_cells_with_capped_outputs(read_tool, root):
    (root / "a.ipynb").write_text(json.dumps(NOTEBOOK))
    out = read_tool.call({"path": "a.ipynb"})
    lines = [line.partition("] ")[2] for line in out.text.split("\n")]
    assert lines[:3] == ["--- cell 1 of 2: markdown ---", "# Title", "text"]
    assert "--- cell 2 of 2: code ---" in lines
    assert "ValueError: no" in lines
    assert lines[-1] == "3"
    assert "7,500 more characters" in out.text
    assert len(out.blocks) == 1


def test_a_cell_tells_when_it_ran_and_how_it_failed(read_tool, root):
    trace = [
        "\x1b[0;31mValueError\x1b[0m: no",
        *(f"frame {n}" for n in range(500)),
        "ValueError: no",
    ]
    failed = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": trace}
    ran = {"cell_type": "code", "execution_count": 7, "source": "f()", "outputs": [failed]}
    new = {"cell_type": "code", "execution_count": None, "source": "g()", "outputs": []}
    (root / "a.ipynb").write_text(json.dumps({"nbformat": 4, "cells": [ran, new]}))
    text = read_tool.call({"path": "a.ipynb"}, marks="none").text
    assert "--- cell 1 of 2: code [7] ---" in text
    assert "--- cell 2 of 2: code ---" in text
    assert "characters of the traceback left out]" in text
    assert "frame 499\nValueError: no\n" in text
    failed["traceback"] = trace[:2]
    (root / "a.ipynb").write_text(json.dumps({"nbformat": 4, "cells": [ran, new]}))
    assert (
        "output:\nValueError: no\nframe 0\n"
        in read_tool.call({"path": "a.ipynb"}, marks="none").text
    )


@pytest.mark.parametrize("text", ["{}", "[1]", "not json", '{"cells": [{}]}', '{"cells": 3}'])
def test_a_broken_notebook_is_read_as_text(text, read_tool, root):
    (root / "a.ipynb").write_text(text)
    assert text in read_tool.call({"path": "a.ipynb"}).text


def test_a_notebook_that_was_read_may_be_edited(root):
    (root / "a.ipynb").write_text(json.dumps(NOTEBOOK, indent=1))
    tools = toolset("compact").bind(Workspace(root))
    change = {"file_path": "a.ipynb", "old_string": "print(1)", "new_string": "print(2)"}
    assert tools["Edit"].call(change).code == "FILE_NOT_READ"
    assert tools["Read"].call({"file_path": "a.ipynb"}).ok
    assert tools["Edit"].call(change).ok
    assert json.loads((root / "a.ipynb").read_text())["cells"][1]["source"] == "print(2)"


@pytest.mark.parametrize("name", ["a.png", "a.pdf"])
def test_more_than_the_limit_is_not_opened(name, read_tool, root):
    data = {"a.png": picture(), "a.pdf": pdf_of("text")}[name]
    (root / name).write_bytes(data)
    out = read_tool.call({"path": name}, max_binary_size=10)
    assert out.code == "FILE_TOO_LARGE"
    assert "at most 10 are opened" in out.text


@pytest.mark.parametrize(
    ("name", "module"), [("a.png", "PIL"), ("a.pdf", "pypdfium2")], ids=["image", "pdf"]
)
def test_without_the_extra_the_refusal_names_it(
    name, module, read_tool, root, monkeypatch, tmp_path
):
    (root / name).write_bytes(picture() if name == "a.png" else pdf_of("text"))
    absent = tmp_path / "site-packages" / module
    absent.mkdir(parents=True)
    (absent / "__init__.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(absent.parent)
    out = read_tool.call({"path": name})
    assert out.code == "MISSING_DEPENDENCY"
    assert "fsagent-tools[media]" in out.text


@pytest.mark.parametrize("name", ["a.png", "a.pdf", "a.zip"])
def test_a_broken_binary_is_refused_by_name_and_type(name, read_tool, root):
    heads = {"a.png": b"\x89PNG\r\n\x1a\n\0\0", "a.pdf": b"%PDF-1.4\n\0", "a.zip": b"PK\x03\x04\0"}
    (root / name).write_bytes(heads[name])
    out = read_tool.call({"path": name})
    assert out.code in ("BINARY_FILE", "FILE_READ_ERROR")
    assert name in out.text
    assert read_tool.call({"path": name}).text == out.text


def test_only_matching_lines_with_their_ids(session, root):
    (root / "a.py").write_text("import os\n\ndef f():\n    pass\n\ndef g():\n    pass\n")
    out = session.read("a.py", offset=1)
    ids = session.ids("a.py")
    out = session.tools["read"].call({"file_path": "a.py"}, pattern=r"^def")
    assert out.text == f"[LID:{ids[2]}] def f():\n[LID:{ids[5]}] def g():"
    assert (out.data["line_count"], out.data["total_lines"]) == (2, 7)
    out = session.tools["read"].call({"file_path": "a.py"}, pattern=r"^def", marks="numbers")
    assert out.text == "     3\tdef f():\n     6\tdef g():"
    out = session.tools["read"].call({"file_path": "a.py", "limit": 1}, pattern="def|pass")
    assert "continue with offset=4" in out.text
    out = session.tools["read"].call({"file_path": "a.py", "offset": 4}, pattern="def")
    assert out.text == f"[LID:{ids[5]}] def g():"
    out = session.tools["read"].call({"file_path": "a.py"}, pattern="nowhere")
    assert out.ok
    assert "no line matches" in out.text
    out = session.tools["read"].call({"file_path": "a.py"}, pattern="(")
    assert out.code == "INVALID_REGEX"


def test_lines_that_match_go_on_where_an_answer_ended(session, root):
    (root / "a.txt").write_text("".join(f"hit {n} {'x' * 1500}\n" for n in range(100)))
    out = session.tools["read"].call({"file_path": "a.txt", "offset": 91}, pattern="hit")
    assert [f"hit {n} " in out.text for n in (89, 90, 99)] == [False, True, True]


def test_documents_are_read_where_our_own_package_lies_in_a_root(tmp_path):
    """As in a checkout that is installed in place and is the project, too."""
    place = Path(fsagent_tools.__file__).parents[1]
    script = (
        "import sys; from pathlib import Path; from fsagent_tools import Workspace, toolset\n"
        "here, file = map(Path, sys.argv[1:])\n"
        "toolset('workspace').bind(Workspace(here, history=False))['ls'].call({})\n"
        "read = toolset('workspace').bind(Workspace(file.parent, history=False))['read']\n"
        "print(read.call({'file_path': file.name}).ok)"
    )
    (tmp_path / "a.png").write_bytes(picture())
    done = subprocess.run(
        [sys.executable, "-c", script, place, tmp_path / "a.png"],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if not line.startswith("sys.path has")]
    assert (done.stdout, said) == ("True\n", [])
