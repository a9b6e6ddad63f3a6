"""Named surfaces: which actions a model sees, under which names, with which knobs."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from fsagent_tools.action import Params
from fsagent_tools.approval import Request, run_approved
from fsagent_tools.arguments import explain, normalize_arguments, parse_arguments
from fsagent_tools.call import CallContext, HostError, current
from fsagent_tools.display import html_table
from fsagent_tools.effects import SIDE_EFFECTS, Effect
from fsagent_tools.entries import Entry, Visible
from fsagent_tools.errors import ConfigInvalid, InternalError, InvalidArguments, ToolError
from fsagent_tools.loops import in_thread, on_this_loop, waiting_on_this_loop
from fsagent_tools.results import Outcome, Result
from fsagent_tools.wording import Wording
from fsagent_tools.workspace import Workspace

__all__ = ["Entry", "Tool", "Toolset"]
TOOL_NAME = re.compile("[a-zA-Z0-9_-]{1,64}")  # what every model provider takes
WAITING = (Effect.EXECUTE, Effect.NETWORK)  # effects that mostly wait for others
if TYPE_CHECKING:
    from fsagent_tools.events import Event


@dataclass(frozen=True, repr=False)
class Toolset:
    """An immutable list of entries; every method returns a new one."""

    name: str
    entries: tuple[Entry, ...]

    def __repr__(self) -> str:
        return f"Toolset({self.name!r}: {', '.join(e.shown_name for e in self.entries)})"

    def _repr_html_(self) -> str:
        rows = [(e.shown_name, ", ".join(e.visible), e.action.effect.value) for e in self.entries]
        return html_table(("tool", "the model sets", "effect"), rows)

    def bind(self, workspace: Workspace) -> "dict[str, Tool]":
        """Tools by name, in the toolset's order. Does no IO.

        Raises `ConfigInvalid` for a policy that allows actions which do not exist.
        """
        own = [name for e in self.entries for name in (e.shown_name, e.action.name)]
        workspace.policy.check_names(own)
        named = {e.action.name: e.shown_name for e in reversed(self.entries)}
        return {e.shown_name: Tool(e, workspace, named) for e in self.entries}

    def only(self, *names: str) -> "Toolset":
        self._known(names)
        return self._with(e for e in self.entries if e.shown_name in names)

    def without(self, *names: str) -> "Toolset":
        self._known(names)
        return self._with(e for e in self.entries if e.shown_name not in names)

    def renamed(self, names: Mapping[str, str]) -> "Toolset":
        """`names` maps a tool's name to its new one."""
        self._known(names)
        renamed = [names.get(e.shown_name, e.shown_name) for e in self.entries]
        if wrong := [name for name in renamed if not TOOL_NAME.fullmatch(name)]:
            raise ConfigInvalid(
                f"{wrong[0]!r} is not a valid tool name.", hint=f"Names match {TOOL_NAME.pattern}."
            )
        if len({*renamed}) < len(renamed):
            raise ConfigInvalid(f"Two tools of {self.name!r} would have one name: {renamed}.")
        return self._with(
            replace(e, name=new) for e, new in zip(self.entries, renamed, strict=True)
        )

    def with_defaults(self, values: Mapping[str, Mapping[str, Any]]) -> "Toolset":
        """`values` maps a tool's name to {parameter: new default}, hidden parameters included."""
        self._known(values)
        return self._with(e.with_defaults(values.get(e.shown_name, {})) for e in self.entries)

    def showing(self, parameters: Mapping[str, Iterable[str]]) -> "Toolset":
        """`parameters` maps a tool's name to hidden parameters that the model shall see."""
        self._known(parameters)
        return self._with(e.showing(parameters.get(e.shown_name, ())) for e in self.entries)

    def _with(self, entries: Iterable[Entry]) -> "Toolset":
        return replace(self, entries=tuple(entries))

    def _known(self, names: Iterable[str]) -> None:
        have = [e.shown_name for e in self.entries]
        if wrong := [name for name in names if name not in have]:
            raise ConfigInvalid(
                f"The toolset {self.name!r} has no tool {', '.join(map(repr, wrong))}.",
                hint=f"It has: {', '.join(have)}.",
            )


@dataclass(frozen=True, repr=False)
class Tool:
    """An entry bound to a workspace: the only thing an adapter ever touches."""

    entry: Entry
    workspace: Workspace
    named: Mapping[str, str] = field(default_factory=dict)  # action -> its name in the toolset

    def __repr__(self) -> str:
        return f"Tool({self.name!r}, {', '.join(self.visible)}, effect={self.effect.value!r})"

    @property
    def name(self) -> str:
        return self.entry.shown_name

    @property
    def description(self) -> str:
        text = self.entry.description or self.entry.action.description
        return self.wording.advice(text).replace("`", "")

    @cached_property
    def wording(self) -> Wording:
        """The names that the model knows."""
        return Wording(self.entry, self.named)

    @property
    def effect(self) -> Effect:
        return self.entry.action.effect

    @property
    def permissions(self) -> tuple[str, ...]:
        return self.entry.action.permissions

    @property
    def side_effects(self) -> tuple[str, ...]:
        return SIDE_EFFECTS.get(self.effect, ())

    @property
    def risk(self) -> str:
        return self.entry.risk or self.entry.action.risk

    @property
    def visible(self) -> Mapping[str, FieldInfo]:
        """The parameters that a model sees, by the name it sees."""
        return self.entry.visible

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The visible parameters, as a pydantic model."""
        shown: Any = {n: (field.rebuild_annotation(), field) for n, field in self.visible.items()}
        return create_model(self.name, __base__=Visible, **shown)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the visible parameters: no titles, no null unions, no default noise."""
        return self.arguments.model_json_schema()

    def call(self, arguments: Mapping[str, Any] | str, **hidden: Any) -> Outcome:
        """Validate, check policy, run. A refusal comes back as an outcome, and so does a bug.

        A bug's code is INTERNAL_ERROR and its traceback goes to `logging`; it raises where
        `FSAGENT_DEBUG` is set. What callbacks of the host raise passes through.
        `arguments` is what the model sent: a mapping, or the JSON text of one. `hidden` are
        parameters the host sets for this one call, as the toolset or the action names them.
        """
        log = self.workspace.log
        if log is None:
            return self._answer(arguments, hidden)
        runs = self.effect is Effect.EXECUTE
        root = self.workspace.files.local_root if runs else None
        with log.event(self.name, self.effect.value, self.workspace.session.id, root) as event:
            event.outcome = self._answer(arguments, hidden, event)
            return event.outcome

    def _answer(
        self,
        arguments: Mapping[str, Any] | str,
        hidden: Mapping[str, Any],
        event: "Event | None" = None,
    ) -> Outcome:
        action, shape = self.entry.action, self.entry.result
        try:
            self.workspace.policy.check_action(action.name, action.effect, shown=self.name)
            params = self._params(arguments, hidden)
            if event:
                event.params = params
            return Outcome.of(self._run(params), shape, self.wording.advice)
        except ValidationError as error:
            text = explain(error, self.entry.spelling)
            return Outcome.refused(InvalidArguments(text), shape)
        except ToolError as error:
            return Outcome.refused(error, shape, self.wording.refusal(error))
        except HostError as carried:
            raise carried.error from None
        except Exception as error:
            if os.environ.get("FSAGENT_DEBUG"):
                raise
            return Outcome.refused(self._bug(error), shape)

    def _bug(self, error: Exception) -> InternalError:
        import logging  # needed for nothing else

        logging.getLogger("fsagent_tools").error("%s failed", self.name, exc_info=error)
        changes = self.effect not in (Effect.READ, Effect.NETWORK)
        return InternalError(
            f"{self.name} failed unexpectedly ({type(error).__name__}); this is a bug in the tool.",
            hint="It may have changed something: look before you go on."
            if changes
            else "Nothing was written. Try other arguments or another tool.",
        )

    async def acall(self, arguments: Mapping[str, Any] | str, **hidden: Any) -> Outcome:
        """`call` in a thread; cancelling the awaiting task stops the work at its next check."""
        context = copy_context()
        before = current.get()
        call = CallContext(
            emit=on_this_loop(before.emit), wait=waiting_on_this_loop(), ids=before.ids
        )
        context.run(current.set, call)
        work = partial(context.run, partial(self.call, arguments, **hidden))
        asks = self.workspace.approve is not None
        try:
            return await in_thread(work, waits=asks or self.effect in WAITING)
        finally:
            call.cancelled.set()

    def _run(self, params: Params) -> Result:
        workspace = self.workspace
        run: Callable[[], Result] = partial(self.entry.action.run, workspace, params)
        if workspace.approve is None or self.effect not in workspace.approve_effects:
            return run()
        sent = params.model_dump(mode="json", exclude_unset=True)
        named = {self.entry.spelling(name): value for name, value in sent.items()}
        request = Request(self.name, self.effect, self.risk, named)
        return run_approved(run, request, workspace.approve)

    def _params(self, arguments: Mapping[str, Any] | str, hidden: Mapping[str, Any]) -> Params:
        """What the action gets: the model's arguments over defaults, pins and host over all."""
        entry = self.entry
        visible = self.visible
        given = normalize_arguments(
            parse_arguments(arguments), visible, lambda name: not visible[name].is_required()
        )
        params: Params = entry.action.params.model_validate(
            {**entry.defaults, **entry.own(given), **entry.pin, **entry.own(hidden)}
        )
        return params
