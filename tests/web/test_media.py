"""PDF text and pictures, as pure functions on bytes."""

import base64
import io
import random

import pytest

from fsagent_tools.errors import BinaryFile, InvalidArguments, ReadFailed, TooLarge
from fsagent_tools.media import image, pdf

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("pypdfium2")


def document(*texts):
    """A PDF with one line of text on each page."""
    return written(*(f"BT /F 12 Tf 20 100 Td ({text}) Tj ET" for text in texts))


def written(*streams):
    """A PDF with one page for each stream of drawing commands."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>"]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(streams)))
    objects.append(f"<</Type/Pages/Kids[{kids}]/Count {len(streams)}>>")
    objects.append("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    for n, stream in enumerate(streams):
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents {5 + 2 * n} 0 R"
            "/Resources<</Font<</F 3 0 R>>>>>>"
        )
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
    out, offsets = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj{body}endobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF"
    return (out + head + tail).encode()


def test_the_pages_asked_for_are_read():
    data = document("First page", "Second page", "Third page")
    assert pdf.pages(data, None).pages == ((1, "First page"), (2, "Second page"), (3, "Third page"))
    found = pdf.pages(data, "3,1-2,2-")
    assert ([n for n, _ in found.pages], found.total, found.scanned) == ([1, 2, 3], 3, ())


def test_a_scanned_page_is_named():
    out = io.BytesIO()
    Image.new("RGB", (50, 50), "gray").save(out, "PDF")
    assert pdf.pages(out.getvalue(), None).scanned == (1,)


@pytest.mark.parametrize("spec", ["0", "9", "2-1", "a", "", "1,,2", "1 3-x"])
def test_wrong_pages_are_told_by_name(spec):
    with pytest.raises(InvalidArguments, match="pages"):
        pdf.pages(document("x"), spec)


def test_a_damaged_pdf_is_an_error():
    with pytest.raises(ReadFailed):
        pdf.pages(b"%PDF-1.4 nothing", None)


def test_a_page_is_rendered_at_the_size_models_take():
    (page,) = pdf.page_pictures(document("Hi"), [1])
    assert max(Image.open(io.BytesIO(base64.b64decode(page.data))).size) == 1568


def encoded(picture, kind="PNG"):
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


def test_a_small_picture_stays_as_it_is():
    data = encoded(Image.new("RGB", (30, 20), "red"))
    assert image.prepare_image(data) == image.Picture(
        "image/png", 30, 20, base64.b64encode(data).decode(), "image/png"
    )


@pytest.mark.parametrize("size", [(30, 20), (3000, 20)])
def test_a_picture_taken_with_a_turned_camera_is_upright(size):
    exif = Image.Exif()
    exif[0x0112] = 6
    out = io.BytesIO()
    Image.new("RGB", size, "red").save(out, "JPEG", exif=exif)
    picture = image.prepare_image(out.getvalue())
    shown = Image.open(io.BytesIO(base64.b64decode(picture.data)))
    assert (picture.width, picture.height) == size[::-1]
    assert shown.height > shown.width
    assert shown.getexif().get(0x0112, 1) == 1
    assert picture.kind == "image/jpeg"


def test_a_large_noisy_picture_becomes_a_small_jpeg():
    noise = Image.frombytes("RGB", (2000, 1000), random.Random(1).randbytes(6_000_000))
    picture = image.prepare_image(encoded(noise))
    shown = Image.open(io.BytesIO(base64.b64decode(picture.data)))
    assert (picture.mime_type, picture.width, shown.size) == ("image/jpeg", 2000, (1568, 784))


def test_another_format_becomes_png():
    assert image.prepare_image(encoded(Image.new("L", (9, 9)), "BMP")).mime_type == "image/png"


@pytest.mark.parametrize("size", [(5712, 4284), (8064, 6048)])
def test_a_photo_of_a_phone_is_reduced(size):
    data = encoded(Image.new("RGB", size, "red"), "JPEG")
    (picture,) = image.prepare_parts(data)
    assert (picture.width, picture.height) == size
    assert max(Image.open(io.BytesIO(base64.b64decode(picture.data))).size) == 1568


def test_a_tall_screenshot_comes_in_parts_from_the_top_down():
    tall = Image.new("RGB", (1280, 15_000), "red")
    tall.paste("blue", (0, 12_000, 1280, 15_000))
    parts = image.prepare_parts(encoded(tall))
    shown = [Image.open(io.BytesIO(base64.b64decode(part.data))) for part in parts]
    assert [part.size for part in shown] == [(669, 1568)] * 5
    assert [part.getpixel((9, 9))[:3] for part in (shown[0], shown[4])] == [
        (255, 0, 0),
        (0, 0, 255),
    ]
    assert len(image.prepare_parts(encoded(tall.resize((300, 900))))) == 1


def test_a_bomb_is_an_error():
    with pytest.raises(TooLarge):
        image.prepare_image(encoded(Image.new("1", (12_000, 12_000))))


@pytest.mark.parametrize("data", [b"", b"no picture", b"\x89PNG\r\n\x1a\n123"])
def test_what_is_no_picture_is_told(data):
    with pytest.raises(BinaryFile):
        image.prepare_image(data)


def test_a_picture_that_is_a_program_is_not_run():
    """Pillow has Ghostscript draw it."""
    program = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n"
    with pytest.raises(BinaryFile, match="no picture of a known kind"):
        image.prepare_image(program)
