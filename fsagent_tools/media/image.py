"""Pictures as models take them: a known type, no larger than helps, in base64."""

import base64
import io
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fsagent_tools.errors import BinaryFile, MissingDependency, TooLarge, ToolError
from fsagent_tools.notebook import pictures

LONGEST_EDGE = 1568  # pixels; larger pictures are scaled down by the models themselves
MAX_ENCODED = 1 << 20  # bytes; above, the picture is sent as JPEG
MAX_PIXELS = 50_000_000  # in memory; JPEG is decoded at 1/2, 1/4 or 1/8 of its size
TALL = 3  # times as high as wide: such a screenshot of a page is shown in parts, to be readable
PART = 1.25  # height of such a part, in widths of the picture, unless that makes too many
MAX_PARTS = 5
QUALITY = 85
BUDGET = 1.5  # seconds of computing after which no picture or page is begun
_ORIENTATION = 0x0112  # the EXIF tag
_ON_ITS_SIDE = {5, 6, 7, 8}  # its values for a camera that was turned
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
    """All of a picture as one, see `prepare_parts`."""
    return prepare_parts(data, 1)[0]


def prepare_parts(data: bytes, most: int = MAX_PARTS) -> list[Picture]:
    """Scale the longest edge down to 1,568 pixels; the file itself where it already fits.

    A tall picture comes in up to `most` parts from the top down, each with the size of the whole.

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
            kind, size = Image.MIME.get(opened.format or "", "image"), opened.size
            turn = opened.getexif().get(_ORIENTATION, 1)
            fits = max(size) <= LONGEST_EDGE and len(data) <= MAX_ENCODED
            upright = size[::-1] if turn in _ON_ITS_SIDE else size
            is_tall = not fits and upright[1] > TALL * upright[0]
            count = min(most, math.ceil(upright[1] / (PART * upright[0]))) if is_tall else 1
            if count == 1:
                opened.draft("RGB", (LONGEST_EDGE, LONGEST_EDGE))
            if opened.width * opened.height > MAX_PIXELS:
                raise Image.DecompressionBombError
            if kind in _KEPT and fits and turn == 1:
                opened.load()
                return [Picture(kind, *size, base64.b64encode(data).decode(), kind)]
            if count == 1:
                opened.thumbnail((LONGEST_EDGE, LONGEST_EDGE))
            ImageOps.exif_transpose(opened, in_place=True)
            shown = []
            for part in range(count):
                low, high = (opened.height * edge // count for edge in (part, part + 1))
                piece = opened.crop((0, low, opened.width, high)) if count > 1 else opened
                piece.thumbnail((LONGEST_EDGE, LONGEST_EDGE))
                mime_type, encoded = _encode(piece)
                picture = base64.b64encode(encoded).decode()
                shown.append(Picture(mime_type, *upright, picture, kind))
            return shown
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise TooLarge(
            f"The picture has more than {MAX_PIXELS:,} pixels, too many to be opened safely.",
            hint="Reduce or crop it with a command, then read the result.",
        ) from None
    except UnidentifiedImageError:  # whose words are an address in memory
        raise BinaryFile(f"The {len(data):,} bytes are no picture of a known kind.") from None
    except (OSError, ValueError, SyntaxError) as error:
        raise BinaryFile(f"The {len(data):,} bytes are no readable picture: {error}.") from None


def drawings(data: bytes, numbers: Sequence[int]) -> list[Picture | None]:
    """The pictures of these numbers in the outputs of a Jupyter notebook.

    One that cannot be shown costs nothing but itself.
    """
    begun, found = time.process_time(), dict[int, Picture]()
    for number, encoded in enumerate(pictures(json.loads(data))):
        if number in numbers and time.process_time() - begun < BUDGET:
            try:
                found[number] = prepare_image(base64.b64decode(encoded))
            except (ToolError, ValueError):
                continue
    return [found.get(number) for number in numbers]


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
