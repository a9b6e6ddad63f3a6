"""Office documents, books and PDFs, written as small as they can be, for tests."""

import io
import zipfile

_OPEN_XML = "http://schemas.openxmlformats.org"
_TYPES = (
    f'<Types xmlns="{_OPEN_XML}/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package'
    '.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/></Types>'
)
_WORD = f'xmlns:w="{_OPEN_XML}/wordprocessingml/2006/main"'
_SHEET = f'xmlns="{_OPEN_XML}/spreadsheetml/2006/main"'
_LINKS = f'xmlns:r="{_OPEN_XML}/officeDocument/2006/relationships"'
_SLIDE = f'xmlns:p="{_OPEN_XML}/presentationml/2006/main" xmlns:a="{_OPEN_XML}/drawingml/2006/main"'
_NAMES = "urn:oasis:names:tc:opendocument:xmlns"


def packed(files):
    """A zip archive of name -> text."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def _related(*targets):
    rows = "".join(
        f'<Relationship Id="rId{n}" Type="{_OPEN_XML}/officeDocument/2006/relationships/{kind}" '
        f'Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_OPEN_XML}/package/2006/relationships">{rows}</Relationships>'


def _open_xml(main, files):
    return packed(
        {
            "[Content_Types].xml": _TYPES,
            "_rels/.rels": _related(("officeDocument", main)),
            **files,
        }
    )


def paragraph(text):
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def table(*rows):
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx(body, prologue="", styles=""):
    text = f"{prologue}<w:document {_WORD}><w:body>{body}</w:body></w:document>"
    files = {"word/document.xml": text}
    if styles:
        files["word/styles.xml"] = f"<w:styles {_WORD}>{styles}</w:styles>"
    return _open_xml("word/document.xml", files)


def xlsx(rows):
    """rows: the content of `sheetData`."""
    book = '<sheets><sheet name="Prices" sheetId="1" r:id="rId1"/></sheets>'
    return _open_xml(
        "xl/workbook.xml",
        {
            "xl/workbook.xml": f"<workbook {_SHEET} {_LINKS}>{book}</workbook>",
            "xl/_rels/workbook.xml.rels": _related(("worksheet", "worksheets/sheet1.xml")),
            "xl/worksheets/sheet1.xml": (
                f"<worksheet {_SHEET}><sheetData>{rows}</sheetData></worksheet>"
            ),
        },
    )


def cells(*rows):
    """`sheetData` of texts and numbers."""
    found = ""
    for number, row in enumerate(rows, 1):
        found += f'<row r="{number}">'
        for column, value in zip("ABCD", row, strict=False):
            place = f'r="{column}{number}"'
            if isinstance(value, str):
                found += f'<c {place} t="inlineStr"><is><t>{value}</t></is></c>'
            else:
                found += f"<c {place}><v>{value}</v></c>"
        found += "</row>"
    return found


def pptx(*slides):
    files, links = {}, []
    for n, text in enumerate(slides, 1):
        shape = f"<p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
        tree = f"<p:cSld><p:spTree>{shape}</p:spTree></p:cSld>"
        files[f"ppt/slides/slide{n}.xml"] = f"<p:sld {_SLIDE}>{tree}</p:sld>"
        links.append(("slide", f"slides/slide{n}.xml"))
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in range(1, len(slides) + 1))
    show = f"<p:sldIdLst>{listed}</p:sldIdLst>"
    files["ppt/presentation.xml"] = f"<p:presentation {_SLIDE} {_LINKS}>{show}</p:presentation>"
    files["ppt/_rels/presentation.xml.rels"] = _related(*links)
    return _open_xml("ppt/presentation.xml", files)


def odt(body):
    names = " ".join(f'xmlns:{name}="{_NAMES}:{name}:1.0"' for name in ("office", "text", "table"))
    inner = f"<office:body><office:text>{body}</office:text></office:body>"
    return packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {names}>{inner}</office:document-content>",
        }
    )


def epub(*chapters):
    """chapters: the content of each `body`, in the order in which they are read."""
    files = {f"c{n}.xhtml": _chapter(text) for n, text in enumerate(chapters)}
    items = "".join(
        f'<item id="i{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>'
        for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
        'full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "b.opf": book,
            **files,
        }
    )


def _chapter(body):
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'


def pdf(content, filters="/FlateDecode", pages=1):
    """A PDF whose pages share one compressed content stream."""
    kids = " ".join(f"{5 + n} 0 R" for n in range(pages))
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 3 0 R "
        b"/Resources << /Font << /F1 4 0 R >> >> >>"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode(),
        f"<< /Length {len(content)} /Filter [{filters}] >>\nstream\n".encode()
        + content
        + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *[page] * pages,
    ]
    body, table = b"%PDF-1.4\n", b""
    for number, each in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(body)
        body += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    size = len(objects) + 1
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%btrailer << /Size %d /Root 1 0 R >>\n"
        b"startxref\n%d\n%%%%EOF" % (size, table, size, len(body))
    )


def locked(plain):
    """A PDF that asks for a password, which no password is; nothing in it is really encrypted."""
    keys = " ".join(f"/{name} <{'11' * 32}>" for name in "OU")
    lock = (
        f"/ID [<{'22' * 16}> <{'22' * 16}>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 {keys} >>"
    )
    return plain.replace(b"/Root 1 0 R", f"/Root 1 0 R {lock}".encode())


def shown(times):
    """The content stream of a page with that many words, uncompressed."""
    return b"BT /F1 9 Tf 9 9 Td " + b"(hello world) Tj " * times + b"ET"
