"""Asking before an effect: a dry run tells what would happen, and only that may then happen."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any, TypeVar

from fsagent_tools.call import CallContext, PendingChange, current, host_code
from fsagent_tools.effects import Effect
from fsagent_tools.errors import ApprovalDenied, Conflict, ToolError
from fsagent_tools.lines.diff import Hunk, unified
from fsagent_tools.lines.source import Lines, split
from fsagent_tools.lines.splice import refine
from fsagent_tools.loops import run_here
from fsagent_tools.text import decode, newline_of

LISTED = 20  # entries of a tree that a request names
ASKED = frozenset({Effect.WRITE, Effect.DELETE, Effect.EXECUTE})
VERBS = {
    "write": "overwrite",
    "mkdir": "new directory",
    "move": "rename",
    "copy": "copy",
    "remove": "delete",
}

_T = TypeVar("_T")


@dataclass(frozen=True)
class Request:
    """What wants approval. Nothing has happened yet and no lock is held.

    arguments: as validated, by the model's names, with what the toolset sets. paths: of the real
    objects.
    diff: a unified diff; of a move, copy or removal a line for each entry; "" for the rest.
    fingerprint: of the call and its effect; an answer that arrives by another way than a return
    value quotes it.
    """

    tool: str
    effect: Effect
    risk: str
    arguments: Mapping[str, Any]
    paths: tuple[str, ...] = ()
    diff: str = ""
    fingerprint: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {**asdict(self), "effect": self.effect.value, "paths": list(self.paths)}


Verdict = bool | str  # True approves; False denies, and so does a text, which is the reason
Approve = Callable[[Request], Verdict | Awaitable[Verdict]]


class _Previewed(BaseException):
    """Ends a dry run where its effect would begin; no action may take it for an error."""

    def __init__(self, change: PendingChange) -> None:
        self.change = change


def run_approved(run: Callable[[], _T], request: Request, approve: Approve) -> _T:
    """Run dry, ask, then run for real, prevented from doing anything but what was approved.

    A call that would change nothing is not asked about. Raises `ApprovalDenied`, `Conflict` when
    the files changed while the answer was awaited, and what `run` raises.
    """
    if not request.effect.changes_files:
        _ask(approve, request, (request.tool, _json(request)))
        _begin()
        return run()
    try:
        return _watched(run, _stop, dry=True)
    except _Previewed as previewed:
        change = previewed.change
    expected = fingerprint(change)
    _ask(approve, replace(request, paths=change.paths, diff=describe(change)), expected)
    _begin()
    pending = [expected]
    outer = current.get().watch

    def verify(change: PendingChange) -> None:
        if pending[:1] != [fingerprint(change)]:
            raise Conflict(
                f"{change.paths[0]} changed while approval was awaited. Nothing was done.",
                hint="Call again: it will be asked about as it is now.",
            )
        pending.clear()
        if outer:
            outer(change)

    return _watched(run, verify)


def fingerprint(change: PendingChange) -> str:
    """The same in every process, as long as the change and what it starts from are the same."""
    contents = [None if c is None else sha256(c).hexdigest() for c in (change.before, change.after)]
    return _hash((change.verb, change.paths, contents, change.state))


def describe(change: PendingChange) -> str:
    """A unified diff of a write but over a huge file; else what happens to which entries."""
    if change.verb == "write" and not change.replaces:
        return _diff(change)
    lines = [f"{VERBS[change.verb]} {' -> '.join(change.paths)}"]
    if change.replaces:
        lines.append(f"replaces {change.paths[-1]}")
    lines += [f"  {name}" for name in change.members[:LISTED]]
    if len(change.members) > LISTED:
        lines.append(f"  and {len(change.members) - LISTED:,} more entries")
    return "\n".join(lines)


def _ask(approve: Approve, request: Request, effect: object) -> None:
    call_id = current.get().ids.get("call")  # a command asked for twice is approved twice
    with host_code():
        verdict = approve(replace(request, fingerprint=_hash((call_id, effect))))
        if isinstance(verdict, Awaitable):
            verdict = (current.get().wait or run_here)(verdict)
    if verdict is not True:
        reason = verdict.strip().rstrip(".") if isinstance(verdict, str) else ""
        raise ApprovalDenied(
            f"The user did not approve this call of {request.tool}"
            f"{': ' + reason if reason else ''}. Nothing was done.",
            hint="Do not try the same again; ask what to do instead.",
        )


def _begin() -> None:
    if begin := current.get().begin:
        begin()


def _watched(
    run: Callable[[], _T], watch: Callable[[PendingChange], None], *, dry: bool = False
) -> _T:
    call: CallContext = replace(current.get(), watch=watch, dry=dry)
    token = current.set(call)
    try:
        return run()
    finally:
        current.reset(token)


def _stop(change: PendingChange) -> None:
    raise _Previewed(change)


def _diff(change: PendingChange) -> str:
    path = change.paths[0]
    try:
        old, new = (decode(raw or b"", path).utf8 for raw in (change.before, change.after))
    except ToolError:
        sizes = " -> ".join(f"{len(raw or b''):,}" for raw in (change.before, change.after))
        return f"Binary file {path} ({sizes} bytes)"
    before, after = Lines.of(old, newline_of(old)), Lines.of(new, newline_of(new))
    whole = Hunk(0, before.count, tuple(split(new, after.newline)))
    known = before.count and whole.new
    hunks = list(refine(whole, before.between(0, before.count))) if known else [whole]
    return unified(path, before, hunks, ends_with_newline=after.ends_with_newline or not new)


def _json(request: Request) -> str:
    return json.dumps(request.arguments, sort_keys=True, default=str)


def _hash(facts: object) -> str:
    return sha256(repr(facts).encode(errors="surrogatepass")).hexdigest()
