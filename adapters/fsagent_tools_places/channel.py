"""Calls to the far end at a place, whatever carries them there."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol
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
ENDS = "a process does not outlive its command there"


class Dropped(Exception):
    """No answer came; the request may have arrived all the same.

    cut: characters that did come of one that was cut off; 0: none. sent: whether it may have.
    """

    def __init__(self, why: object, *, cut: int = 0, sent: bool = True) -> None:
        super().__init__(str(why).partition("\n")[0][:300].rstrip(". "))
        self.cut, self.sent = cut, sent


class Link(Protocol):
    """A way to the far end, which it starts if need be. Thread-safe.

    wait: seconds that a request may take; gather: those in which live output is gathered. most:
    characters of an answer that pass at once.
    """

    where: str
    wait: float
    gather: float
    most: int
    keep: bool

    def ask(self, asked: Asked) -> Told:
        """Raises `Dropped`, and `ConfigInvalid` for what will never go."""
        ...


class PlaceChannel:
    """For `get_tools` and `remote_toolset`. A request is sent again if there is no answer: the far
    end carries out a call once, whatever comes twice, and knows whether it is the same process."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._boot, self._reading = "", frozenset[str]()

    def __str__(self) -> str:
        return self._link.where

    def tools(self) -> Sequence[Described]:
        """Raises `NetworkError`; `ConfigInvalid` for what the place does not have, or cannot do."""
        asked = Asked(uuid4().hex, "tools")
        try:
            told = self._finished(asked, CancelFlag(), None)
            again = replace(asked, task="wait", most=1, boot=self._boot)
            if self._link.keep and self._told(again).state == "unknown":
                raise ConfigInvalid(
                    f"{self._link.where} keeps no far end: {ENDS}.",
                    hint="keep=False does without: each call starts one, and there are no "
                    "background commands, live output or answers above what passes at once.",
                )
        except (Dropped, ValueError) as error:
            raise unreachable(self._link.where, error) from error
        if not isinstance(told, list):
            raise unreachable(self._link.where, "the answer is none")
        self._reading = frozenset(tool.name for tool in told if tool.effect is Effect.READ)
        return told

    def call(self, sending: Sending) -> RemoteReply | Question:
        """Raises `NetworkError`, `OutcomeUnknown`, `Cancelled`."""
        reads = sending.ask or sending.name in self._reading
        while True:
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
            except _Unknown:
                if not (reads or self._reads(sending.name)):
                    raise lost(self._link.where, "it has begun anew since") from None
            except (Dropped, ValueError) as error:
                raise self._failed(error, sending, reads=reads) from error

    def _reads(self, name: str) -> bool:
        """Where nobody has asked for the tools yet, as for a place that a function returns."""
        if not self._reading:
            with suppress(ToolError):
                self.tools()
        return name in self._reading

    def _failed(self, error: Exception, sending: Sending, *, reads: bool) -> ToolError:
        if sending.cancelled.is_set():
            return Cancelled("The call was cancelled; the far end may not know.")
        unsent = isinstance(error, Dropped) and not error.sent
        return (unreachable if reads or unsent else lost)(self._link.where, error)

    def _finished(
        self, asked: Asked, cancelled: CancelFlag, emit: Callable[[str], None] | None
    ) -> Reply:
        """Raises `Dropped`, `_Unknown`, `ValueError`."""
        gather = self._link.gather if emit else 0.0
        asked = replace(asked, gather=gather, wait=self._link.wait, most=self._link.most)
        got = ""
        while True:
            told = self._told(asked)
            if told.state == "unknown":
                raise _Unknown
            got += told.piece
            if emit and told.live:
                emit(told.live)
            if told.state == "done" and len(got) >= told.total:
                return unpacked_reply(got)
            if told.total > MOST or (told.state == "done" and not told.piece):
                raise ValueError("it is too large, or has gaps")
            asked = replace(
                asked,
                task="wait",
                sent="",
                boot=told.boot,
                start=len(got),
                heard=asked.heard + len(told.live),
                most=self._link.most,
            )

    def _told(self, asked: Asked) -> Told:
        """What was cut off is asked for in smaller pieces."""
        maybe = False  # whether an attempt may have begun it
        for pause in PAUSES:
            if pause:
                time.sleep(pause)
            try:
                told = self._link.ask(asked)
            except Dropped as error:
                last = error
                maybe = maybe or error.sent
                if error.cut and self._link.keep:
                    self._link.most = max(error.cut // 2, 500)
                asked = replace(asked, most=min(asked.most, self._link.most))
                if maybe and not asked.boot:
                    asked = replace(asked, boot=self._boot or "?")
                continue
            if told.state == "refused":
                raise ConfigInvalid(f"{self._link.where} says: {told.piece}")
            if told.state != "ending":
                self._boot = told.boot
                return told
            last = Dropped("it is about to end", sent=maybe)
        last.sent = maybe
        raise last

    def _cancel(self, asked: Asked) -> None:
        try:
            self._told(Asked(asked.key, "cancel"))
        except (Dropped, ToolError):
            return  # the call says what becomes of it


class _Unknown(Exception):
    """The process that may have begun the call is not there any more."""
