"""Places for the tests: a provider of sandboxes that may fail, and a server of SSH."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

from tests.conftest import eventually, state

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")


class Provider:
    """Sandboxes of some provider: commands in a real directory. It counts them, as round trips.

    before, after: what the next commands fail with, before they run and once they did; None: with
    nothing. most: characters of an output. lasting: whether what a command started may go on.
    """

    id = "of a test"

    def __init__(self, root, state, *, most=10**9, lasting=True):
        self.root, self.state, self.most, self.lasting = root, state, most, lasting
        self.trips, self.before, self.after = 0, [], []

    def execute(self, command):
        self.trips += 1
        if self.before and (error := self.before.pop(0)):
            raise error
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.root,
            env={"XDG_STATE_HOME": str(self.state), "HOME": str(self.root)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if not self.lasting:
            self.end()
        if self.after and (error := self.after.pop(0)):
            raise error
        output, cut = done.stdout[: self.most], done.stdout[self.most :]
        return SimpleNamespace(output=output, exit_code=done.returncode, truncated=bool(cut))

    def end(self):
        """Kill all that runs there; it has ended then, and takes no more connections."""
        killed = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                words = Path("/proc", process, "cmdline").read_bytes().split(b"\0")
                if any(word.startswith(bytes(self.state)) for word in words):
                    os.kill(int(process), signal.SIGKILL)
                    killed.append(process)
        assert eventually(lambda: not any(map(_has_files, killed)))


def _has_files(process):
    """A thread may have them open after the first one of its process has ended."""
    try:
        return state(process) not in "ZX" or len(os.listdir(f"/proc/{process}/task")) > 1
    except OSError:
        return False


@contextmanager
def sshd(place):
    """Words for `ssh`, by which it reaches a server of this user's own; place: an empty directory.

    What comes in by it has this process's state directory and settings.
    """
    for key in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / key)]
        subprocess.run(words, check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ours = ("FSAGENT_", "XDG_STATE_HOME")
    settings = [f"{name}={value}" for name, value in os.environ.items() if name.startswith(ours)]
    (place / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {place}/host\nPidFile none\n"
        f"AuthorizedKeysFile {place}/user.pub\nStrictModes no\nUsePAM no\n"
        f"SetEnv {' '.join(settings)}\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # which the service makes
    log = (place / "log").open("w")
    with log, subprocess.Popen([SSHD, "-D", "-e", "-f", place / "config"], stderr=log) as server:
        try:
            assert eventually(lambda: "listening" in (place / "log").read_text()), log
            options = ("IdentitiesOnly=yes", "StrictHostKeyChecking=no", "LogLevel=ERROR")
            options += (f"UserKnownHostsFile={place}/known",)
            words = ["-F", "/dev/null", "-p", str(port), "-i", str(place / "user")]
            yield [*words, *(word for option in options for word in ("-o", option))]
        finally:
            server.kill()


FAR = {"python": sys.executable, "idle": 120.0}
