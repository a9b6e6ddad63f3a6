"""The far end on a machine that SSH reaches: one connection, over which all calls go."""

import os
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import count
from typing import IO, Any, Unpack
from uuid import uuid4

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.remote import CancelFlag
from fsagent_tools_places.channel import Dropped, PlaceChannel, awaited
from fsagent_tools_places.sandbox import SETTLING, Commands, FarOptions
from fsagent_tools_places.wire import MOST

OPTIONS = ("BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=15")
OURS = [word for option in OPTIONS for word in ("-o", option)]  # after the user's, which count
AT_HAND = 64  # connections of a process on which nobody waits
_GATHER = 0.02


class Stream:
    """One process of ssh: requests go in and answers come out as lines, each with a number."""

    def __init__(self, argv: Sequence[str]) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as this
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,  # an interrupt at the terminal is not for it
        )
        self.owner, self._numbers = os.getpid(), count(1)
        self._waiting: dict[int, Future[bytes]] = {}
        self._turn = threading.Lock()
        reader = (self._process, self._waiting)
        threading.Thread(target=_read, args=reader, daemon=True).start()
        self.close = weakref.finalize(self, _end, self._process, self.errors, self.owner)

    @property
    def alive(self) -> bool:
        return self.owner == os.getpid() and self._process.poll() is None

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def rests(self) -> bool:
        """Whether it has ended, since nobody waits for an answer."""
        if self._waiting and self.alive:
            return False
        self.close()
        return True

    def ask(self, line: str, seconds: float, cancelled: CancelFlag) -> bytes:
        """Raises `Dropped`."""
        number, answer = next(self._numbers), Future[bytes]()
        self._waiting[number] = answer
        _rest_others(self)
        try:
            to: Any = self._process.stdin
            with self._turn:
                to.write(f"{number} {line}\n".encode())
                to.flush()
            return awaited(answer, seconds, cancelled)
        except (OSError, ValueError) as error:  # one that rests has closed files
            if not cancelled.is_set():
                self.end()
            unsent = isinstance(error, ValueError)
            raise Dropped(self._said() or type(error).__name__, sent=not unsent) from error
        finally:
            self._waiting.pop(number, None)

    def _said(self) -> str:
        if self.errors.closed:
            return ""
        self.errors.seek(0)
        return self.errors.read()[-300:].decode(errors="replace").strip().replace("\n", " ")


_streams = dict[int, "weakref.ref[Stream]"]()  # in the order of their last use


def _rest_others(stream: Stream) -> None:
    """What was used longest ago ends, beyond so many; its link makes another when it needs one."""
    _streams.pop(id(stream), None)
    _streams[id(stream)] = weakref.ref(stream)
    for key in [*_streams][:-AT_HAND]:
        other = _streams.get(key, lambda: None)()
        if other is None or other.rests():
            _streams.pop(key, None)


def _read(process: "subprocess.Popen[bytes]", waiting: dict[int, "Future[bytes]"]) -> None:
    out: Any = process.stdout
    with suppress(OSError, ValueError):
        while (line := out.readline(2 * MOST)).endswith(b"\n"):
            number, _, answer = line.partition(b" ")
            if line.startswith(b"fsagent{"):  # it does not start, for whoever waits
                for waiter in _all(waiting):
                    waiter.set_result(line.removeprefix(b"fsagent"))
            elif number.isdigit() and (found := waiting.pop(int(number), None)):
                found.set_result(answer)
    process.kill()
    process.wait()
    out.close()
    for waiter in _all(waiting):
        waiter.set_exception(ConnectionError("the connection ended"))


def _all(waiting: dict[int, "Future[bytes]"]) -> Iterator["Future[bytes]"]:
    """Those that nobody has answered yet; each is given once."""
    taken = (waiting.pop(number, None) for number in [*waiting])
    return filter(None, taken)


def _end(process: "subprocess.Popen[bytes]", errors: IO[bytes], owner: int) -> None:
    to: Any = process.stdin
    if os.getpid() != owner:
        to.raw.close()  # what is still to be sent is the other process's, and its thread has a lock
        return
    errors.close()
    process.kill()
    with suppress(OSError):
        to.close()


_links = dict[tuple[str, ...], "SshLink"]()  # in the order of their last use
_sharing = threading.Lock()


def _forget() -> None:
    """A forked child has no thread that would give the lock back, and no use for connections."""
    global _sharing
    _sharing = threading.Lock()
    for stream in filter(None, (kept() for kept in _streams.values())):
        stream.close()
    _streams.clear()


os.register_at_fork(after_in_child=_forget)


class SshLink(Commands):
    """Commands only until the far end is there, which serves all directories of its host."""

    def __init__(self, argv: Sequence[str], *given: Any, **options: Unpack[FarOptions]) -> None:
        super().__init__(self._over_ssh, *given, **options)
        self.gather, self.most = _GATHER, MOST
        self._argv = argv

    def shared(self) -> "SshLink":
        """One for all users of the host that want the same, this one for the first of them."""
        key = (*self._argv, self._python, str(self._named), self._settings)
        with _sharing:
            link = _links.pop(key, self)
            _links[key] = link
            for oldest in [*_links][:-AT_HAND]:
                del _links[oldest]
        return link

    def _brought(self, way: Stream, *request: Any) -> bytes:
        return way.ask(*request)

    def _made(self) -> Stream:
        return Stream([*self._argv, super()._made()])

    def _lasts(self, way: "Future[Any]") -> bool:
        return super()._lasts(way) and way.result().alive

    def _put(self, text: str) -> str:
        key = uuid4().hex
        self._write("cat", key, 0, partial(self._over_ssh, given=text.encode()))
        return f"{key}.1"

    def _over_ssh(self, command: str, given: bytes = b"") -> tuple[str, int | None]:
        done = subprocess.run(
            [*self._argv, command], input=given, capture_output=True, timeout=SETTLING, check=False
        )
        if done.returncode == 255:
            raise Dropped(done.stderr.decode(errors="replace").strip(), sent=False)
        return (done.stdout + done.stderr).decode(errors="replace"), done.returncode


class SshChannel(PlaceChannel):
    """Our tools on another machine, over one connection of the OpenSSH client for all directories.

    Keys, jump hosts and known hosts are those of its configuration; it asks for no password. This
    package is sent there once, and gets what it needs there by pip. Calls outlast the connection,
    which is made again.

    Args:
        host: As `ssh` takes it: a name of its configuration, or user@host.
        root: The directory of the project, there.
        ssh: Further words for the client, such as ["-p", "2222"].
        **options: Those of `FarOptions`.

    Raises:
        ConfigInvalid: When tools are made, for what the place lacks.
    """

    def __init__(
        self, host: str, root: str, *, ssh: Sequence[str] = (), **options: Unpack[FarOptions]
    ) -> None:
        if not host or host.startswith("-"):
            raise ConfigInvalid(f"{host!r} is no host.")
        link = SshLink(["ssh", "-T", *ssh, *OURS, host], f"The host {host}", **options)
        made = partial(type(self), host, root, ssh=ssh, **options)
        super().__init__(link.shared(), root, f"{root} at {host}", made)
