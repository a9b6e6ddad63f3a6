"""Searches say what they did not search; when asked, they search the text of documents."""

import json

import pytest

from fsagent_tools import MemoryFiles, Tool, Workspace, toolset
from fsagent_tools.types import Entry
from tests import office

pytest.importorskip("kreuzberg")
pytest.importorskip("pypdfium2")

PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R"
    b"/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 44>>stream\nBT /F 12 Tf 20 100 Td (the needle of a) Tj ET \nendstream\n"
    b"endobj\n"
    b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\0"
)
NOTEBOOK = json.dumps(
    {"nbformat": 4, "cells": [{"cell_type": "code", "source": "x\nneedle = 3", "outputs": []}]}
)
FILES = {
    "sub/a.docx": office.docx(office.paragraph("a needle in a document")),
    "sub/a.pdf": PDF,
    "a.ipynb": NOTEBOOK.encode(),
    "b.txt": b"the needle of a text\n",
    "broken.xlsx": b"PK\x03\x04 broken\0",
    "c.bin": b"\0\1\2",
}


@pytest.fixture(params=["local", "memory"])
def workspace(request, root):
    for name, data in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    made = Workspace(root) if request.param == "local" else Workspace(files=MemoryFiles(FILES))
    yield made
    made.close()


@pytest.fixture
def search(workspace):
    return Tool(Entry("grep", show=("path", "include")), workspace).call


def test_documents_are_searched_when_asked_for(search):
    out = search({"pattern": "needle"}, documents=True)
    assert [(row["file"], row["line"], row["content"]) for row in out.data["matches"]] == [
        ("a.ipynb", 3, "needle = 3"),
        ("b.txt", 1, "the needle of a text"),
        ("sub/a.docx", 1, "a needle in a document"),
        ("sub/a.pdf", 2, "the needle of a"),
    ]
    assert "Not searched: broken.xlsx: The document cannot be read" in out.text
    out = search({"pattern": "needle", "include": "*.docx"}, documents=True)
    assert [row["file"] for row in out.data["matches"]] == ["sub/a.docx"]
    out = search({"pattern": "needle", "path": "sub"}, documents=True, max_results=1)
    assert [row["file"] for row in out.data["matches"]] == ["sub/a.docx"]
    assert out.data["truncated"]
    assert search({"pattern": "needle", "path": "b.txt"}, documents=True).data["count"] == 1
    out = search({"pattern": "NEEDLE", "path": "sub/a.pdf"}, documents=True)
    assert "No match in 'sub/a.pdf'." in out.text
    out = search({"pattern": "NEEDLE", "path": "sub/a.pdf"}, documents=True, case_sensitive=False)
    assert out.data["count"] == 1


def test_a_search_that_finds_nothing_names_the_documents_it_did_not_search(search):
    assert "not searched" not in search({"pattern": "text"}).text
    out = search({"pattern": "absent", "path": "sub"})
    assert out.text.startswith("No match in 'sub'. Documents, not searched: sub/a.docx, sub/a.pdf.")
    assert "documents" not in out.text
    assert "not searched" not in search({"pattern": "absent"}, documents=True).text


def test_documents_are_known_by_the_end_of_a_file_name():
    files = {"x.pdf/a.pdf.txt": b"x", "x.pdf/.b.pdf": PDF, "c.pdf.d/LOUD.PDF": PDF}
    search = Tool(Entry("grep"), Workspace(files=MemoryFiles(files))).call
    out = search({"pattern": "absent"})
    assert "Documents, not searched: c.pdf.d/LOUD.PDF." in out.text


def test_a_file_that_is_no_text_is_said_not_to_be_searched(workspace):
    search = toolset("workspace").bind(workspace)["grep"].call
    out = search({"pattern": "needle", "path": "sub/a.pdf"})
    said = "Not searched: sub/a.pdf is a document or picture. read shows it."
    assert out.text.replace("`", "") == said
    assert "c.bin is a binary file" in search({"pattern": "needle", "path": "c.bin"}).text


def test_read_shows_only_the_lines_of_a_document_that_match(workspace):
    read = toolset("workspace").bind(workspace)["read"].call
    out = read({"file_path": "sub/a.pdf"}, pattern="needle")
    assert (out.text, out.data["total_lines"]) == ("     2\tthe needle of a", 2)
    out = read({"file_path": "a.ipynb"}, pattern="needle")
    assert out.text.endswith("] needle = 3")
    assert out.data["total_lines"] == 3


def test_what_the_policy_hides_is_not_searched_in_documents_either(root):
    from fsagent_tools import Policy

    for name, data in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    workspace = Workspace(root, policy=Policy(denied_paths=["sub/**"]))
    out = Tool(Entry("grep"), workspace).call({"pattern": "needle"}, documents=True)
    assert [row["file"] for row in out.data["matches"]] == ["a.ipynb", "b.txt"]
    out = Tool(Entry("grep"), workspace).call({"pattern": "absent"})
    assert "a.pdf" not in out.text
    workspace.close()
