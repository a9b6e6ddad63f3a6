"""Asking before an effect: a dry run tells what would happen, and only that may then happen."""

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from threading import Lock
from typing import Any, TypeVar

from fsagent_tools.call import PendingChange, changed, current, host_code
from fsagent_tools.effects import Effect
from fsagent_tools.encoding import decode
from fsagent_tools.errors import ApprovalDenied, ConfigInvalid, Conflict, ToolError
from fsagent_tools.gate.commandline import SimpleCommand, simple_commands
from fsagent_tools.lines.diff import compared
from fsagent_tools.lines.hunks import Hunk, refine
from fsagent_tools.names import display

QUESTIONS = 5  # about one call whose files change while the answers are awaited
_MAX_ORIGINS, _keeping = 1000, Lock()  # texts
LISTED = 20  # entries of a tree that a request names
VERBS = {"write": "overwrite", "mkdir": "new directory", "move": "rename", "remove": "delete"}
_T = TypeVar("_T")


@dataclass(frozen=True)
class Request:
    """A call that needs approval. Nothing has happened yet, and no lock is held.

    Attributes:
        tool: Its name, as the model knows it.
        effect: What it would do.
        risk: The same as a word: "low", "medium" or "high".
        arguments: As validated, by the model's names, including what the toolset sets.
        paths: Of the real objects.
        diff: A unified diff; for a move, copy or removal one line per entry; otherwise "".
        fingerprint: Of the call and its effect. An answer that does not arrive as a return value
            quotes it.
        outside: The tools by which something from outside the project, which anybody may have
            written, has come into this session before.
    """

    tool: str
    effect: Effect
    risk: str
    arguments: Mapping[str, Any]
    paths: tuple[str, ...] = ()
    diff: str = ""
    fingerprint: str = ""
    outside: tuple[str, ...] = ()

    @property
    def commands(self) -> tuple[SimpleCommand, ...]:
        """The simple commands of a call that runs programs: at least one. Empty for other calls.

        Raises:
            MissingDependency: Without the extra `commands`.
        """
        if self.effect is not Effect.EXECUTE:
            return ()
        line = self.arguments.get("command")
        return (
            simple_commands(line)
            if isinstance(line, str)
            else (SimpleCommand(_json(self.arguments)),)
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        lists = {"paths": list(self.paths), "outside": list(self.outside)}
        return {**asdict(self), "effect": self.effect.value, **lists}


Verdict = bool | str  # True approves; False denies, and so does a text, which is the reason
Approve = Callable[[Request], Verdict | Awaitable[Verdict]]


class _Changed(BaseException):
    """Ends a run that would do something else than was approved."""


class _Previewed(BaseException):
    """Ends a dry run where its effect would begin; no action may take it for an error."""

    def __init__(self, change: PendingChange) -> None:
        self.change = change


def previewed(run: Callable[[], object]) -> PendingChange | None:
    """What it would change first, nothing of it done; None for nothing. Raises what it raises."""
    try:
        with changed(watch=_stop, dry=True):
            run()
    except _Previewed as found:
        return found.change
    return None


def run_approved(
    run: Callable[[], _T],
    request: Request,
    approve: Approve,
    origins: "Origins",
    call: str | None = None,
) -> _T:
    """Run dry, ask, then run for real, prevented from doing anything but what was approved.

    A call that would change nothing is not asked about; one that would do something else by the
    time of the answer is asked about again. call: its name; a command asked for twice is approved
    twice. Raises `ApprovalDenied`, `Conflict` when that goes on and on, and what `run` raises.
    """
    if not request.effect.changes_files:
        _ask(approve, request, (call, (request.tool, _json(request.arguments))))
        return run()
    for _ in range(QUESTIONS):
        try:
            with changed(watch=_stop, dry=True):
                return run()
        except _Previewed as previewed:
            change = previewed.change
        expected = fingerprint(change, origins)
        shown = replace(request, paths=change.paths, diff=describe(change))
        _ask(approve, shown, (call, expected))
        with suppress(_Changed), changed(watch=_only(expected, origins)):
            return run()
    raise Conflict(
        f"{change.paths[0]} changed each time while approval was awaited. Nothing was done.",
        hint="Call again when it has stopped changing: approval is asked for anew.",
    )


def _only(expected: str, origins: "Origins") -> Callable[[PendingChange], None]:
    """Lets the one change happen that was approved."""
    pending = [expected]
    outer = current.get().watch

    def verify(change: PendingChange) -> None:
        if not pending:
            raise Conflict("The call would change more than was approved. The rest was not done.")
        if pending != [fingerprint(change, origins)]:
            raise _Changed
        pending.clear()
        if outer:
            outer(change)
        origins.keep(change)

    return verify


def _ask(approve: Approve, request: Request, effect: object) -> None:
    with host_code():
        verdict = approve(replace(request, fingerprint=digest(effect)))
        if isinstance(verdict, Awaitable):
            verdict = (current.get().wait or _awaited)(verdict)
    if verdict is not True:
        reason = verdict.strip().rstrip(".") if isinstance(verdict, str) else ""
        raise ApprovalDenied(
            f"The user did not approve this call of {request.tool}"
            f"{': ' + reason if reason else ''}. Nothing was done.",
            hint="Do not try the same again; ask what to do instead.",
        )
    current.get().check()  # who asked may have given up meanwhile
    if turn := current.get().turn:
        turn.check()


def _stop(change: PendingChange) -> None:
    raise _Previewed(change)


def _json(arguments: object) -> str:
    return json.dumps(arguments, sort_keys=True, default=str)


def _awaited(verdict: Awaitable[_T]) -> _T:
    """In a thread without an event loop. Raises `ConfigInvalid` in a thread with one."""
    import asyncio

    async def result() -> _T:
        return await verdict

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(result())
    if isinstance(verdict, Coroutine):
        verdict.close()
    raise ConfigInvalid("`approve` is asynchronous and this call is not.", hint="Use `acall`.")


def describe(change: PendingChange) -> str:
    """A unified diff of a write but over a huge file; else what happens to which entries."""
    if change.told:
        return change.told
    if change.verb == "write" and not change.replaces:
        return _diff(change)
    paths = [*map(display, change.paths)]
    lines = [f"{VERBS.get(change.verb, change.verb)} {' -> '.join(paths)}"]
    if change.replaces:
        lines.append(f"replaces {paths[-1]}")
    lines += [f"  {display(name)}" for name in change.members[:LISTED]]
    if len(change.members) > LISTED:
        lines.append(f"  and {len(change.members) - LISTED:,} more entries")
    return "\n".join(lines)


class Origins(dict[tuple[str, str], str]):
    """What texts were before approved changes, in this process: by hash of what they are now."""

    def of(self, path: str, content: bytes) -> str:
        now = sha256(content).hexdigest()
        return self.get((path, now), now)

    def keep(self, change: PendingChange) -> None:
        """Note it before this approved change, for `fingerprint`."""
        if change.before is not None and change.after is not None:
            path, new = change.paths[0], sha256(change.after).hexdigest()
            with _keeping:
                self[path, new] = self.of(path, change.before)
                if len(self) > _MAX_ORIGINS:
                    del self[next(iter(self))]


def fingerprint(change: PendingChange, origins: Origins) -> str:
    """The same in every process, as long as the change and what it starts from are the same.

    A text counts as what it was before approved changes, so an edit is still the same one, of the
    same lines, after approved edits of others.
    """
    if change.before is None:
        after = change.after and sha256(change.after).hexdigest()
        return digest((change.verb, change.paths, after, change.state))
    start = origins.of(change.paths[0], change.before)
    old = change.before.splitlines(keepends=True)
    new = (change.after or b"").splitlines(keepends=True)
    hunks = refine(Hunk(0, len(old), tuple(new)), old)
    lines = [(old[hunk.start : hunk.stop], hunk.new) for hunk in hunks]  # not where they are
    return digest((change.verb, change.paths, start, lines))


def digest(facts: object) -> str:
    return sha256(repr(facts).encode(errors="surrogatepass")).hexdigest()


def _diff(change: PendingChange) -> str:
    path = change.paths[0]
    try:
        old, new = (decode(raw or b"", path).utf8 for raw in (change.before, change.after))
    except ToolError:
        sizes = " -> ".join(f"{len(raw or b''):,}" for raw in (change.before, change.after))
        return f"Binary file {display(path)} ({sizes} bytes)"
    return compared(path, old, new)
