"""Calls to the far end at a place, whatever carries them there."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from fsagent_tools import Effect
from fsagent_tools.errors import Cancelled, ConfigInvalid, ToolError
from fsagent_tools.remote import (
    CancelFlag,
    Described,
    Question,
    RemoteReply,
    Sending,
    lost,
    repeatable,
    unreachable,
)
from fsagent_tools_places.wire import (
    MOST,
    Asked,
    Reply,
    Told,
    packed_sending,
    unpacked_reply,
)

PAUSES = (0.0, 0.3, 1.0)  # seconds before each attempt to send a request
GRACE = 10.0  # seconds in which a far end may say what became of a call that was cancelled
NONE = "?"  # no process is called so
ENDS = "a process does not outlive its command there"
T = TypeVar("T")


class Dropped(Exception):
    """No answer came; the request may have arrived all the same.

    cut: characters that did come of one that was cut off; 0: none. sent: whether it may have.
    """

    def __init__(self, why: object, *, cut: int = 0, sent: bool = True) -> None:
        super().__init__(str(why).partition("\n")[0][:300].rstrip(". "))
        self.cut, self.sent = cut, sent


class Link(Protocol):
    """A way to the far end, which it starts if need be. Thread-safe.

    boot: the process that answered last. wait: seconds that a request may take; gather: those in
    which live output is gathered. most: characters of an answer that pass at once. keep: whether
    the far end lasts.
    """

    boot: str
    wait: float
    gather: float
    most: int
    keep: bool

    def ask(self, asked: Asked, cancelled: CancelFlag) -> Told:
        """Raises `Dropped`, soon after the flag is set; `ConfigInvalid` for what will never go."""
        ...


class PlaceChannel:
    """For `get_tools` and `remote_toolset`. A request is sent again if there is no answer: the far
    end carries out a call once, whatever comes twice or late, since a call names the process that
    may begin it. A pickle or copy has how it was made, as `made` says."""

    def __init__(
        self, link: Link, root: str, where: str, made: Callable[[], "PlaceChannel"]
    ) -> None:
        self._link, self._root, self._where, self._made = link, root, where, made
        self._place = link, root
        self._most, self._effects = link.most, dict[str, Effect]()

    def __str__(self) -> str:
        return self._where

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlaceChannel) and self._place == other._place

    def __hash__(self) -> int:
        return hash(self._place)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._made, ()

    def tools(self) -> Sequence[Described]:
        """Raises `NetworkError`; `ConfigInvalid` for what the place does not have, or cannot do."""
        try:
            told = self._finished(Asked(uuid4().hex, "tools"), CancelFlag(), None)
        except _Unknown:
            raise ConfigInvalid(
                f"{self._where} keeps no far end: {ENDS}.",
                hint="keep=False does without: each call starts one, and there are no "
                "background commands, live output or answers above what passes at once.",
            ) from None
        except (Dropped, ValueError) as error:
            raise unreachable(self._where, error) from error
        if isinstance(told, RemoteReply):
            raise ConfigInvalid(f"{self._where} cannot have the tools. {told.text}")
        if not isinstance(told, list):
            raise unreachable(self._where, "the answer is none")
        self._effects = {tool.name: tool.effect for tool in told}
        return told

    def call(self, sending: Sending) -> RemoteReply | Question:
        """Raises `NetworkError`, `OutcomeUnknown`, `Cancelled`, `TooLarge`."""
        try:
            return self._once(sending)
        except _Unknown:
            if not self._effects:  # nobody has asked yet, as for a place that a function returns
                with suppress(ToolError):
                    self.tools()
            if not repeatable(sending, self._effects):
                raise lost(self._where, "it has begun anew since") from None
        try:
            return self._once(sending)
        except _Unknown:
            raise unreachable(self._where, "it ended during the call, twice") from None

    def _once(self, sending: Sending) -> RemoteReply | Question:
        asked = Asked(uuid4().hex, "call", packed_sending(sending))
        cancel = threading.Thread(target=self._cancel, args=(asked,), daemon=True)
        try:
            with sending.cancelled.waking(cancel.start):
                if sending.cancelled.is_set():
                    raise Cancelled("The call was cancelled before it was sent.")
                found = self._finished(asked, sending.cancelled, sending.emit)
            if isinstance(found, list):
                raise ValueError("it is none to a call")
            return found
        except (Dropped, ValueError) as error:
            if sending.cancelled.is_set():
                raise Cancelled("The call was cancelled; the far end may not know.") from error
            unsent = isinstance(error, Dropped) and not error.sent
            told = unreachable if unsent or repeatable(sending, self._effects) else lost
            raise told(self._where, error) from error

    def _finished(
        self, asked: Asked, cancelled: CancelFlag, emit: Callable[[str], None] | None
    ) -> Reply:
        """Raises `Dropped`, `_Unknown`, `ValueError`."""
        asked = replace(
            asked,
            root=self._root,
            gather=self._link.gather if emit else 0.0,
            wait=self._link.wait,
        )
        got = ""
        while True:
            told = self._told(asked, cancelled)
            got += told.piece
            if told.piece:
                self._most = min(self._most * 3 // 2, self._link.most)
            if emit and told.live:
                emit(told.live)
            if told.state == "done" and len(got) >= told.total:
                return unpacked_reply(got)
            if told.total > MOST or (told.state == "done" and not told.piece):
                raise ValueError("it is too large, or has gaps")
            asked = replace(
                asked, task="wait", sent="", boot=told.boot, start=len(got), heard=told.heard
            )

    def _told(self, asked: Asked, cancelled: CancelFlag) -> Told:
        """Raises as `_finished`. No process begins what another one may have begun."""
        last, maybe = None, bool(asked.boot)  # whether it may have begun
        boot = asked.boot or (self._link.boot or NONE if self._link.keep else "")
        for pause in PAUSES:
            time.sleep(pause if last else 0)
            try:
                told = self._tried(replace(asked, boot=boot, most=self._most), cancelled, maybe)
            except Dropped as error:
                last, maybe = error, maybe or error.sent
                boot = boot or (NONE if maybe else "")
                if cancelled.is_set() or (error.cut and not self._link.keep):
                    break
                continue
            self._link.boot = told.boot
            if told.state != "unknown":
                return told
            last, boot = None, told.boot
            if maybe:
                break
        if last is None:
            raise _Unknown
        raise Dropped(last, sent=maybe) from last

    def _tried(self, asked: Asked, cancelled: CancelFlag, maybe: bool) -> Told:
        """Raises `Dropped`; `ConfigInvalid` only where no attempt before may have begun it."""
        try:
            return self._link.ask(asked, cancelled)
        except Dropped as error:
            if error.cut and self._link.keep:
                self._most = max(error.cut // 2, 500)
            raise
        except ConfigInvalid as error:
            if maybe:
                raise Dropped(error) from error
            raise

    def _cancel(self, asked: Asked) -> None:
        with suppress(Dropped, _Unknown, ToolError):  # the call says what becomes of it
            self._told(Asked(asked.key, "cancel"), CancelFlag())


def awaited(answer: "Future[T]", seconds: float, cancelled: CancelFlag, grace: float = GRACE) -> T:
    """Raises `TimeoutError`, for one that is cancelled after `grace` seconds."""
    woken = threading.Event()
    answer.add_done_callback(lambda _: woken.set())
    with cancelled.waking(woken.set):
        if not cancelled.is_set():
            woken.wait(seconds)
    return answer.result(grace if cancelled.is_set() else 0)


def begun(work: Callable[..., T], *given: Any) -> "Future[T]":
    """In a thread of its own, which is left alone: it may never end."""
    answer, context = Future[T](), copy_context()

    def run() -> None:
        try:
            answer.set_result(context.run(work, *given))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return answer


class _Unknown(Exception):
    """The process that may have begun the call is not there any more."""
