"""The offset of a read as documents with 0-based lines have it."""

from typing import Annotated

from pydantic import AfterValidator, Field


def _from_one(line: int) -> int:
    return line + 1


OFFSET = Annotated[int, Field(ge=0, description="First line, from 0."), AfterValidator(_from_one)]
