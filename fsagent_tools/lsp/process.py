"""Starts a language server that reads the project and toolchains, and writes one directory."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from fsagent_tools.errors import CommandFailed, LanguageServerFailed
from fsagent_tools.policy.programs import Programs, default_toolchain
from fsagent_tools.runtime.shadows import Thread
from fsagent_tools.shell.closed import ClosedPaths
from fsagent_tools.shell.environment import environment
from fsagent_tools.shell.launch import start
from fsagent_tools.shell.profile import Launch, Profile
from fsagent_tools.shell.reader import libraries

_FIXED = {
    "PYTHONSAFEPATH": "1",  # a server written in Python must not import from the project
    "GOTOOLCHAIN": "local",  # go.mod must not choose a toolchain to download
    "GOFLAGS": "-mod=readonly",
    "CARGO_NET_OFFLINE": "true",
    "RUSTC_WRAPPER": "",  # these take precedence over what settings of the project name
    "RUSTC_WORKSPACE_WRAPPER": "",
}
_PLACES = ("GOROOT", "GOPATH", "GOMODCACHE", "RUSTUP_HOME", "JAVA_HOME", "CONDA_PREFIX")
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/opt", "/proc", "/sys", "/dev/random"),
    *(f"/etc/{name}" for name in ("ssl", "alternatives", "passwd", "localtime")),
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

    Attributes:
        programs: Those that may be started, none of which lies in the project.
        closed: Finds what the policy hides.
        required: Refuse to start where the kernel cannot enforce it.
    """

    programs: Programs
    closed: ClosedPaths
    required: bool = False

    def launch(self, command: Sequence[str], root: Path, writes: str, python: str) -> Launch:
        """A server for the project `root` that writes one directory; python: the virtual
        environment of the project, "" for none.
        """
        data = tuple(self.programs.writable)  # nothing that lies there is started
        toolchain = default_toolchain()
        rustc = str(toolchain / "bin/rustc") if toolchain else self.programs.find("rustc")
        variables = {**_FIXED, "PATH": self.programs.path, "XDG_CACHE_HOME": writes}
        variables |= {"VIRTUAL_ENV": python} if python else {}
        variables |= {"RUSTUP_TOOLCHAIN": toolchain.name} if toolchain else {}
        variables |= {"RUSTC": rustc} if rustc else {}
        profile = Profile(
            (writes,),
            (*_readable(command, self.programs), *filter(os.path.isabs, (python,)), *data),
            required=self.required,
            hidden=self.closed.look().hidden,
            data=data,
        )
        env = environment(("GOMODCACHE",), writes, variables)
        return Launch([*command], env, str(root), profile=profile)


class ServerProcess:
    """A running server: its standard streams, and the end of what it wrote to its errors."""

    def __init__(self, launch: Launch) -> None:
        """Start it. Raises `LanguageServerFailed`."""
        self._tail, self._ending, self._has_ended = b"", Lock(), False
        (theirs, stdin), (stdout, out), (stderr, err) = os.pipe(), os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        self._drainer = Thread(target=self._drain, args=(stderr,), name="lsp-errors", daemon=True)
        self._drainer.start()
        try:
            self._process = start(launch, (theirs, out, err))
        except CommandFailed as error:
            self.stdin.close()
            self.stdout.close()
            raise LanguageServerFailed(
                f"{launch.argv[0]} could not be started: {error.message}",
                hint="Check the command in the `servers` setting, or install the server again.",
            ) from None
        finally:
            for end in (theirs, out, err):
                os.close(end)

    def kill(self) -> None:
        """End the process and everything it started. Safe to call twice."""
        with self._ending:
            if not self._has_ended:
                self._has_ended = True
                self._process.kill()
                self._process.wait_gone(_ENDING)
                self._process.close()

    def last_words(self) -> str:
        """The end of what it wrote to its standard error, on one line."""
        self._drainer.join(_ENDING)
        return " ".join(self._tail.decode(errors="replace").split())[-300:]

    def _drain(self, stderr: int) -> None:
        with suppress(OSError):
            while block := os.read(stderr, _MAX_STDERR):
                self._tail = (self._tail + block)[-_MAX_STDERR:]
        os.close(stderr)


def _readable(command: Sequence[str], programs: Programs) -> Iterator[str]:
    home = Path.home()
    yield from (*libraries(), *_SYSTEM)
    yield from map(_installation, (*programs.path.split(os.pathsep), *command))
    yield from (str(home / inner) for inner in _AT_HOME)
    yield str(Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config", Path(command[0]).name))
    for variable in _PLACES:
        yield from filter(os.path.isabs, os.environ.get(variable, "").split(os.pathsep))


def _installation(path: str) -> str:
    """The directory tree that a program, or a directory of programs, was installed as."""
    real = Path(os.path.realpath(path))
    if "node_modules" in real.parts:
        return str(Path(*real.parts[: real.parts.index("node_modules") + 1]))
    folder = real if real.is_dir() else real.parent
    above = folder.parent
    is_shared = Path.home().is_relative_to(above) or above.name == ".local"
    return str(above if folder.name == "bin" and not is_shared else folder)
