"""Parameters that documents type otherwise than the actions do."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field


def from_zero(description: str) -> Any:
    """A line counted from 0, which the action counts from 1."""
    return Annotated[int, Field(ge=0, description=description), AfterValidator(_from_one)]


def _from_one(line: int) -> int:
    return line + 1


def all_or(other: str, description: str) -> Any:
    """Whether every occurrence is meant, else `other`."""
    chosen = AfterValidator({True: "all", False: other}.get)
    return Annotated[bool, chosen, Field(description=description)]


OFFSET = from_zero("First line, from 0.")
REPLACE_ALL = all_or("unique", "Replace every occurrence.")
