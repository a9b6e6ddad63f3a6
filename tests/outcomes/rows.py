"""The project's own conformance rows, as scenarios for every toolset that can say them."""

import difflib
import json
import socket
from collections.abc import Iterator
from functools import partial
from typing import Any

from fsagent_tools.errors import ToolError
from tests.conformance.battery import Case, Unsupported
from tests.conformance.rows import OWN
from tests.conformance.test_line_edits import change
from tests.conformance.test_web_battery import routes
from tests.outcomes.spelling import SPELLINGS, spelled
from tests.outcomes.stage import Scenario, Stage
from tests.web.site import Resolver, serve

TOOLSETS = (
    "workspace", "line_ids", "compact", "file_ops", "filesystem", "lines", "readonly", "openai",
    "anthropic", "deepagents", "refactor",
)  # fmt: skip
BY_ID = ("workspace", "line_ids", "lines")
NEEDS = {"bash": {"bash", "bwrap"}, "grep": {"rg"}, "glob": {"rg"}, "webfetch": {"lxml"}}
TOUCHING = ("read", "write", "ls", "stat", "insert", "mkdir", "rm", "mv", "cp", "glob", "grep")
UNRECORDED = {  # rows whose answer depends on the machine
    "own-bash-06": "the whole environment",
    "own-faults-00": "what a dead run left is removed at the side, sooner or later",
}
Row = dict[str, Any]


def own(name: str) -> list[Row]:
    text = (OWN / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def scenarios(toolset: str) -> Iterator[Scenario]:
    """Of every kind of row, what this toolset can say."""
    for kind, found in KINDS.items():
        for row, play, verb in found(toolset):
            needs = frozenset(NEEDS.get(verb, ()))
            yield Scenario(f"{toolset}/{kind}/{row['id']}", partial(play, toolset, row), needs)


# The battery


class Spelled:
    """The tool that a row means, told in the words of a toolset."""

    def __init__(self, case: "Played", verb: str) -> None:
        self.case, self.verb = case, verb

    def call(self, arguments: Any) -> Any:
        raw = not isinstance(arguments, dict)
        found = spelled(self.case.toolset, self.verb, {} if raw else arguments)
        if found is None:
            raise Unsupported(f"{self.case.toolset} has no {self.verb}")
        tool, words = found
        return self.case.stage.call(tool, arguments if raw else words, **self.case.hidden)


class Played(Case):
    """A row of the battery whose calls are noted on a stage."""

    hidden: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, row: Row, stage: Stage, toolset: str) -> None:
        stage.root.rmdir()
        super().__init__(row, stage.folder, toolset)
        self.stage, self.site = stage, None

    def perform(self, call: Row) -> None:
        if not hasattr(self.stage, "tools"):
            self.stage.closing.callback(self.close)
            try:
                self.workspace.close()
                options = {"policy": self.workspace.policy}
                self.stage.open(self.toolset, **options)
            except ToolError as error:  # a policy that names tools which this toolset has not
                self.stage.steps.append({"refused": f"{error.code}: {error}"})
                return
        super().perform(call)

    def tool(self, action: str, args: Any = ()) -> Spelled:
        return Spelled(self, "edit_lines" if action == "edit" and "changes" in args else action)

    def note_ids(self, path: str, out: Any) -> None:
        if self.toolset in BY_ID:
            self.ids[path] = self.stage.sent_back(out)

    def line_id(self, path: str, number: int) -> str:
        if path not in self.ids:
            self.ids[path] = self.stage.ids(path)
        return self.ids[path][number - 1]

    def filled(self, value: Any) -> Any:
        if isinstance(value, str) and self.site:
            value = value.replace("$PORT", str(self.site.port))
        return super().filled(value)

    def make_server(self, _: Any, __: Any) -> None:
        self.site = site = self.closing.enter_context(serve())
        site.routes.update(routes(site.port))
        self.stage.ports.add(site.port)
        self.resolver = Resolver()
        self.closing.callback(setattr, socket, "getaddrinfo", socket.getaddrinfo)
        socket.getaddrinfo = self.resolver.getaddrinfo
        slow = any(code == "TIMEOUT" for code in self.expect.get("code_any", ()))
        self.hidden = {"timeout": 1} if slow else {}

    def make_resolver(self, names: dict[str, Any], _: Any) -> None:
        for name, answers in names.items():
            allowed = answers == "allowed-test-address"
            self.resolver.names[name] = ["127.0.0.1"] if allowed else list(answers)
            if allowed:
                self.policy["allow_hosts"] = [f"{name}:{self.site.port}"]


def battery(toolset: str) -> Iterator[tuple[Row, Any, str]]:
    for row in own("battery"):
        verbs = {*asked(row["call"])}
        if verbs <= {*SPELLINGS[toolset]} and row["id"] not in UNRECORDED:
            yield row, play_battery, next((v for v in verbs if v in NEEDS), "")


def asked(call: Row) -> Iterator[str]:
    """The verbs of a call; text that is no JSON goes to a read."""
    if "action" in call:
        by_id = call["action"] == "edit" and "changes" in call["args"]
        yield "edit_lines" if by_id else call["action"]
    if "raw" in call:
        yield "read"
    for step in call.get("sequence", ()):
        yield from asked(step)


def play_battery(toolset: str, row: Row, stage: Stage) -> None:
    case = Played(row, stage, toolset)
    try:
        case.run()
    finally:
        case.close()
    if not stage.steps:  # the policy itself was refused
        stage.note(case.outcomes[-1])


# Edits


def quoted(toolset: str) -> Iterator[tuple[Row, Any, str]]:
    for name in ("edit_cases", "multi_edit_cases"):
        for row in own(name):
            if "edit" in SPELLINGS[toolset]:
                yield row, play_quotes, ""
            elif row["original"] and row["expect_kind"] == "result":
                if toolset in BY_ID:
                    yield row, play_difference, ""
                elif "patch" in SPELLINGS[toolset]:
                    yield row, play_patch, ""


def play_quotes(toolset: str, row: Row, stage: Stage) -> None:
    if row["original"] is not None:
        stage.file("a.txt", row["original"])
    stage.open(toolset)
    if toolset == "compact":  # which edits what was read
        stage.call("Read", {"file_path": "a.txt"})
    for one in row.get("edits", [row]):
        every = bool(one.get("replace_all"))
        verb = "edit_all" if every and "edit_all" in SPELLINGS[toolset] else "edit"
        hidden = {"replace_all": True} if every and toolset == "compact" else {}
        words = {"old_string": one["old_string"], "new_string": one["new_string"]}
        tool, arguments = spelled(toolset, verb, {"file_path": "a.txt", **words})
        stage.call(tool, arguments, **hidden)


def play_difference(toolset: str, row: Row, stage: Stage) -> None:
    """The row's result, reached by IDs: one change a hunk."""
    stage.file("a.txt", row["original"])
    stage.open(toolset)
    by_hunks(stage, row["original"], row["expect"])


def by_hunks(stage: Stage, before: str, after: str) -> None:
    """A hunk whose end has no ID, as it is blank, takes in the next line."""
    ids = stage.ids("a.txt")
    old, new = before.splitlines(), after.splitlines()
    changes = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if tag == "insert" and i and ids[i - 1]:
            place = {"after_line_id": ids[i - 1]}
        elif tag == "insert" and not i and ids[0]:
            place = {"before_line_id": ids[0]}
        else:
            while i and (i == j or not ids[i]):
                i, k = i - 1, k - 1
            while j < len(ids) and not ids[j - 1]:
                j, m = j + 1, m + 1
            place = {"start_line_id": ids[i], "end_line_id": ids[j - 1]}
        changes.append({**place, "new_content": "\n".join(new[k:m])})
    stage.call("edit_lines", {"file_path": "a.txt", "changes": of_toolset(stage.name, changes)})


def of_toolset(name: str, changes: list[Row]) -> list[Row]:
    """`lines` calls the first line of a range `line_id`."""
    renamed = {"start_line_id": "line_id"} if name == "lines" else {}
    return [{renamed.get(key, key): value for key, value in one.items()} for one in changes]


def play_patch(toolset: str, row: Row, stage: Stage) -> None:
    stage.file("a.txt", row["original"])
    stage.open(toolset)
    stage.call("apply_patch", {"input": patch(row["original"], row["expect"])})


def patch(before: str, after: str) -> str:
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3))
    body = ["@@" if line.startswith("@@") else line for line in lines[2:]]
    return "\n".join(["*** Begin Patch", "*** Update File: a.txt", *body, "*** End Patch"])


def by_line(toolset: str) -> Iterator[tuple[Row, Any, str]]:
    for row in own("line_edit_cases"):
        if toolset in BY_ID and all(askable(edit, row) for edit in row["edits"]):
            yield row, play_by_line, ""


def askable(edit: Row, row: Row) -> bool:
    """There is no ID for a line that is not there."""
    count = len(row["original"].splitlines())
    inserts = edit["op"] in ("append", "insert_after", "insert_before")
    return inserts or edit["anchor"] == "stale" or 1 <= edit["line"] <= count


def play_by_line(toolset: str, row: Row, stage: Stage) -> None:
    stage.file("a.txt", row["original"])
    stage.open(toolset)
    ids = stage.ids("a.txt")
    changes = [change(edit, ids) for edit in row["edits"]]
    stage.call("edit_lines", {"file_path": "a.txt", "changes": of_toolset(toolset, changes)})


def commits(toolset: str) -> Iterator[tuple[Row, Any, str]]:
    for row in own("real_edits"):
        if toolset in BY_ID:
            yield row, play_commit_by_id, ""
        elif "edit" in SPELLINGS[toolset]:
            yield row, play_commit_by_quote, ""
        elif "patch" in SPELLINGS[toolset]:
            yield row, play_commit_by_patch, ""


def play_commit_by_id(toolset: str, row: Row, stage: Stage) -> None:
    stage.file("a.txt", row["before"])
    stage.open(toolset)
    by_hunks(stage, row["before"], row["after"])


def play_commit_by_quote(toolset: str, row: Row, stage: Stage) -> None:
    """Each hunk with the line before it, as models quote."""
    stage.file("a.txt", row["before"])
    stage.open(toolset)
    if toolset == "compact":
        stage.call("Read", {"file_path": "a.txt"})
    old = row["before"].splitlines(keepends=True)
    for hunk in reversed(row["hunks"]):
        start = hunk["old_start"] - 1
        lead = old[start - 1] if start else ""
        quote = lead + "".join(old[start : start + hunk["old_lines"]])
        words = {"old_string": quote, "new_string": lead + hunk["new"]}
        stage.call(*spelled(toolset, "edit", {"file_path": "a.txt", **words}))


def play_commit_by_patch(toolset: str, row: Row, stage: Stage) -> None:
    stage.file("a.txt", row["before"])
    stage.open(toolset)
    stage.call("apply_patch", {"input": patch(row["before"], row["after"])})


# Paths and globs


def paths(toolset: str) -> Iterator[tuple[Row, Any, str]]:
    for row in own("path_cases"):
        if SPELLINGS[toolset]:
            yield row, play_path, "grep" if "grep" in SPELLINGS[toolset] else ""


def play_path(toolset: str, row: Row, stage: Stage) -> None:
    """Every tool that takes a path gets this one, the harmless ones first."""

    def filled(text: str) -> str:
        return text.replace("$TMP", str(stage.folder)).replace("ROOT", "ws")

    for kind, path, detail in row["setup"]:
        at = stage.folder / filled(path)
        at.parent.mkdir(parents=True, exist_ok=True)
        if kind == "dir":
            at.mkdir(exist_ok=True)
        elif kind == "file":
            at.write_text(detail)
        else:
            at.symlink_to(filled(detail))
    stage.open(toolset)
    path = filled(row["request_path"])
    for verb in TOUCHING:
        named = {"path": path} if verb in ("ls", "glob", "grep") else {"file_path": path}
        more = {
            "write": {"content": "written\n"},
            "insert": {"content": "inserted\n"},
            "mv": {"destination": "moved"},
            "cp": {"destination": "copied"},
            "glob": {"pattern": "*"},
            "grep": {"pattern": "."},
        }.get(verb, {})
        if found := spelled(toolset, verb, {**named, **more}):
            stage.call(*found)


def globs(toolset: str) -> Iterator[tuple[Row, Any, str]]:
    for row in own("glob_cases"):
        if "glob" in SPELLINGS[toolset]:
            yield row, play_glob, "glob"


def play_glob(toolset: str, row: Row, stage: Stage) -> None:
    """The row's path and a neighbour are there; its pattern is asked for, or ignored by git."""
    ignored = row["kind"] == "gitignore"
    path = row["path"].removeprefix("./").rstrip("/")
    stage.file("neighbour/of.it", "x\n")
    stage.file(f"{path}/inner" if row["is_dir"] else path, "x\n")
    if ignored:
        (stage.root / ".git").mkdir()
        stage.file(".gitignore", f"{row['pattern']}\n")
    stage.open(toolset)
    for verb in ("glob", "ls"):
        asked_for = {} if verb == "ls" else {"pattern": "*" if ignored else row["pattern"]}
        if found := spelled(toolset, verb, asked_for):
            stage.call(*found)


KINDS = {
    "battery": battery,
    "quotes": quoted,
    "by_line": by_line,
    "commits": commits,
    "paths": paths,
    "globs": globs,
}
