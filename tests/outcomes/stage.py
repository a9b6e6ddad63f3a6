"""Plays one scenario on a fresh directory, and notes what a host, a model and the disk see."""

import difflib
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fsagent_tools import Outcome, Workspace, toolset

LONG = 2000  # characters of a file or text; what is longer is noted by its hash and what changed
CACHES = (".ai",)  # kept by the tools themselves, in a form that is nobody's business
OLD = 1_700_000_000  # seconds; what a scenario begins with was changed then, the first file last
TIMES = {"mtime", "modified", "created", "started", "duration"}
MACHINES = {"sandbox"}  # how strongly this machine can confine
_BLANKED = [  # times, sizes and chance names in texts, and what stands for them
    (re.compile(r"/tmp/fsagent-\w+/output-\w+\.txt"), "$OUTPUT"),
    (re.compile(r"\bend [0-9a-f]{6}\b"), "end $FENCE"),
    (re.compile(r"\b1[6-9]\d{8}(\.\d+)?\b"), "$TIME"),
    (re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"), "$TIME"),
    (re.compile(r"\d+ bytes so far"), "$N bytes so far"),
    (re.compile(r"\b(sleep|nohup|setsid|bash) \(\d+\)"), "$PROCESS"),  # before or after its exec
    (re.compile(r"directory, [\d,]+ bytes"), "directory, $SIZE bytes"),
    (re.compile(r"(running|done|stopped|exit code \d+)(\)?,) \d+ s\b"), r"\1\2 $N s"),
]


@dataclass(frozen=True)
class Scenario:
    """Something to play. `needs`: programs or packages without which it is skipped."""

    id: str
    play: Callable[["Stage"], None]
    needs: frozenset[str] = frozenset()


@dataclass
class Stage:
    """A root with a place outside beside it; the tools of one session in it; notes of all calls."""

    folder: Path
    steps: list[dict[str, Any]] = field(default_factory=list)
    ports: set[int] = field(default_factory=set)
    closing: ExitStack = field(default_factory=ExitStack)
    began: dict[str, tuple[str, bytes]] | None = None

    @property
    def root(self) -> Path:
        return self.folder / "ws"

    def file(self, path: str, content: str | bytes = "", mode: int | None = None) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            target.chmod(mode)

    def open(self, name: str, **options: Any) -> None:
        """Start a session with this toolset on what is there now."""
        self.begin()
        self.workspace = Workspace(self.root, **options)
        self.closing.callback(self.workspace.close)
        self.name, self.tools = name, toolset(name).bind(self.workspace)

    def begin(self) -> None:
        """From here on, what differs is what the tools did."""
        if self.began is None:
            age(self.folder)
            self.began = tree(self.folder)

    def call(self, tool: str, arguments: Any, **hidden: Any) -> Outcome:
        outcome = self.tools[tool].call(arguments, **hidden)
        self.note(outcome, call={tool: arguments, **({"hidden": hidden} if hidden else {})})
        return outcome

    def note(self, outcome: Outcome, **about: Any) -> None:
        blocks = [[b.kind, b.mime_type, shortened(b.data)] for b in outcome.blocks]
        told = {"text": outcome.text, "code": outcome.code, "dict": outcome.to_dict()}
        step = self._plain({**about, **told, **({"blocks": blocks} if blocks else {})})
        if "kill -9" not in str(about):  # else SIGTERM was too slow, as the machine is busy
            text = json.dumps(step).replace("137: SIGKILL", "143: SIGTERM")
            step = json.loads(text.replace('"exit_code": 137', '"exit_code": 143'))
        self.steps.append(step)

    def ids(self, path: str) -> list[str]:
        """The ID of every line, as it is sent back; read in as many windows as it takes."""
        found, outcome = list[str](), None
        while outcome is None or outcome.data.get("truncated"):
            window = {"offset": len(found) + 1} if found else {}
            outcome = self.call("read", {"file_path": path, **window})
            if not (ids := self.sent_back(outcome)):
                break
            found += ids
        return found

    def sent_back(self, outcome: Outcome) -> list[str]:
        """In `lines` an ID has the first two words of its line behind it, a blank line none: ""."""
        found = []
        for line in outcome.text.split("\n")[: outcome.data.get("line_count", 0)]:
            shown = re.match(r"(?:\[LID:)?([a-z0-9]+)(?:\] ?|\t)(.*)$", line)
            words = " ".join(shown[2].split()[:2]) if shown and self.name == "lines" else ""
            found.append(f"{shown[1]} {words}".strip() if shown else "")
        return found

    def record(self) -> dict[str, Any]:
        self.begin()
        return {"steps": self.steps, "tree": self._plain(self._left())}

    def _left(self) -> dict[str, Any]:
        """What the tools left behind: "=" for a file as it was, what changed for all others."""
        now, before = tree(self.folder), self.began or {}
        gone = {path: "gone" for path in before if path not in now}
        return gone | {
            path: "=" if before.get(path) == entry else described(entry, before.get(path))
            for path, entry in now.items()
        }

    def _plain(self, value: Any, key: str = "", text: str = "") -> Any:
        """Without what differs from run to run or between machines."""
        if isinstance(value, dict):
            text = value.get("text", text)
            if value.get("type") == "directory":
                value = {k: "$SIZE" if k.startswith("size") else v for k, v in value.items()}
            return {
                self._plain(str(k)): self._plain(v, str(k), "" if k == "text" else text)
                for k, v in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._plain(each, key, text) for each in value]
        if isinstance(value, float | int) and not isinstance(value, bool) and key in TIMES:
            return "$TIME"
        if not isinstance(value, str):
            return value if value is None or isinstance(value, bool | int | float) else repr(value)
        if key in MACHINES:
            return f"${key.upper()}"
        if text and value in (text, text.removeprefix("Error: ")):
            return "$TEXT"
        for folder in {str(self.folder), os.path.realpath(self.folder)}:
            value = value.replace(folder, "$TMP")
        value = value.replace(self.folder.name, "$TMPNAME")
        for port in self.ports:
            value = re.sub(rf"\b{port}\b", "$PORT", value)
        for pattern, instead in _BLANKED:
            value = pattern.sub(instead, value)
        return shortened(value)


def shortened(text: str) -> str:
    if len(text) <= 3 * LONG:
        return text
    whole = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
    return f"{text[:LONG]}\n[{len(text)} characters, sha256 {whole}]\n{text[-LONG:]}"


def age(folder: Path) -> None:
    """Of the setup: nothing is so young that its stamps are not trusted, and the order is sure."""
    paths = sorted(folder.rglob("*"), reverse=True)
    for number, path in enumerate(paths):
        with suppress(OSError):
            os.utime(path, (OLD + number, OLD + number), follow_symlinks=False)


def tree(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Every entry below: mode and content."""
    found = {}
    for top, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in CACHES)
        for name in [*folders, *files]:
            path = Path(top, name)
            status = path.lstat()
            content = b""
            if stat.S_ISLNK(status.st_mode):
                content = os.fsencode(os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                content = path.read_bytes()
            found[str(path.relative_to(folder))] = f"{status.st_mode:o}", content
    return dict(sorted(found.items()))


def described(entry: tuple[str, bytes], before: tuple[str, bytes] | None) -> list[Any]:
    mode, content = entry
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return [mode, {"hex": shortened(content.hex())}]
    if len(text) <= LONG or not before:
        return [mode, shortened(text)]
    old = before[1].decode(errors="replace").splitlines()
    diff = list(difflib.unified_diff(old, text.splitlines(), lineterm="", n=1))[2:]
    return [mode, {"sha256": hashlib.sha256(content).hexdigest(), "diff": diff}]


def play(scenario: Scenario) -> dict[str, Any]:
    """The record of the scenario."""
    folder, mask = Path(tempfile.mkdtemp(prefix="net-")), os.umask(0o022)
    stage = Stage(folder)
    try:
        (folder / "ws").mkdir()
        with stage.closing:
            scenario.play(stage)
        return {"id": scenario.id, **stage.record()}
    finally:
        os.umask(mask)
        shutil.rmtree(folder, ignore_errors=True)
