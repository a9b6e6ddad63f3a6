"""The offset of a read as documents with 0-based lines have it."""

from typing import Annotated

from pydantic import AfterValidator, Field

OFFSET = Annotated[
    int, Field(ge=0, description="First line, from 0."), AfterValidator(lambda line: line + 1)
]
