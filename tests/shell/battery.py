"""Everyday commands, run bare and through `bash`, and how often both say the same.

`python -m tests.shell.battery LEVEL...` prints the figures and what differs; as another user with
an interpreter, and programs on PATH, that this user may read.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.policy import ProcessPolicy
from fsagent_tools.shell import bubblewrap

LEVELS = ("default", "developer", "landlock")
SHORT = ("look", "text", "streams", "tmp")  # sections that need nothing but a shell
_PATIENCE = 60
_FOLDER = Path(__file__).parent
_HOST = {"DATABASE_URL": "postgres://battery", "MY_FLAG": "1"}  # what a user's shell has set
_NOTE = re.compile(r"\n?\[exit code [^\]]*\]\Z")
_VARIES = re.compile(
    r"\b[0-9a-f]{7,40}\b|\b\d{4}-\d\d-\d\d\b|\b\d\d:\d\d(?::\d\d)?\b|\b[\d.]+ ?m?s\b"
    r"|line \d+: +\d+|\(\d+\)|0x[0-9a-f]+|\[\d+\] \d+|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w+ \d+"
)


@dataclass
class Case:
    """reasons: level -> why its exit code may differ there from that of a bare shell."""

    section: str
    command: str
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Said:
    code: int | None
    text: str


def cases(sections: tuple[str, ...] = (), name: str = "battery.txt") -> list[Case]:
    """Those whose programs are installed, of the file `name`."""
    found = list[Case]()
    section, runs = "", True
    for line in (_FOLDER / name).read_text().splitlines():
        if line.startswith("== "):
            section, _, needs = line[3:].partition(": ")
            runs = all(map(shutil.which, needs.split())) and (not sections or section in sections)
        elif line.startswith("#~ "):
            levels, _, why = line[3:].partition(": ")
            if runs:
                found[-1].reasons = dict.fromkeys(levels.split(), why)
        elif runs:
            found.append(Case(section, line))
    return found


def bare(listed: list[Case]) -> list[Said]:
    with _place() as (root, home, temp):
        env = {name: os.environ[name] for name in ("PATH", "LANG", "RUSTUP_HOME")}
        env |= {"HOME": home, "TERM": "dumb", "TMPDIR": temp, "USER": "root", **_HOST}
        return [_bare(_filled(case, root), _folder(root, case), env, root) for case in listed]


def _bare(command: str, folder: str, env: dict[str, str], root: str) -> Said:
    with tempfile.TemporaryFile() as file:
        started = subprocess.Popen(
            ["bash", "-c", command],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
        code: int | None = None
        with suppress(subprocess.TimeoutExpired):
            code = started.wait(_PATIENCE)
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        file.seek(0)
        text = file.read().decode(errors="replace")
    return Said(code if code is None or code >= 0 else 128 - code, _settled(text, root, env))


_found = bubblewrap.find_bwrap


def _none(_: object = None) -> None:
    return None


def confined(listed: list[Case], level: str) -> list[Said]:
    process = ProcessPolicy.developer() if level == "developer" else ProcessPolicy()
    with (
        _place() as (root, home, temp),
        mock.patch.object(bubblewrap, "find_bwrap", _none if level == "landlock" else _found),
        closing(Workspace(root, policy=Policy(process=process))) as workspace,
    ):
        tool, said = toolset("workspace").bind(workspace)["bash"], list[Said]()
        for case in listed:
            place = os.path.relpath(_folder(root, case), root)
            asked = {"command": _filled(case, root), "timeout": _PATIENCE, "working_dir": place}
            out = tool.call(asked)
            text = _settled(out.text, root, {"TMPDIR": temp, "HOME": home})
            said.append(Said((out.data or {}).get("exit_code"), text))
        return said


def _filled(case: Case, root: str) -> str:
    number = sum(map(ord, root)) % 10_000
    return case.command.replace("@T", Path(root).parent.name).replace("@P", str(20_000 + number))


def _folder(root: str, case: Case) -> str:
    folder = os.path.join(root, case.section)
    os.makedirs(folder, exist_ok=True)
    return folder


def _settled(text: str, root: str, env: dict[str, str]) -> str:
    """Without what differs from run to run."""
    text = _NOTE.sub("", text)
    for path, name in ((root, "@W"), (env["HOME"], "@H"), (env["TMPDIR"], "@TMP")):
        text = text.replace(path, name)
    text = text.replace(Path(root).parent.name, "@T")
    text = re.sub(r"/tmp/fsagent-\w+", "@TMP", text).replace("/bin/bash: ", "bash: ")
    return _VARIES.sub("~", text).strip()


@contextmanager
def _place() -> Iterator[tuple[str, str, str]]:
    """A root, a home with an identity for git, a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="battery", dir=_beside_temporary()) as place:
        root, home, temp = (os.path.join(place, name) for name in ("ws", "home", "tmp"))
        for path in (root, home, temp):
            os.mkdir(path)
        Path(home, ".gitconfig").write_text(
            "[user]\nname = ann\nemail = a@b.example\n[init]\ndefaultBranch = main\n"
        )
        rust = os.environ.get("RUSTUP_HOME") or os.path.expanduser("~/.rustup")
        own = {"HOME": home, "LANG": "C.UTF-8", "RUSTUP_HOME": rust, **_HOST}
        with mock.patch.dict(os.environ, own):
            os.environ.pop("CARGO_HOME", None)
            yield root, home, temp


def _beside_temporary() -> str:
    """Not below /tmp, which commands have for themselves."""
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~")


def report(levels: tuple[str, ...]) -> Iterator[str]:
    listed = cases()
    plain = bare(listed)
    for level in levels:
        pairs = list(zip(listed, plain, confined(listed, level), strict=True))
        codes = [pair for pair in pairs if pair[1].code != pair[2].code]
        texts = [pair for pair in pairs if pair[1] != pair[2]]
        total = len(pairs)
        yield (
            f"{level}: {total} commands, exit codes that differ {len(codes)} "
            f"({len(codes) / total:.1%}), same text and code {1 - len(texts) / total:.1%}"
        )
        for case, one, other in texts:
            mark = "CODE" if one.code != other.code else "text"
            yield f"  {mark} [{case.section}] {case.command[:150]}"
            for name, said in (("bare", one), ("ours", other)):
                yield f"     {name} {said.code} {said.text[-300:]!r}"


if __name__ == "__main__":
    for line in report(tuple(sys.argv[1:]) or LEVELS):
        sys.stdout.write(f"{line}\n")
