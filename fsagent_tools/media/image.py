"""Pictures as models take them: a known type, no larger than helps, in base64."""

import base64
import io
from dataclasses import dataclass
from typing import Any

from fsagent_tools.errors import BinaryFile, MissingDependency, TooLarge

LONGEST_EDGE = 1568  # pixels; larger pictures are scaled down by the models themselves
MAX_ENCODED = 1 << 20  # bytes; above, the picture is sent as JPEG
MAX_PIXELS = 20_000_000  # ten times what a model sees; below the size at which Pillow warns
QUALITY = 85
_ORIENTATION = 0x0112  # the EXIF tag
_SCRIPTS = {"EPS"}  # formats that are programs, which Pillow has another program run
_KEPT = {"image/png", "image/jpeg", "image/gif", "image/webp"}


@dataclass(frozen=True)
class Picture:
    """`width` and `height` are those of the original, upright; `data` is base64.

    kind: the type of the file, which `mime_type` need not be.
    """

    mime_type: str
    width: int
    height: int
    data: str
    kind: str = ""


def prepare_image(data: bytes) -> Picture:
    """Scale the longest edge down to 1,568 pixels; the file itself where it already fits.

    Raises `BinaryFile` for what is not an image, `TooLarge` for a decompression bomb,
    `MissingDependency` without Pillow.
    """
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError:
        raise MissingDependency(
            "Pictures need Pillow.", hint="pip install 'fsagent-tools[media]'"
        ) from None
    try:
        with Image.open(io.BytesIO(data)) as opened:
            if opened.format in _SCRIPTS:
                raise UnidentifiedImageError
            if opened.width * opened.height > MAX_PIXELS:
                raise Image.DecompressionBombError
            kind = Image.MIME.get(opened.format or "", "image")
            fits = max(opened.size) <= LONGEST_EDGE and len(data) <= MAX_ENCODED
            turned = opened.getexif().get(_ORIENTATION, 1) != 1
            if kind in _KEPT and fits and not turned:
                opened.load()
                encoded = base64.b64encode(data).decode()
                return Picture(kind, *opened.size, encoded, kind)
            ImageOps.exif_transpose(opened, in_place=True)
            size = opened.size
            opened.thumbnail((LONGEST_EDGE, LONGEST_EDGE))
            mime_type, shown = _encode(opened)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise TooLarge(
            f"The picture has more than {MAX_PIXELS:,} pixels, too many to be opened safely.",
            hint="Ask for a smaller one.",
        ) from None
    except UnidentifiedImageError:  # whose words are an address in memory
        raise BinaryFile(f"The {len(data):,} bytes are no picture of a known kind.") from None
    except (OSError, ValueError, SyntaxError) as error:
        raise BinaryFile(f"The {len(data):,} bytes are no readable picture: {error}.") from None
    return Picture(mime_type, *size, base64.b64encode(shown).decode(), kind)


def _encode(picture: Any) -> tuple[str, bytes]:
    """PNG, or JPEG on white when that PNG would be large."""
    shown = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    out = io.BytesIO()
    shown.save(out, "PNG")
    if out.tell() <= MAX_ENCODED:
        return "image/png", out.getvalue()
    from PIL import Image

    paper = Image.new("RGB", shown.size, "white")
    paper.paste(shown, mask=shown.getchannel("A") if shown.mode == "RGBA" else None)
    out = io.BytesIO()
    paper.save(out, "JPEG", quality=QUALITY)
    return "image/jpeg", out.getvalue()
