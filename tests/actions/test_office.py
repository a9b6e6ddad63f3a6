"""Office documents and books as Markdown, hostile ones refused; what other files are."""

import gzip
import io
import sqlite3
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.media.linked import beside_word
from tests import office

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
    "a.pptx": "--- slide 1 of 2 ---\n\n## First slide\n\n--- slide 2 of 2 ---\n\n## Second slide",
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


def test_an_exponent_of_a_document_stays_apart_from_its_base(tools, root):
    raised = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>{}</w:t></w:r>'
    runs = f"<w:r><w:t>10</w:t></w:r>{raised.format('-3')}<w:r><w:t>, 1</w:t></w:r>"
    (root / "a.docx").write_bytes(office.docx(f"<w:p>{runs}{raised.format('st')}</w:p>"))
    assert tools["read"].call({"file_path": "a.docx"}).text == "10^-3, 1st"
    book = office.epub("<p>10<sup>\u22123</sup> x<sub>i</sub> 1<sup>st</sup></p>")
    (root / "a.epub").write_bytes(book)
    assert tools["read"].call({"file_path": "a.epub"}).text == "10^\u22123 x_i 1st"


def test_the_title_of_a_document_is_a_heading(tools, root):
    title = '<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>Report</w:t></w:r></w:p>'
    styles = '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style>'
    (root / "a.docx").write_bytes(office.docx(title + office.paragraph("Words."), styles=styles))
    assert tools["read"].call({"file_path": "a.docx"}).text == "# Report\n\nWords."


def test_a_formula_that_nobody_has_computed_is_told(tools, root):
    rows = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>Sum</t></is></c></row>'
        '<row r="2"><c r="A2"><f>SUM(B1:B3)</f><v></v></c></row>'
        '<row r="3"><c r="A3" s="1" t="str"><f>A1&amp;"x"</f></c></row>'
        '<row r="4"><c r="A4"><f>1+1</f><v>2</v></c></row>'
    )
    (root / "a.xlsx").write_bytes(office.xlsx(rows))
    told = tools["read"].call({"file_path": "a.xlsx"}).text
    assert told.endswith('| Sum |\n| --- |\n| =SUM(B1:B3) |\n| =A1&"x" |\n| 2 |')


def test_a_cell_without_a_type_is_a_text(tools, root):
    cells = "".join(f"<table:table-cell><text:p>{t}</text:p></table:table-cell>" for t in "ab")
    typed = '<table:table-cell office:value-type="float" office:value="3"/><table:table-cell/>'
    rows = f"<table:table-row>{cells}</table:table-row><table:table-row>{typed}</table:table-row>"
    (root / "a.ods").write_bytes(office.ods(rows))
    told = tools["read"].call({"file_path": "a.ods"}).text
    assert told.startswith("## Prices\n\n| a | b |\n| --- | --- |\n| 3 |")


def test_a_locked_pdf_is_told_as_that(tools, root):
    pytest.importorskip("pypdfium2")
    (root / "a.pdf").write_bytes(office.locked(office.pdf(b"", filters="")))
    told = tools["read"].call({"file_path": "a.pdf"}).text
    assert "a.pdf: The PDF is locked with a password: ask for an open copy." in told


GROUP = (  # behind another shape
    "Two</a:t></a:r></a:p></p:txBody></p:sp><p:grpSp><p:sp><p:txBody><a:p><a:r><a:t>Inner"
    "</a:t></a:r></a:p></p:txBody></p:sp></p:grpSp><p:sp><p:txBody><a:p><a:r><a:t>"
)


HALF = (
    "--- slide 1 of 2 ---\n\n## One\n\n{left}\n\n"
    "--- slide 2 of 2 ---\n\n## Two\n\n### Notes\n\nSaid."
)


def slide(number, count):
    return f"--- slide {number} of {count} ---\n\n"


def test_an_empty_slide_has_its_number_and_a_group_its_text(tools, root):
    data = office.pptx("One", "", GROUP)
    (root / "a.pptx").write_bytes(data)
    told = tools["read"].call({"file_path": "a.pptx"}).text
    assert told.startswith(f"{slide(1, 3)}## One\n\n{slide(2, 3)}{slide(3, 3)}")
    assert "Inner" in told


def test_slides_are_read_as_they_are_shown_with_what_the_speaker_says(tools, root):
    texts = [f"Slide {n}" for n in range(1, 12)]
    shown = [2, 1, *range(3, 12)]
    notes = {2: "Say 2 &lt; 3.", 11: "Bow."}
    (root / "a.pptx").write_bytes(office.pptx(*texts, notes=notes, shown=shown))
    out = tools["read"].call({"file_path": "a.pptx"})
    told = [f"--- slide {at} of 11 ---\n\n## Slide {n}" for at, n in enumerate(shown, 1)]
    told[0] += "\n\n### Notes\n\nSay 2 < 3."
    told[-1] += "\n\n### Notes\n\nBow."
    assert out.text == "\n\n".join(told)


def test_a_day_without_a_time_is_told_as_one_and_a_time_without_a_day(tools, root):
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" s="1"><v>{at}</v></c><c r="B{n}"><v>{n}</v></c></row>'
        for n, at in enumerate((45322, 45322.4375, 0.4375, 0), 1)
    )
    days = '<xf numFmtId="0"/><xf numFmtId="22"/>'
    (root / "a.xlsx").write_bytes(office.xlsx(rows, styles=days))
    told = tools["read"].call({"file_path": "a.xlsx"}).text
    assert "| 2024-01-31 | 1 |" in told
    assert "| 2024-01-31 10:30:00 | 2 |" in told
    assert "| 10:30:00 | 3 |\n| 00:00:00 | 4 |" in told


CHART = office.chart("Sales &amp; costs", North={"2019": 1, "2020": 2.5}, South={"2020": 3})
CHART_TOLD = "Chart: Sales & costs\n- North: 2019 1; 2020 2.5\n- South: 2020 3"


def test_charts_of_slides_and_what_stands_around_a_text_are_told(tools, root):
    (root / "a.pptx").write_bytes(office.pptx("One", "Two", charts={1: CHART}))
    told = tools["read"].call({"file_path": "a.pptx"}).text
    assert told == f"{slide(1, 2)}## One\n\n{CHART_TOLD}\n\n{slide(2, 2)}## Two"
    around = [("header", "Secret"), ("header", "Secret"), ("footer", "7"), ("footer", "Acme Inc.")]
    document = office.docx_around(office.paragraph("Words."), *around, ("chart", CHART))
    (root / "a.docx").write_bytes(document)
    told = tools["read"].call({"file_path": "a.docx"}).text
    assert told == f"Words.\n\nHeader: Secret\n\nFooter: Acme Inc.\n\n{CHART_TOLD}"


@pytest.mark.parametrize("chart", ["</a:t>", "<c:ser>" * 1000, "<a>" + "x" * (17 << 20) + "</a>"])
def test_a_chart_that_cannot_be_read_leaves_the_rest(chart, tools, root):
    (root / "a.pptx").write_bytes(office.pptx("One", charts={1: chart}))
    told = tools["read"].call({"file_path": "a.pptx"}).text
    assert told == f"{slide(1, 1)}## One\n\n[ppt/charts/chart1.xml {LEFT_OUT}]"
    document = office.docx_around(office.paragraph("Words."), ("header", "Top"), ("chart", chart))
    (root / "a.docx").write_bytes(document)
    told = tools["read"].call({"file_path": "a.docx"}).text
    assert told == f"Words.\n\nHeader: Top\n\n[word/chart1.xml {LEFT_OUT}]"


LEFT_OUT = "cannot be read and is left out"


def with_damage(document, part, encrypted):
    """The document, one part of it overwritten or called encrypted."""
    data = bytearray(document)
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        info = archive.getinfo(part)
    if encrypted:
        data[info.header_offset + 6] |= 1
        entry = data.rfind(b"PK\x01\x02", 0, data.rfind(part.encode()))
        data[entry + 8] |= 1
    else:
        start = info.header_offset + 30 + len(part)
        data[start : start + 20] = b"\xff" * 20
    return bytes(data)


@pytest.mark.parametrize("encrypted", [True, False])
def test_a_part_that_cannot_be_unpacked_leaves_the_rest(encrypted, tools, root):
    around = [("header", "A header of some words"), ("footer", "Bottom")]
    document = office.docx_around(office.paragraph("Words."), *around)
    (root / "a.docx").write_bytes(with_damage(document, "word/header0.xml", encrypted))
    told = tools["read"].call({"file_path": "a.docx"}).text
    assert told == f"Words.\n\n[word/header0.xml {LEFT_OUT}]\n\nFooter: Bottom"
    slides = office.pptx("One", "Two", charts={1: CHART}, notes={2: "Said."})
    part = "ppt/charts/chart1.xml"
    (root / "a.pptx").write_bytes(with_damage(slides, part, encrypted))
    told = tools["read"].call({"file_path": "a.pptx"}).text
    assert told == HALF.format(left=f"[{part} {LEFT_OUT}]")


def test_a_text_box_of_a_header_is_told_once():
    box = f"<w:txbxContent>{office.paragraph('Secret')}</w:txbxContent>"
    both = f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    names = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    drawn = f"</w:t><mc:AlternateContent {names}>{both}</mc:AlternateContent><w:t>"
    document = office.docx_around("", ("header", f"Before{drawn}after"))
    assert beside_word(document) == "Header: Before Secret after"


@pytest.mark.parametrize("notes", ["</a:t>", '<x y="' * 100_000, "<a:b>" * 1000])
def test_notes_that_cannot_be_read_leave_the_slides(notes, tools, root):
    (root / "a.pptx").write_bytes(office.pptx("One", "Two", notes={1: notes, 2: "Said."}))
    out = tools["read"].call({"file_path": "a.pptx"})
    part = "ppt/notesSlides/notesSlide1.xml"
    assert out.text == HALF.format(left=f"[{part} {LEFT_OUT}]")


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
    assert "fsagent-tools[office]" in out.text


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


def packed_tar(**members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def base(*statements, journal="delete"):
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(f"{folder}/a")
        connection.execute(f"PRAGMA journal_mode = {journal}")
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()
        return Path(folder, "a").read_bytes()


TABLE = "CREATE TABLE t (\n  a int)"
LISTED = {
    "two words.zip": (
        office.packed({"a/b.txt": "four", "c\n": ""}),
        ["two words.zip: a zip archive", "           4  a/b.txt", "           0  c\\n"],
        "unzip -p 'two words.zip' NAME",
    ),
    "a.tgz": (
        packed_tar(b=b"xyz"),
        ["a.tgz: a compressed tar", "           3 "],
        "tar -xOf a.tgz",
    ),
    "a.tar": (
        gzip.decompress(packed_tar(b=b"xyz")),
        ["a.tar: a tar", "           3 "],
        "tar -xOf",
    ),
    "a.db": (
        base(TABLE, "INSERT INTO t VALUES (1), (2)", "CREATE VIEW v AS SELECT a FROM t"),
        ["a.db: a SQLite", "CREATE TABLE t (", "  a int);  -- 2 rows", "CREATE VIEW v AS"],
        "sqlite3 a.db 'SELECT * FROM TABLE LIMIT 20'",
    ),
    "wal.db": (
        base(TABLE, journal="wal"),
        ["wal.db", "CREATE TABLE", "  a int);  -- 0 rows", "(changes that are still in its log"],
        "",
    ),
    "drawn.db": (
        base('CREATE TABLE "t\x1b[31m\u202e"(\ta)'),
        ["drawn.db", 'CREATE TABLE "t\\x1b[31m\\u202e"(\ta);  -- 0 rows'],
        "",
    ),
    "-x.zip": (
        office.packed({"a": "b"}),
        ["-x.zip: a zip", "           1  a"],
        "unzip -p ./-x.zip NAME",
    ),
    "-cmd.db": (
        base(TABLE),
        ["-cmd.db: a SQLite", "CREATE TABLE", "  a int)"],
        "sqlite3 ./-cmd.db 'SELECT",
    ),
}


@pytest.mark.parametrize("name", LISTED)
def test_archives_and_databases_are_listed(name, tools, root):
    data, wanted, step = LISTED[name]
    (root / name).write_bytes(data)
    out = tools["read"].call({"file_path": name})
    *told, last = out.text.splitlines()
    assert [line[: len(w)] for line, w in zip(told, wanted, strict=True)] == wanted
    assert last.startswith(f"With bash: {step}")
    alone = toolset("workspace").without("bash").bind(Workspace(root))["read"]
    assert alone.call({"file_path": name}).text.splitlines() == told
    assert sorted(p.name for p in root.iterdir() if p.name != ".ai") == [name]


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
BOMBS = {
    "a.tgz": packed_tar(a=bytes(1 << 29), b=b"b"),
    "a.zip": office.packed({f"{n:060}": "" for n in range(12_000)}),
    "a.db": base(TABLE, f"CREATE VIEW v AS {ENDLESS}"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_is_packed_beyond_measure_is_listed_in_part(name, tools, root):
    (root / name).write_bytes(BOMBS[name])
    out = tools["read"].call({"file_path": name})
    assert out.ok, out.text
    assert f"{name}: a " in out.text
    last = tools["read"].call({"file_path": name, "offset": out.data["total_lines"]}).text
    assert (name == "a.db") != last.startswith("(there may be more)")


OTHERS = {
    "a.sqlite": (database()[:4096], "a SQLite database", "sqlite3 a.sqlite .schema"),
    "two words.zip": (office.packed({"a": "b"})[:-9], "a zip archive", "unzip -l 'two words.zip'"),
    "a.tar.gz": (archive("w:gz")[:20], "a compressed tar archive", "tar -tvf a.tar.gz"),
    "-c.gz": (gzip.compress(b"text"), "a gzip file", "gzip -dc ./-c.gz | head -c 2000"),
    "a.gz": (gzip.compress(b"text"), "a gzip file", "gzip -dc a.gz | head -c 2000"),
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
