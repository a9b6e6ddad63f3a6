"""How one parameter is declared, in the words of pydantic and without it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

REQUIRED: Any = ...
LARGEST = 2**63  # of an integer; a longer one may not even be printable
SHOWN = 60  # characters of a wrong value that come back in an error


@dataclass(frozen=True)
class Knob:
    """One parameter: its type, default and words, and limits as pydantic's `Field` has them."""

    default: Any = REQUIRED
    factory: Callable[[], Any] | None = None
    words: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)
    type: Any = None
    required: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "required", self.default is REQUIRED and self.factory is None)

    @property
    def absent(self) -> tuple[Any, ...]:
        """What is sent for no value of its own: of a limit, which is at least 1, also 0."""
        is_limit = isinstance(self.default, int) and self.limits.get("ge", 0) >= 1
        return () if self.required else (None, "", 0) if is_limit else (None, "")

    @property
    def description(self) -> str:
        return self.words or next(
            (one.description for one in self._notes if getattr(one, "description", None)), ""
        )

    @cached_property
    def bare(self) -> Any:
        """The type without None and without what `Annotated` says about it."""
        kind = get_args(self.type)[0] if self._notes else self.type
        kinds = [one for one in alternatives(kind) if one is not NoneType]
        return kinds[0] if len(kinds) == 1 else kind

    @property
    def _notes(self) -> tuple[Any, ...]:
        return get_args(self.type)[1:] if get_origin(self.type) is Annotated else ()


def Field(  # noqa: N802 # as pydantic has it
    default: Any = REQUIRED,
    *,
    default_factory: Callable[[], Any] | None = None,
    description: str = "",
    **limits: Any,
) -> Any:
    """The default, description and limits of one parameter; the words are those of pydantic."""
    return Knob(default, default_factory, description, limits)


def alternatives(kind: Any) -> tuple[Any, ...]:
    """The types of a union; a type that is none stands alone."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def json_type(value: object) -> str:
    """What a value is, in the words of JSON."""
    kinds = {list: "a list", dict: "an object", str: "a string", type(None): "null", bytes: "bytes"}
    return kinds.get(type(value), type(value).__name__)
