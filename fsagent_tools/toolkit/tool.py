"""An action as a model calls it: from the arguments it sent to an outcome."""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from inspect import Signature
from typing import TYPE_CHECKING, Any

from pydantic.fields import FieldInfo

from fsagent_tools.call import approving, changed, current
from fsagent_tools.effects import SIDE_EFFECTS, Effect
from fsagent_tools.errors import InternalError, ToolError
from fsagent_tools.gate.gate import GatedCall, approver, run_gated
from fsagent_tools.results import Outcome, Result
from fsagent_tools.runtime.shadows import importing
from fsagent_tools.toolkit.asyncio_bridge import called
from fsagent_tools.toolkit.entry import Entry, Wording
from fsagent_tools.toolkit.params import (
    Params,
    absent_values,
    accepted,
    normalize_arguments,
    parse_arguments,
    under_own_names,
)
from fsagent_tools.toolkit.schema import named_arguments, signature_of, visible_model
from fsagent_tools.workspace import Workspace
from fsagent_tools.workspace.pool import Workspaces

if TYPE_CHECKING:
    from pydantic import BaseModel

    from fsagent_tools.gate.request import Request

_TELLING = (Effect.READ, Effect.NETWORK)
_Sent = Mapping[str, Any] | str  # by a model: arguments, or their JSON text
_Hidden = Mapping[str, Any]  # parameters that the host sets
WAITING = (Effect.EXECUTE, Effect.NETWORK)  # effects that mostly wait for others


@dataclass(frozen=True, repr=False)
class Tool:
    """A tool of a toolset, bound to a workspace: everything that an adapter needs.

    Examples:
        >>> tools = toolset("workspace").bind(Workspace(files=MemoryFiles({"a.txt": "one"})))
        >>> tools["read"].call({"file_path": "a.txt"}).text
        '[LID:ba8ac3] one'
        >>> list(tools["read"].schema["properties"])
        ['file_path', 'offset', 'limit', 'pages']
    """

    entry: Entry
    workspace: Workspace
    named: Mapping[str, str] = field(default_factory=dict)  # action -> its name in the toolset
    view: Mapping[str, Any] = field(default_factory=dict)  # of any workspace, see `Workspace.view`
    strict: bool = False  # the schema is for the strict mode of a provider
    label: str = ""  # what the description calls the workspace
    pool: Workspaces | None = None  # where runs have workspaces of their own
    whole: Entry | None = None  # of which this tool carries out one command
    command: str = ""
    toolset: str = ""  # the name of the one that it is of

    def __repr__(self) -> str:
        return f"Tool({self.name!r}, {', '.join(self.visible)}, effect={self.effect.value!r})"

    @cached_property
    def name(self) -> str:
        return self.entry.shown_name

    @property
    def description(self) -> str:
        action = self.entry.action
        remark = action.remark(self.workspace) if action.remark else ""
        text = self.entry.description or "\n".join(filter(None, (action.description, remark)))
        text = self.wording.advice(text).replace("`", "")
        return f"{text} In: {self.label}." if self.label else text

    @contextmanager
    def within(self, run: object) -> Iterator["Tool"]:
        """The tool in the workspace of `run`, as its framework calls a run; None outside one."""
        if self.pool is None:
            yield self
            return
        with self.pool.lend(run) as lent:
            yield replace(self, workspace=lent.view(**self.view))

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
    def lacks(self) -> str:
        """What it cannot work without and does not have here, for the host; "" for nothing.

        Does IO, once in a process.
        """
        if (lacks := self.entry.action.lacks) is None:
            return ""
        with importing(self.workspace.services.changeable):
            return lacks(self.workspace)

    @property
    def risk(self) -> str:
        return self.entry.risk or self.entry.action.risk

    @property
    def visible(self) -> Mapping[str, FieldInfo]:
        """The parameters that a model sees, by the name it sees."""
        return self.entry.visible

    @cached_property
    def arguments(self) -> "type[BaseModel]":
        """The visible parameters, as a pydantic model."""
        with importing(self.workspace.services.changeable):
            return visible_model(self.name, self.visible, strict=self.strict)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the visible parameters, without titles, null unions and default noise."""
        with importing():
            return self.arguments.model_json_schema()

    @cached_property
    def signature(self) -> Signature:
        """The visible parameters as those of a Python function, the required ones first."""
        return signature_of(self.schema)

    def by_position(self, given: Sequence[Any], more: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a Python call, positional ones under their names.

        Raises `TypeError` for too many, and for one that is given twice.
        """
        return named_arguments(self.signature, given, more)

    def native(self, provider: str) -> dict[str, Any] | None:
        """The definition by which a provider knows this tool, if it does and under this name.

        None for a strict one, which has a schema.
        """
        made = self.entry.native.get(provider)
        if made is None or self.strict or made.get("name", self.name) != self.name:
            return None
        return {**made, "name": self.name}

    def _meant(self, sent: _Sent) -> "Tool":
        """Itself, or the tool for the command of this call."""
        if not self.entry.commands:
            return self
        try:
            word, row = self.entry.meant(parse_arguments(sent))
        except ToolError:
            word, row = self.entry.meant({})  # it is refused as any call
        return replace(self, entry=row, whole=self.entry, command=word)

    def __deepcopy__(self, _: object) -> "Tool":
        return self  # what it is made of never changes, and its workspace is a place

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def call(self, arguments: Mapping[str, Any] | str, **hidden: Any) -> Outcome:
        """Validate arguments, check the policy, run. Refusals and bugs come back as an `Outcome`.

        A bug has the code `INTERNAL_ERROR`, and its traceback goes to `logging`; with
        `FSAGENT_DEBUG` it is raised. Exceptions of the host's own callbacks pass through.

        Args:
            arguments: What the model sent: a mapping, or the JSON text of one.
            **hidden: Parameters that the host sets for this call, by the names of the toolset or of
                the action.
        """
        tool = self._meant(arguments)
        action = tool.entry.action
        call = GatedCall(
            action.name,
            tool.name,
            action.effect,
            tool.risk,
            arguments,
            validate=partial(tool._validated, arguments, hidden),
            execute=partial(action.run, tool.workspace),
            arguments=tool._shown,
            only_reports=action.only_tells,
            answer=tool._answered,
            refuse=tool._refused,
            is_tool=True,
        )
        outcome: Outcome = run_gated(self.workspace, call)
        return outcome

    def effect_of(self, arguments: Mapping[str, Any] | str) -> Effect:
        """What this call may do; a tool of several commands may do more."""
        return self._meant(arguments).effect

    def preview(self, arguments: Mapping[str, Any] | str) -> "Request | None":
        """What approval would be asked for this call. Nothing happens.

        Returns:
            None if nothing would be asked: the effect needs no approval, the call changes nothing,
                or it will be refused.
        """
        asked: list[Request] = []

        def keep(request: "Request") -> bool:
            asked.append(request)
            return False

        with approving(keep), changed(dry=True):
            self.call(arguments)
        return asked[0] if asked else None

    async def acall(self, arguments: Mapping[str, Any] | str, **hidden: Any) -> Outcome:
        """`call` in a thread; cancelling the awaiting task stops the work at its next check."""
        tool = self._meant(arguments)
        slow = tool.entry.action.waits or tool.effect in WAITING
        asks = approver(self.workspace, tool.effect, is_tool=True)
        waits = slow or current.get().turn or asks
        return await called(partial(self.call, arguments, **hidden), waits=bool(waits))

    def _validated(self, sent: _Sent, hidden: _Hidden) -> Params:
        """What a model sent over the defaults, pins and the host over all."""
        entry, arguments = self.entry, parse_arguments(sent)
        taken = entry.taken
        if self.whole:
            arguments = self.whole.without_command(arguments, entry)
        known = {n: v for n, v in arguments.items() if n in taken or not entry.has_anyway(n, v)}
        given = normalize_arguments(known, taken, lambda name: absent_values(taken[name]))
        names = entry.rename, entry.readers
        own, host = under_own_names(given, *names), under_own_names(hidden, *names)
        values = {**entry.defaults, **own, **entry.pin, **host}
        params: Params = accepted(entry.action.params, values, entry.spelling)
        return params

    def _shown(self, params: Params) -> Mapping[str, Any]:
        command = {"command": self.command} if self.whole else {}
        own = params.as_json(given=True)
        return {**command, **{self.entry.spelling(n): v for n, v in own.items()}}

    def _answered(self, result: Result) -> Outcome:
        return Outcome.of(result, self.entry.result, self.wording.advice)

    def _refused(self, error: Exception) -> Outcome:
        if isinstance(error, ToolError):
            return Outcome.refused(error, self.entry.result, self.wording.refusal(error))
        if os.environ.get("FSAGENT_DEBUG"):
            raise error
        logging.getLogger("fsagent_tools").error("%s failed", self.name, exc_info=error)
        bug = InternalError(
            f"{self.name} failed unexpectedly ({type(error).__name__}); this is a bug in the tool.",
            hint="It may have changed something: check before you go on."
            if self.effect not in _TELLING
            else "Nothing was written. Try other arguments or another tool.",
        )
        return Outcome.refused(bug, self.entry.result)
