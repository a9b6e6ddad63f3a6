"""The far end: a process at a place, which carries out what comes over its socket."""

import json
import os
import pickle
import socketserver
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from fsagent_tools import Workspace, Workspaces, select_tools, toolset
from fsagent_tools.errors import Cancelled, ConfigInvalid, ToolError
from fsagent_tools.remote import (
    CancelFlag,
    Channel,
    Described,
    LocalChannel,
    Question,
    RemoteReply,
    Sending,
)
from fsagent_tools_places.wire import (
    Asked,
    Settings,
    Told,
    as_json,
    packed_reply,
    read_as,
    unpacked_sending,
)

LIVE = 8000  # characters of live output that wait to be told, the last ones
KNOWN = 2_000  # calls that are carried out no second time
KEPT = 64 << 20  # characters of replies that can be asked for again
LEFT = 86400.0  # seconds after which what was sent and never read is removed
ALONE = 90.0  # seconds after which a call is given up for which nobody asks any more
THREADS = ThreadPoolExecutor(1000)  # for calls, and for those who wait for them
LOOK = 2.0  # seconds between two looks whether there is anything to end


class Call:
    """One that has begun."""

    def __init__(self) -> None:
        self.live, self.heard = "", 0  # the last characters of its output, of so many
        self.reply, self.done = "", False
        self.changed, self.cancelled = threading.Condition(), CancelFlag()
        self.waiting, self.asked = 0, time.monotonic()

    @property
    def size(self) -> int:
        return len(self.reply) + len(self.live)

    def emit(self, text: str) -> None:
        with self.changed:
            self.live = (self.live + text)[-LIVE:]
            self.heard += len(text)
            self.changed.notify_all()

    def end(self, reply: str) -> None:
        with self.changed:
            self.reply, self.done = reply, True
            self.changed.notify_all()

    def told(self, asked: Asked, boot: str) -> Told:
        """As soon as there is something to tell, and after `asked.wait` seconds in any case."""
        begun = time.monotonic()
        with self.changed:
            self.waiting += 1
            self.changed.wait_for(lambda: self.done, asked.gather)
            left = max(begun + asked.wait - time.monotonic(), 0)
            self.changed.wait_for(lambda: self.done or self.heard > asked.heard, left)
            self.waiting, self.asked = self.waiting - 1, time.monotonic()
            new = min(self.heard - asked.heard, len(self.live), asked.most // 2)
            live = self.live[len(self.live) - new :]
            piece = self.reply[asked.start : asked.start + asked.most - new]
            state: Literal["done", "running"] = "done" if self.done else "running"
            return Told(state, boot, live, len(self.reply), piece, self.heard)


class Far:
    """The calls of one process. channel_of: of a directory. Thread-safe."""

    def __init__(self, channel_of: Callable[[str], Channel], idle: float) -> None:
        self._channel_of, self._idle = channel_of, idle
        self._boot = os.urandom(8).hex()
        self._calls: OrderedDict[str, Call] = OrderedDict()
        self._size = 0  # characters of the replies that are kept
        self._heard, self._ending = time.monotonic(), False
        self._lock = threading.Lock()

    def answer(self, line: str | bytes) -> str:
        try:
            told = self._told(read_as(Asked, line))
        except ValueError as error:
            told = Told("refused", self._boot, piece=f"the request cannot be read: {error}")
        return as_json(told)

    def _told(self, asked: Asked) -> Told:
        with self._lock:
            self._heard = time.monotonic()
            call = self._calls.get(asked.key)
            if call is None:
                if self._ending:
                    return Told("ending", self._boot)
                if asked.task == "wait" or asked.boot not in ("", self._boot):
                    return Told("unknown", self._boot)
                call = self._calls[asked.key] = Call()
                if asked.task == "cancel":  # it has come before its call
                    call.end(_refusal(Cancelled("The call was cancelled before it began.")))
                else:
                    THREADS.submit(self._run, call, asked)
        if asked.task == "cancel":
            call.cancelled.set()
        return call.told(asked, self._boot)

    def _run(self, call: Call, asked: Asked) -> None:
        try:
            reply = self._reply(call, asked)
        except ToolError as error:
            reply = _refusal(error)
        except Exception as error:  # noqa: BLE001 - of a callback there, told here
            text = f"Error: {type(error).__name__} at the far end: {error}"
            reply = packed_reply(RemoteReply(text, "INTERNAL_ERROR", {"success": False}))
        call.end(reply)
        self._forget(call)

    def _reply(self, call: Call, asked: Asked) -> str:
        channel = self._channel_of(asked.root)
        if asked.task == "tools":
            return packed_reply(channel.tools())
        sending = unpacked_sending(asked.sent)
        emit = call.emit if asked.gather else None
        return packed_reply(channel.call(replace(sending, emit=emit, cancelled=call.cancelled)))

    def _forget(self, ended: Call) -> None:
        """The oldest replies, beyond so many characters, and the oldest calls, beyond so many."""
        with self._lock:
            self._size += ended.size
            for key, call in [*self._calls.items()]:
                if self._size <= KEPT and len(self._calls) <= KNOWN:
                    break
                if call.done:
                    self._size -= call.size
                    call.reply = call.live = ""
                    if len(self._calls) > KNOWN:
                        del self._calls[key]

    def run_out(self, way: Path) -> None:
        """Until it is idle for long enough, or nobody can reach it any more by this `way`, which is
        removed if it is still its own.

        Calls for which nobody asks are cancelled.
        """
        own = _inode(way)
        while not self._ending:
            time.sleep(min(LOOK, self._idle / 4))
            now, idle = time.monotonic(), self._idle if _inode(way) == own else 0
            with self._lock:
                running = [call for call in self._calls.values() if not call.done]
                self._ending = not running and now - self._heard > idle
            for call in running:
                if not call.waiting and now - call.asked > ALONE:
                    call.cancelled.set()
        if _inode(way) == own:
            way.unlink(missing_ok=True)


def _refusal(error: ToolError) -> str:
    return packed_reply(RemoteReply(f"Error: {error}", error.code, {"success": False}))


def _inode(path: Path) -> int:
    """0 for nothing. One that a socket holds is given to no other file."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128


class _Lines(socketserver.StreamRequestHandler):
    """Requests of one connection, each with a number that its answer has, too."""

    def __init__(self, far: Far, *given: object) -> None:
        self._far, self._turn = far, threading.Lock()
        super().__init__(*given)  # type: ignore[arg-type]

    def handle(self) -> None:
        for line in self.rfile:
            THREADS.submit(self._answer, line)
        # who knocks waits for the answer before it hangs up

    def _answer(self, line: bytes) -> None:
        number, _, asked = line.partition(b" ")
        answer = number + f" {self._far.answer(asked)}\n".encode()
        try:
            with self._turn:
                self.wfile.write(answer)
        except (OSError, ValueError):
            return  # it is asked for again


def main(name: str) -> None:
    """Serve at NAME.sock, beside the package, what NAME.settings says; tell on stdout once it does.

    What is wrong with the settings is told there, as JSON.
    """
    here = Path(__file__).parents[1]
    os.environ.setdefault("PATH", os.defpath)
    os.environ.setdefault("HOME", str(Path("~").expanduser()))
    try:
        served = Served(pickle.loads((here / f"{name}.settings").read_bytes()))
    except (ToolError, ImportError, AttributeError) as error:
        print(json.dumps(str(error)), flush=True)
        return
    far, socket = Far(served.at, served.settings.idle), here / f"{name}.sock"
    os.chdir(here)
    socket.unlink(missing_ok=True)
    server = _Server(socket.name, partial(_Lines, far))
    os.chdir("/")
    print("ready", flush=True)
    os.dup2(2, 1)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    _sweep(here.parent)
    far.run_out(socket)
    time.sleep(LOOK)  # who has connected is told
    served.pool.close()
    os._exit(0)  # waits for no thread


def _sweep(folder: Path) -> None:
    """Requests that were sent in parts, and whose sender or connection was gone before the end."""
    for path in folder.iterdir():
        with suppress(OSError):
            if path.is_file() and time.time() - path.stat().st_mtime > LEFT:
                path.unlink()


class Served:
    """All directories of a place, each as it is configured, in workspaces that calls share."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.pool = Workspaces(lambda seat: seat, self._opened)
        chosen = settings.toolset
        self._chosen = toolset(chosen) if isinstance(chosen, str) else chosen
        if not settings.keep:
            jobs = (one.shown_name for one in self._chosen.entries if one.action_name == "jobs")
            self._chosen = self._chosen.without(*jobs)
        bound = self._chosen.bind(self._opened(Path(os.devnull))).values()
        self._channel = LocalChannel((replace(one, pool=self.pool) for one in bound), verbs=True)

    def at(self, root: str) -> "Rooted":
        """Raises `ConfigInvalid`."""
        real = os.path.realpath(Path(root).expanduser())
        if not Path(real).is_dir():
            raise ConfigInvalid(f"There is no directory {real}.")
        return Rooted(
            lambda: LocalChannel(select_tools(self._opened(Path(real)), self._chosen)).tools(),
            lambda sending: self._channel.call(sending, (real, sending.session)),
        )

    def _opened(self, root: Path) -> Workspace:
        policy = self.settings.policy
        return Workspace.from_config(root, **({"policy": policy} if policy else {}))


@dataclass(frozen=True)
class Rooted:
    """The channel of one directory."""

    tools: Callable[[], Sequence[Described]]
    call: Callable[[Sending], RemoteReply | Question]
