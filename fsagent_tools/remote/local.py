"""The end of a channel that is beside the files: carries out what a channel brings."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from fsagent_tools.call import approving, changed, identified
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.remote.channel import Described, Question, RemoteReply, Sending
from fsagent_tools.remote.verbs import VERB, answered
from fsagent_tools.tools.toolset import Tool, is_there

if TYPE_CHECKING:
    from fsagent_tools.approval.request import Request


@contextmanager
def as_sent(tool: Tool, session: str | None, call: str, scope: str) -> Iterator[Tool]:
    """The tool for one call from elsewhere, which runs once if it has a scope.

    That is another one than the sender's, whose record of the call may be in the same directory.
    """
    with identified(session=session, call=call, scope=f"sent {scope}" if scope else None):
        yield replace(tool, once=True) if scope else tool


class LocalChannel:
    """Bound tools as a `Channel`: the far end of another one, or a channel to this process.

    Where the tools are those of `Workspaces`, a call runs in the one of the sending's session,
    which is what its function is given. Thread-safe.

    Args:
        tools: Those that the other end may call.
        verbs: Whether it may also use the verbs of the workspace (`RemoteWorkspace`), which the
            policy limits, and neither the choice of tools nor an approval.

    Examples:
        >>> far = toolset("workspace").bind(Workspace(files=MemoryFiles({"a.txt": "one"})))
        >>> reply = LocalChannel(far.values()).call(Sending("read", {"file_path": "a.txt"}))
        >>> reply.text
        '[LID:ba8ac3] one'
    """

    def __init__(self, tools: Iterable[Tool], *, verbs: bool = False) -> None:
        self._tools, self._verbs = {tool.name: tool for tool in tools}, verbs

    def tools(self) -> Sequence[Described]:
        return [
            Described(tool.name, tool.description, tool.schema, tool.effect, tool.entry.result)
            for tool in self._tools.values()
        ]

    def call(self, sending: Sending, run: object = None) -> RemoteReply | Question:
        """Raises what the workspace's own callbacks raise; `ConfigInvalid` without such a tool.

        run: what the function of `Workspaces` is given in place of the session.
        """
        named = self._tools.get(sending.name) or next(iter(self._tools.values()), None)
        if named is None:
            raise ConfigInvalid(f"There is no {sending.name} at this place: it has no tools.")
        with (
            as_sent(named, sending.session, sending.call, sending.scope) as called,
            changed(emit=sending.emit, cancelled=sending.cancelled),
            _asking(sending),
            called.within(run or sending.session) as tool,
        ):
            if sending.name.startswith(VERB) and self._verbs:
                return answered(tool.workspace, sending)
            self._check_there(sending.name, tool)
            try:
                outcome = tool.call(sending.arguments)
            except _Asked as asked:
                request = asked.request
                return Question(request.fingerprint, request.paths, request.diff)
        return RemoteReply(outcome.text, outcome.code, outcome.to_dict(), outcome.blocks)

    def _check_there(self, name: str, lent: Tool) -> None:
        """Raise `ConfigInvalid` for what no list of the tools of this workspace has."""

        def is_here(tool: Tool) -> bool:
            return tool.pool is None or is_there(tool, self._tools.values())

        if name not in self._tools or not is_here(lent):
            every = (replace(tool, workspace=lent.workspace) for tool in self._tools.values())
            there = ", ".join(tool.name for tool in every if is_here(tool))
            raise ConfigInvalid(f"There is no {name} at this place, but: {there}.")


class _Asked(Exception):
    """The caller has to answer before the call can go on."""

    def __init__(self, request: "Request") -> None:
        super().__init__(request.tool)
        self.request = request


def _asking(sending: Sending) -> AbstractContextManager[None]:
    """An answer counts for the change that was shown; any other is asked about again."""

    def ask(request: "Request") -> bool:
        if request.fingerprint != sending.answer:
            raise _Asked(request)
        return True

    return approving(ask) if sending.ask or sending.answer else nullcontext()
