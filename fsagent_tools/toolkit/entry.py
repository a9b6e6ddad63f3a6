"""One row of a toolset: an action under a name, with some of its parameters shown."""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Literal

from pydantic import Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from fsagent_tools.effects import Effect
from fsagent_tools.errors import ConfigInvalid, InvalidArguments, ToolError, sentences
from fsagent_tools.results import Shape
from fsagent_tools.toolkit.action import Action, action_names, named
from fsagent_tools.toolkit.coercion import under_shown_names
from fsagent_tools.toolkit.params import (
    converter,
    normalize_arguments,
    under_own_names,
    with_default,
)
from fsagent_tools.validation import SHOWN

_NAME = re.compile(r"`(\w+)`(=\d+|[=:]|\.(?=\w))?")
_SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z])")


@dataclass(frozen=True)
class Entry:
    """One action under a model's name. All fields but `of` have working defaults.

    Attributes:
        of: An action, or the name of one of ours, which is imported at its first use.
        name: What the model calls it; by default the action's name.
        description: What the model reads; by default the action's description.
        rename: The model's name of a parameter -> field of the action.
        pin: Field -> value that the model cannot change.
        defaults: Field -> default that replaces the action's own.
        show: Optional fields that the model sees; it always sees required ones.
        typed: The model's name of a parameter -> its type here, `Annotated` with a `Field` for its
            description; a validator in it makes the value that the action's field gets. A string
            names a type in the action's own module.
        zero_based: Fields that the model counts from 0 (see `typed`) and the action from 1.
        describe: Field -> the description that the model sees in place of the action's.
        result: The documented keys and envelope of the returned dict.
        native: Provider -> the definition by which it knows this tool.
        commands: For a tool whose `command` parameter selects what to do: its value -> the row for
            it.
        view: Arguments for `Workspace.view`.
    """

    of: Action[Any] | str
    name: str = ""
    description: str = ""
    rename: Mapping[str, str] = field(default_factory=dict)
    pin: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    show: tuple[str, ...] = ()
    typed: Mapping[str, Any] = field(default_factory=dict)
    result: Shape = field(default_factory=Shape)
    risk: str = ""
    zero_based: frozenset[str] = frozenset()
    describe: Mapping[str, str] = field(default_factory=dict)
    native: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    commands: "Mapping[str, Entry]" = field(default_factory=dict)
    view: Mapping[str, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @cached_property
    def action(self) -> Action[Any]:
        """What it does; of several commands the one that may do most."""
        if self.commands:
            every = [row.action for row in self.commands.values()]
            return max(every, key=lambda one: [*Effect].index(one.effect))
        return named(self.of) if isinstance(self.of, str) else self.of

    @property
    def action_name(self) -> str:
        return self.of if isinstance(self.of, str) else self.of.name

    @property
    def shown_name(self) -> str:
        return self.name or self.action_name

    def spelling(self, name: str) -> str:
        """The model-facing name of the action's field `name`."""
        return next((shown for shown, own in self.rename.items() if own == name), name)

    def shows(self, name: str) -> bool:
        """Whether a model sees the action's field `name`."""
        return (
            self.action.params.model_fields[name].is_required() or name in self.show
        ) and name not in self.pin

    @cached_property
    def visible(self) -> Mapping[str, FieldInfo]:
        """The parameters that a model sees, by the name it sees."""
        if self.commands:
            return self._of_commands()
        fields = self.action.params.model_fields
        return {self.spelling(n): self._parameter(n) for n in fields if self.shows(n)}

    @cached_property
    def taken(self) -> Mapping[str, FieldInfo]:
        """What a model may send: the visible ones, and hidden ones that the row knows by a type.

        Models send what the tools they were trained on have: `replace_all`, say.
        """
        own = {n: self.rename.get(n, n) for n in self.typed}
        hidden = {n: self._parameter(field) for n, field in own.items() if field not in self.pin}
        return {**hidden, **self.visible}

    def _of_commands(self) -> Mapping[str, FieldInfo]:
        """The command, and what any of them takes; what each of them needs is required."""
        rows = [row.visible for row in self.commands.values()]
        words: Any = Literal[tuple(self.commands)]
        word = FieldInfo.from_annotated_attribute(words, Field(description="What to do."))
        every = {name: one for row in reversed(rows) for name, one in row.items()}
        needed = {n for n in every if all(n in row and row[n].is_required() for row in rows)}
        open_ended = {n: k if n in needed else with_default(k, None) for n, k in every.items()}
        first = {"command": word, **{n: open_ended[n] for n in every if n in needed}}
        return {**first, **open_ended}

    def meant(self, arguments: Mapping[str, Any]) -> "tuple[str, Entry]":
        """The command of a call and the row for it; the first one where there is no such command.

        Raises `InvalidArguments` where it is given twice, and not the same.
        """
        word = under_shown_names(arguments, [*self.visible]).get("command")
        if not isinstance(word, str) or word not in self.commands:
            word = next(iter(self.commands))
        return word, replace(self.commands[word], name=self.shown_name)

    def without_command(self, arguments: Mapping[str, Any], row: "Entry") -> dict[str, Any]:
        """What `row` gets of a call: all but the command, and what others take where it is empty.

        Raises `InvalidArguments` for what no command takes or all need, and for a command that
        does not exist.
        """
        visible, taken = self.visible, row.taken
        arguments = normalize_arguments({**arguments}, {**visible, **taken}, lambda _: ())
        if missing := [n for n, k in visible.items() if k.is_required() and n not in arguments]:
            raise InvalidArguments(" ".join(f"{n}: this argument is required." for n in missing))
        if not isinstance(word := arguments["command"], str) or word not in self.commands:
            raise InvalidArguments(
                f"command: there is no {repr(word)[:SHOWN]}.",
                hint=f"It is one of {', '.join(self.commands)}.",
            )
        foreign = {n for n, v in arguments.items() if n not in taken and v in (None, "", [])}
        return {n: v for n, v in arguments.items() if n not in {"command", *foreign}}

    @cached_property
    def readers(self) -> Mapping[str, Callable[[Any], Any]]:
        """Model-facing parameter name -> what makes the action's value of one of `typed`."""
        return {name: self._reader(name) for name in self.typed}

    def _reader(self, name: str) -> Callable[[Any], Any]:
        """It is made when it is first called."""
        field = FieldInfo.from_annotation(self._type(name))
        made = cache(lambda: converter(name, field, self.spelling))
        return lambda value: made()(value)

    def _type(self, name: str) -> Any:
        given = self.typed[name]
        home = sys.modules[self.action.params.__module__]
        return getattr(home, given) if isinstance(given, str) else given

    def has_anyway(self, name: str, value: Any) -> bool:
        """Whether this is a hidden parameter with the value it has when nobody sends it.

        Models send what the tools they were trained on have.
        """
        own = self.rename.get(name, name)
        field = self.action.params.model_fields.get(own)
        if field is None or own in self.pin or not isinstance(value, str | int):
            return False
        default = self.defaults.get(own, field.default)
        try:
            return bool(self.readers.get(name, lambda same: same)(value) == default)
        except InvalidArguments:
            return False

    def with_defaults(self, values: Mapping[str, Any]) -> "Entry":
        """`values` by the model's names or the action's own. Raises `ConfigInvalid`."""
        self._check_one_action(values)
        self._own_names(values)
        fields = self.action.params.model_fields
        try:
            own = {
                name: converter(name, fields[name])(value)
                for name, value in under_own_names(values, self.rename, self.readers).items()
            }
        except InvalidArguments as error:
            raise ConfigInvalid(f"{self.shown_name}: {error}") from None
        return replace(self, defaults={**self.defaults, **own})

    def showing(self, names: Iterable[str]) -> "Entry":
        """With these hidden parameters shown. Raises `ConfigInvalid`."""
        names = [*names]
        self._check_one_action(names)
        return replace(self, show=(*self.show, *self._own_names(names)))

    def _check_one_action(self, changed: Collection[str]) -> None:
        if self.commands and changed:
            raise ConfigInvalid(
                f"The parameters of {self.shown_name!r} are those of its commands.",
                hint="Choose another toolset to set them.",
            )

    def _parameter(self, name: str) -> FieldInfo:
        """The field as a model sees it: with the entry's default and words where it has any."""
        field: FieldInfo = self.action.params.model_fields[name]
        if (spelt := self.spelling(name)) in self.typed:
            own = FieldInfo.from_annotation(self._type(spelt))
            return with_default(own, PydanticUndefined if field.is_required() else None)
        if name not in self.defaults and name not in self.describe:
            return field
        value = self.defaults.get(name, field.default)
        words = (field.description or "").replace(f"default {field.default}", f"default {value}")
        return with_default(field, value, self.describe.get(name, words))

    def _own_names(self, names: Iterable[str]) -> list[str]:
        fields = self.action.params.model_fields
        own = [self.rename.get(name, name) for name in names]
        hint = f"It has: {', '.join(self.spelling(n) for n in fields if n not in self.pin)}."
        if fixed := [name for name in own if name in self.pin]:
            raise ConfigInvalid(
                f"{', '.join(map(self.spelling, fixed))} of {self.shown_name!r} cannot be changed: "
                "this toolset sets it.",
                hint=hint,
            )
        if wrong := [name for name in own if name not in fields]:
            raise ConfigInvalid(
                f"The tool {self.shown_name!r} has no parameter {', '.join(map(repr, wrong))}.",
                hint=hint,
            )
        return own


@dataclass(frozen=True)
class Wording:
    """Actions name their fields, and each other, in backticks; a toolset may call them otherwise.

    tools: action name -> tool name, of the whole toolset. Only the first line of a text is
    respelled: what follows quotes files and programs.
    """

    entry: Entry
    tools: Mapping[str, str]

    def refusal(self, error: ToolError) -> str:
        """Message and hint of `error`."""
        return sentences(self.respell(error.message), self.advice(error.hint))

    def respell(self, text: str) -> str:
        """`text` with the model's names; backticks go where a value or colon follows."""
        line, newline, quoted = text.partition("\n")
        return _NAME.sub(self._spelled, line) + newline + quoted

    def advice(self, text: str) -> str:
        """`respell`, without sentences that name a tool or parameter the model does not have."""
        if "`" not in text:
            return text
        line, newline, quoted = text.partition("\n")
        useful = " ".join(s for s in _SENTENCE.split(line) if self._possible(s))
        return self.respell(useful + newline + quoted)

    def _possible(self, sentence: str) -> bool:
        return all(map(self._has, (match[1] for match in _NAME.finditer(sentence))))

    def _has(self, name: str) -> bool:
        if name in self.entry.action.params.model_fields:
            return self.entry.shows(name)
        return name in self.tools or name not in action_names()

    def _spelled(self, match: re.Match[str]) -> str:
        name, value = match[1], match[2] or ""
        known = name in self.entry.action.params.model_fields
        shown = self.entry.spelling(name) if known else self.tools.get(name, name)
        if value[1:] and name in self.entry.zero_based:
            value = f"={int(value[1:]) - 1}"
        return f"{shown}{value}" if value else f"`{shown}`"
