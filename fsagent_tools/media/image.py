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
_KEPT = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}


@dataclass(frozen=True)
class Picture:
    """`width` and `height` are those of the original; `data` is base64."""

    mime_type: str
    width: int
    height: int
    data: str


def prepare_image(data: bytes) -> Picture:
    """Scale the longest edge down to 1,568 pixels; the file itself where it already fits.

    Raises `BinaryFile` for what is not an image, `TooLarge` for a decompression bomb,
    `MissingDependency` without Pillow.
    """
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise MissingDependency(
            "Pictures need Pillow.", hint="pip install 'fsagent-tools[media]'"
        ) from None
    try:
        with Image.open(io.BytesIO(data)) as opened:
            width, height = opened.size
            if width * height > MAX_PIXELS:
                raise Image.DecompressionBombError
            kept = _KEPT.get(opened.format or "")
            if kept and max(opened.size) <= LONGEST_EDGE and len(data) <= MAX_ENCODED:
                opened.load()
                return Picture(kept, width, height, base64.b64encode(data).decode())
            ImageOps.exif_transpose(opened, in_place=True)
            upright = opened
            upright.thumbnail((LONGEST_EDGE, LONGEST_EDGE))
            mime_type, encoded = _encode(upright)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise TooLarge(
            f"The picture has more than {MAX_PIXELS:,} pixels, too many to be opened safely.",
            hint="Ask for a smaller one.",
        ) from None
    except (OSError, ValueError, SyntaxError) as error:
        raise BinaryFile(f"The {len(data):,} bytes are no readable picture: {error}.") from None
    return Picture(mime_type, width, height, base64.b64encode(encoded).decode())


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
