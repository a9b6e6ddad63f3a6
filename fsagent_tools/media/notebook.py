"""The pictures in the outputs of a Jupyter notebook."""

import base64
import json
import time
from collections.abc import Sequence

from fsagent_tools.errors import ToolError
from fsagent_tools.media.image import Picture, prepare_image
from fsagent_tools.media.pdf import BUDGET
from fsagent_tools.notebook import pictures


def drawings(data: bytes, numbers: Sequence[int]) -> list[Picture | None]:
    """The pictures of these numbers; one that cannot be shown costs nothing but itself."""
    begun, wanted = time.process_time(), {*numbers}
    found = {}
    for number, encoded in enumerate(pictures(json.loads(data))):
        if number in wanted and time.process_time() - begun < BUDGET:
            try:
                found[number] = prepare_image(base64.b64decode(encoded))
            except (ToolError, ValueError):
                continue
    return [found.get(number) for number in numbers]
