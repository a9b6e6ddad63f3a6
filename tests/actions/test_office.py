"""Office documents and books as Markdown, hostile ones refused; what other files are."""

import gzip
import io
import sqlite3
import tarfile

import pytest

from fsagent_tools import Workspace, toolset
from tests import office

pytestmark = pytest.mark.full

pytest.importorskip("kreuzberg")

PRICES = [("Item", "Count", "Price"), ("Apple", "3", "1.50"), ("Pear", "12", "0.70")]
WRITTEN = (
    "| Item | Count | Price |\n| --- | --- | --- |\n| Apple | 3 | 1.50 |\n| Pear | 12 | 0.70 |"
)
DOCUMENTS = {
    "a.docx": office.docx(office.paragraph("Prices &amp; more &lt; less") + office.table(*PRICES)),
    "a.xlsx": office.xlsx(office.cells(*PRICES)),
    "a.pptx": office.pptx("First slide", "Second slide"),
    "a.odt": office.odt(
        '<text:h text:outline-level="2">Head</text:h><text:p>Some words</text:p>'
        "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
    ),
    "a.epub": office.epub("<h1>First</h1><p>Begin.</p>", "<h1>Second</h1><p>An <b>end</b>.</p>"),
}
TOLD = {
    "a.docx": f"Prices & more < less\n\n{WRITTEN}",
    "a.xlsx": f"## Prices\n\n{WRITTEN}",
    "a.pptx": "## First slide\n\n## Second slide",
    "a.odt": "## Head\n\nSome words\n\n- one",
    "a.epub": "# First\n\nBegin.\n\n# Second\n\nAn **end**.",
}


@pytest.fixture
def tools(root):
    workspace = Workspace(root)
    yield toolset("workspace").bind(workspace)
    workspace.close()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_read_as_markdown(name, tools, root):
    (root / name).write_bytes(DOCUMENTS[name])
    out = tools["read"].call({"file_path": name})
    assert out.ok, out.text
    assert out.text == TOLD[name]
    out = tools["read"].call({"file_path": name, "offset": 3, "limit": 1})
    assert out.text.split("\n")[0] == TOLD[name].split("\n")[2]


def test_the_title_of_a_document_is_a_heading(tools, root):
    title = '<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>Report</w:t></w:r></w:p>'
    styles = '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style>'
    (root / "a.docx").write_bytes(office.docx(title + office.paragraph("Words."), styles=styles))
    assert tools["read"].call({"file_path": "a.docx"}).text == "# Report\n\nWords."


def test_a_locked_pdf_is_told_as_that(tools, root):
    pytest.importorskip("pypdfium2")
    (root / "a.pdf").write_bytes(office.locked(office.pdf(b"", filters="")))
    told = tools["read"].call({"file_path": "a.pdf"}).text
    assert "a.pdf: The PDF is locked with a password: ask for an open copy." in told


def test_a_document_that_crashes_its_reader_is_not_called_large(tools, root):
    (root / "a.odt").write_bytes(office.odt("<text:p>" * 200_000))
    out = tools["read"].call({"file_path": "a.odt"})
    assert out.code == "FILE_READ_ERROR"
    assert "MB of memory" not in out.text


def test_without_the_extra_the_refusal_names_it(tools, root, monkeypatch, tmp_path):
    (root / "a.docx").write_bytes(office.docx(office.paragraph("no reader")))
    absent = tmp_path / "site-packages" / "kreuzberg"
    absent.mkdir(parents=True)
    (absent / "__init__.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(absent.parent)
    out = tools["read"].call({"file_path": "a.docx"})
    assert out.code == "MISSING_DEPENDENCY"
    assert "fsagent-tools[media]" in out.text


ENTITIES = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
DEEP = 1_000_000
HOSTILE = {
    "zip bomb.docx": lambda: office.docx(office.paragraph("x" * (1 << 29))),
    "zip bomb.xlsx": lambda: office.xlsx(office.cells(["x" * (1 << 29)])),
    "nested.docx": lambda: office.docx("<w:tbl><w:tr><w:tc>" * DEEP),
    "nested.odt": lambda: office.odt("<text:list><text:list-item>" * DEEP),
    "nested.epub": lambda: office.epub("<div>" * DEEP + "deep" + "</div>" * DEEP),
    "members.docx": lambda: office.packed({f"word/{n}.xml": "" for n in range(20_000)}),
    "entities.docx": lambda: office.docx(
        office.paragraph("[&a9;]"), f'<!DOCTYPE d [<!ENTITY a0 "lol">{ENTITIES}]>'
    ),
    "corner.xlsx": lambda: office.xlsx(
        '<row r="1"><c r="A1"><v>1</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    ),
    "cut.pptx": lambda: office.pptx("slide")[:200],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_refused_or_small(name, tools, root):
    (root / name).write_bytes(HOSTILE[name]())
    out = tools["read"].call({"file_path": name})
    assert len(out.text) < 1000
    if not out.ok:
        assert out.code in ("FILE_TOO_LARGE", "FILE_READ_ERROR"), out.text
        assert name in out.text


def test_an_entity_of_a_document_opens_no_file(tools, root):
    secret = root / "secret.txt"
    secret.write_text("the secret")
    prologue = f'<!DOCTYPE d [<!ENTITY x SYSTEM "file://{secret}">]>'
    (root / "a.docx").write_bytes(office.docx(office.paragraph("[&x;]"), prologue))
    assert "the secret" not in tools["read"].call({"file_path": "a.docx"}).text


def database():
    with sqlite3.connect(":memory:") as connection:
        connection.execute("create table t (a)")
        data = connection.serialize()
    connection.close()
    return data


def archive(mode):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        tar.addfile(tarfile.TarInfo("a"), None)
    return out.getvalue()


OTHERS = {
    "a.sqlite": (database()[:4096], "a SQLite database", "sqlite3 a.sqlite .schema"),
    "two words.zip": (office.packed({"a": "b"})[:-9], "a zip archive", "unzip -l 'two words.zip'"),
    "a.tar.gz": (archive("w:gz")[:20], "a compressed tar archive", "tar -tvf a.tar.gz"),
    "-c.gz": (gzip.compress(b"text"), "a gzip file", "gzip -dc ./-c.gz | head -c 2000"),
    "a.gz": (gzip.compress(b"text"), "a gzip file", "gzip -dc a.gz | head -c 2000"),
    "a.zip": (office.packed({"a": "b"}), "a zip archive", "unzip -l a.zip"),
    "a.tar": (archive("w"), "a tar archive", "tar -tvf a.tar"),
    "a.parquet": (b"PAR1\x15\0\x15", "a Parquet table", "print(p.read_schema(sys.argv[1]))"),
    "a.mp4": (b"\0\0\0\x20ftypisom\0\0", "sound or video", "ffprobe -hide_banner a.mp4"),
    "a.heic": (b"\0\0\0\x18ftypheic\0\0", "a HEIC picture", "heif-info a.heic"),
    "a.doc": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0",
        "an old or locked Office",
        "convert-to pdf a.doc",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_cannot_be_read_is_named_with_a_next_step(name, tools, root):
    data, kind, command = OTHERS[name]
    (root / name).write_bytes(data)
    out = tools["read"].call({"file_path": name})
    assert out.code == "BINARY_FILE"
    assert f"{name} is {kind}" in out.text
    assert command in out.text
    alone = toolset("workspace").without("bash").bind(Workspace(root))["read"]
    assert command not in alone.call({"file_path": name}).text
