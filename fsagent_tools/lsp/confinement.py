"""Starts a language server that reads the project and toolchains, and writes its own directory."""

import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from fsagent_tools.errors import CommandFailed, LanguageServerFailed
from fsagent_tools.policy.programs import Programs, default_toolchain
from fsagent_tools.runtime.shadows import Thread
from fsagent_tools.shell.closed import ClosedPaths
from fsagent_tools.shell.environment import PrivateDirectory
from fsagent_tools.shell.launch import start
from fsagent_tools.shell.profile import Launch, Profile

_PASSED = (  # variables of the host: where things are, never keys
    *("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "JAVA_HOME"),
    *("GOPATH", "GOROOT", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME"),
)
_FIXED = {
    "PYTHONSAFEPATH": "1",  # a server written in Python must not import from the project
    "GOTOOLCHAIN": "local",  # go.mod must not choose a toolchain to download
    "GOFLAGS": "-mod=readonly",
    "CARGO_NET_OFFLINE": "true",
    "RUSTC_WRAPPER": "",  # these take precedence over what settings of the project name
    "RUSTC_WORKSPACE_WRAPPER": "",
}
_SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store", "/proc", "/sys"),
    *("/dev/urandom", "/dev/random"),
    *(f"/etc/{name}" for name in ("ld.so.cache", "ssl", "alternatives", "passwd", "localtime")),
)
_AT_HOME = (  # what toolchains keep in a home directory, without their credentials
    *(".rustup", ".cargo/bin", ".cargo/registry", ".cargo/git", ".cargo/config.toml"),
    *("go/pkg", "go/src", ".local/share/uv", ".local/pipx", ".local/lib", ".m2/repository"),
)
_MAX_STDERR = 2000  # bytes that are kept for the error message
_ENDING = 2.0  # seconds that a process may take from closing its output to its end


@dataclass(frozen=True)
class ServerConfinement:
    """What the servers of one workspace may do.

    programs: those that may be started, none of which lies in the project. survey: finds what the
    policy hides. required: refuse to start where the kernel cannot enforce it.
    """

    programs: Programs
    survey: ClosedPaths
    required: bool = False


class Sandbox:
    """The directory that servers write, and what starts and ends them."""

    def __init__(self, confinement: ServerConfinement) -> None:
        self._confinement = confinement
        self._directory = PrivateDirectory("fsagent-servers-")

    @property
    def path(self) -> str:
        return self._directory.path

    def start(
        self, name: str, command: Sequence[str], root: Path, environment: str
    ) -> "ServerProcess":
        """The server `name` in the project `root`, confined.

        environment: the project's virtual environment of Python, "" for none. Raises
        `LanguageServerFailed`.
        """
        programs = self._confinement.programs
        data = tuple(programs.writable)  # nothing that lies there is started
        outside = [environment] if environment and Path(environment).is_absolute() else []
        readable = (*_readable(name, command, programs), *outside, *data)
        hidden = self._confinement.survey.look().hidden
        required = self._confinement.required
        profile = Profile((self.path,), readable, required=required, hidden=hidden, data=data)
        env = {variable: os.environ[variable] for variable in _PASSED if variable in os.environ}
        env |= _FIXED | dict.fromkeys(("TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME"), self.path)
        env |= {"VIRTUAL_ENV": environment} if environment else {}
        toolchain = default_toolchain()
        rustc = str(toolchain / "bin/rustc") if toolchain else programs.find("rustc")
        env |= {"RUSTUP_TOOLCHAIN": toolchain.name} if toolchain else {}
        env |= {"RUSTC": rustc} if rustc else {}
        launch = Launch([*command], env | {"PATH": programs.path}, str(root), profile=profile)
        return ServerProcess(launch)

    def close(self) -> None:
        self._directory.close()


class ServerProcess:
    """A running server: its standard streams, and the end of what it wrote to its errors."""

    def __init__(self, launch: Launch) -> None:
        program = launch.argv[0]
        self._errors, self._ending, self._ended = deque[bytes](maxlen=8), Lock(), False
        (theirs, stdin), (stdout, out), (stderr, err) = os.pipe(), os.pipe(), os.pipe()
        try:
            self.process = start(launch, (theirs, out, err))
        except CommandFailed as error:
            for ours in (stdin, stdout, stderr):
                os.close(ours)
            raise LanguageServerFailed(
                f"{program} could not be started: {error.message}",
                hint="Check the command in the `servers` setting, or install the server again.",
            ) from None
        finally:
            for given in (theirs, out, err):
                os.close(given)
        self.stdin, self.stdout = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        self._drainer = Thread(target=self._drain, args=(stderr,), name="lsp-errors", daemon=True)
        self._drainer.start()

    def kill(self) -> None:
        """End the process and everything it started. Safe to call twice."""
        with self._ending:
            if not self._ended:
                self._ended = True
                self.process.kill()
                self.process.wait_gone(_ENDING)
                self.process.close()

    def last_words(self) -> str:
        """The end of what it wrote to its standard error, on one line."""
        self._drainer.join(_ENDING)
        text = b"".join(self._errors)[-_MAX_STDERR:].decode(errors="replace")
        return " ".join(text.split())[-300:]

    def _drain(self, stderr: int) -> None:
        with suppress(OSError):
            while block := os.read(stderr, _MAX_STDERR):
                self._errors.append(block)
        os.close(stderr)


def _readable(name: str, command: Sequence[str], programs: Programs) -> Iterator[str]:
    yield from _SYSTEM
    yield from (os.path.realpath(prefix) for prefix in (sys.prefix, sys.base_prefix))
    yield from map(_installation, (*programs.path.split(os.pathsep), *command))
    home = Path.home()
    yield from (str(home / inner) for inner in _AT_HOME)
    yield str(Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config", name))
    for variable in ("GOROOT", "GOPATH", "GOMODCACHE", "RUSTUP_HOME", "JAVA_HOME"):
        yield from filter(os.path.isabs, os.environ.get(variable, "").split(os.pathsep))


def _installation(path: str) -> str:
    """The directory tree that a program, or a directory of programs, was installed as."""
    real = Path(os.path.realpath(path))
    if "node_modules" in real.parts:
        return str(Path(*real.parts[: real.parts.index("node_modules") + 1]))
    folder = real if real.is_dir() else real.parent
    above = folder.parent
    shared = Path.home().is_relative_to(above) or above.name == ".local"
    return str(above if folder.name == "bin" and not shared else folder)
