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


class _Stopped(BaseException):
    """Ends a run before a change, its argument, is made; no action may take it for an error."""


def _stop(change: PendingChange) -> None:
    raise _Stopped(change)


def previewed(
    run: Callable[[], _T], watch: Callable[[PendingChange], None] = _stop, *, dry: bool = True
) -> tuple[PendingChange | None, _T | None]:
    """What it would change first, nothing of it done; for nothing, None and what it returned.

    watch: lets some changes happen. Raises what `run` raises.
    """
    try:
        with changed(watch=watch, dry=dry):
            return None, run()
    except _Stopped as stopped:
        return stopped.args[0], None


class Origins(dict[tuple[str, str], str]):
    """What texts were before approved changes, in this process: by hash of what they are now."""

    MAX, _keeping = 1000, Lock()

    def of(self, path: str, content: bytes) -> str:
        now = _hash(content)
        return self.get((path, now), now)

    def keep(self, change: PendingChange) -> None:
        """Note it before this approved change, for `fingerprint`."""
        if change.before is not None and change.after is not None:
            path = change.paths[0]
            with self._keeping:
                self[path, _hash(change.after)] = self.of(path, change.before)
                if len(self) > self.MAX:
                    del self[next(iter(self))]

    def fingerprint(self, change: PendingChange) -> str:
        """The same in every process, as long as the change and what it starts from are the same.

        A text counts as what it was before approved changes, so an edit is still the same one, of
        the same lines, after approved edits of others.
        """
        path, before, after = change.paths[0], change.before, change.after
        if before is None:
            return _digest((change.verb, change.paths, after and _hash(after), change.state))
        old, new = (text.splitlines(keepends=True) for text in (before, after or b""))
        hunks = refine(Hunk(0, len(old), tuple(new)), old)
        lines = [(old[hunk.start : hunk.stop], hunk.new) for hunk in hunks]  # not where they are
        return _digest((change.verb, change.paths, self.of(path, before), lines))


def run_approved(
    run: Callable[[], _T], request: Request, approve: Approve, origins: Origins, call: str | None
) -> _T | None:
    """Run dry, ask, then run for real, prevented from doing anything but what was approved.

    A call that would change nothing is not asked about; one that would do something else by the
    time of the answer is asked about again. call: its name; a command asked for twice is approved
    twice. Raises `ApprovalDenied`, `Conflict` when that goes on and on, and what `run` raises.
    """
    if not request.effect.changes_files:
        _ask(approve, request, (call, (request.tool, _json(request.arguments))))
        return run()
    change, result = previewed(run)
    for _ in range(QUESTIONS):
        if change is None:
            return result
        expected, diff = origins.fingerprint(change), describe(change)
        _ask(approve, replace(request, paths=change.paths, diff=diff), (call, expected))
        change, result = previewed(run, _only(expected, origins), dry=False)
    if change is None:
        return result
    raise Conflict(
        f"{change.paths[0]} changed each time while approval was awaited. Nothing was done.",
        hint="Call again when it has stopped changing: approval is asked for anew.",
    )


def _only(expected: str, origins: Origins) -> Callable[[PendingChange], None]:
    """Lets the one change happen that was approved."""
    pending, outer = [expected], current.get().watch

    def verify(change: PendingChange) -> None:
        if not pending:
            raise Conflict("The call would change more than was approved. The rest was not done.")
        if pending != [origins.fingerprint(change)]:
            raise _Stopped(change)
        pending.clear()
        if outer:
            outer(change)
        origins.keep(change)

    return verify


def _ask(approve: Approve, request: Request, effect: object) -> None:
    with host_code():
        verdict = approve(replace(request, fingerprint=_digest(effect)))
        if isinstance(verdict, Awaitable):
            verdict = (current.get().wait or _awaited)(verdict)
    if verdict is not True:
        reason = verdict.strip().rstrip(".") if isinstance(verdict, str) else ""
        said = f"The user did not approve this call of {request.tool}{': ' * bool(reason)}{reason}"
        hint = "Do not try the same again; ask what to do instead."
        raise ApprovalDenied(f"{said}. Nothing was done.", hint=hint)
    current.get().check()  # who asked may have given up meanwhile
    if turn := current.get().turn:
        turn.check()


def _awaited(verdict: Awaitable[_T]) -> _T:
    """In a thread without an event loop. Raises `ConfigInvalid` in a thread with one."""
    import asyncio

    async def result() -> _T:
        return await verdict

    with suppress(RuntimeError):
        asyncio.get_running_loop()
        if isinstance(verdict, Coroutine):
            verdict.close()
        raise ConfigInvalid("`approve` is asynchronous and this call is not.", hint="Use `acall`.")
    return asyncio.run(result())


def describe(change: PendingChange) -> str:
    """A unified diff of a write but over a huge file; else what happens to which entries."""
    if change.told:
        return change.told
    paths, before, after = [*map(display, change.paths)], change.before or b"", change.after or b""
    if change.verb == "write" and not change.replaces:
        try:
            old, new = (decode(text, change.paths[0]).utf8 for text in (before, after))
            return compared(change.paths[0], old, new)
        except ToolError:
            return f"Binary file {paths[0]} ({len(before):,} -> {len(after):,} bytes)"
    lines = [f"{VERBS.get(change.verb, change.verb)} {' -> '.join(paths)}"]
    lines += [f"replaces {paths[-1]}"] * change.replaces
    lines += [f"  {display(name)}" for name in change.members[:LISTED]]
    if (more := len(change.members) - LISTED) > 0:
        lines.append(f"  and {more:,} more entries")
    return "\n".join(lines)


def _json(arguments: object) -> str:
    return json.dumps(arguments, sort_keys=True, default=str)


def _digest(facts: object) -> str:
    return _hash(repr(facts).encode(errors="surrogatepass"))


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()
