"""Patches of several files: parsed, placed by their lines, judged whole, one step."""

import random
from pathlib import Path

import pytest

from fsagent_tools import Effect, MemoryFiles, Policy, Workspace, toolset
from tests.edits.patches import CASES, PatchCase, enveloped


def patching(workspace: Workspace, patch: str):
    return toolset("openai").bind(workspace)["apply_patch"].call({"input": patch})


@pytest.fixture
def project(tmp_path):
    def make(files: dict[str, bytes], **options):
        for name, data in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(data)
        return Workspace(tmp_path, cache_dir=tmp_path.parent / "cache", **options)

    return make


def contents(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_patch_does_what_it_says_or_is_refused_whole(case: PatchCase, project, tmp_path):
    done = patching(project(case.before), case.patch)
    assert done.ok == (case.after is not None), done.text
    assert contents(tmp_path) == (case.before if case.after is None else case.after)
    assert case.says in done.text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_files_elsewhere_are_patched_the_same(case: PatchCase):
    files = MemoryFiles(case.before)
    patching(Workspace(files=files), case.patch)
    assert files.contents() == (case.before if case.after is None else case.after)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_refusal_says_that_nothing_was_written(case: PatchCase):
    done = patching(Workspace(files=MemoryFiles(case.before)), case.patch)
    assert done.ok or "Nothing was written." in done.text


OTHER = ("*** Update File: a.py", "@@", "-a = 1", "+a = 2")


@pytest.mark.parametrize(
    "part",
    [
        ("*** Update File: ../b.py", "@@", "-b", "+c"),
        ("*** Update File: .git/config", "@@", "-b", "+c"),
        ("*** Add File: a.py/b.py", "+c"),
        ("*** Delete File: closed.py",),
    ],
    ids=lambda part: part[0],
)
def test_a_refused_path_of_one_file_says_that_nothing_was_written(project, part):
    workspace = project(
        {"a.py": b"a = 1\n", "closed.py": b""}, policy=Policy(denied_paths=["closed.py"])
    )
    out = patching(workspace, enveloped(*OTHER, *part))
    assert not out.ok
    assert "Nothing was written." in out.text
    assert workspace.read_text("a.py").text == "a = 1\n"


def test_the_end_of_the_file_decides_where_lines_are(project):
    before = b"one = 1\ntwo = 2\nthree = 3\n"
    workspace = project({"a.py": before})
    update = ("*** Update File: a.py", "@@", " one = 1", "-two = 2", "+two = 3", "*** End of File")
    out = patching(workspace, enveloped(*update))
    assert "The old lines are at line 1 and do not end the file" in out.text
    assert workspace.read_bytes("a.py").data == before
    last = (
        "*** Update File: a.py",
        "@@",
        " two = 2",
        "-three = 3",
        "+three = 4",
        "*** End of File",
    )
    assert patching(workspace, enveloped(*last)).ok


def test_an_anchor_that_does_not_decide_is_named(project):
    workspace = project({"a.py": b"y = 1\nb = 2\nc = 3\nb = 2\nc = 3\n"})
    update = ("*** Update File: a.py", "@@ y = 1", " b = 2", "-c = 3", "+c = 4")
    out = patching(workspace, enveloped(*update))
    assert "'@@ y = 1' does not decide: each of them is below it." in out.text


@pytest.mark.parametrize(
    "command",
    [
        ["apply_patch", "*** Begin Patch\n*** End Patch"],
        ["bash", "-lc", "apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF"],
        ["bash", "-lc", "cd src && applypatch <<'EOF'\n*** Begin Patch\nEOF"],
        "apply_patch <<EOF",
    ],
    ids=str,
)
def test_the_shell_points_to_the_tool(project, command):
    shell = toolset("openai").bind(project({}))["shell"]
    out = shell.call({"command": command})
    assert "apply_patch is a tool, not a command" in out.text


@pytest.mark.parametrize("seed", range(8))
def test_any_hunk_is_done_as_meant_or_refused(seed):
    dice, done = random.Random(seed), 0
    for _ in range(50):
        before, body, meant = hunk_of(dice)
        files = MemoryFiles({"a.txt": before})
        patch = enveloped("*** Update File: a.txt", "@@", *body)
        if patching(Workspace(files=files), patch).ok:
            done += 1
            assert files.contents()["a.txt"] == meant, (before, body)
        else:
            assert files.contents()["a.txt"] == before
    assert done >= 25


def hunk_of(dice):
    """A text, the lines of a part that changes some of it, and what it is to become."""

    def some(letter, most):
        words = [f"{letter}{dice.randrange(99)}" for _ in range(dice.randint(0, most))]
        return [dice.choice([word, word, f"    {word}", ""]) for word in words]

    lines, new = ["first", *some("w", 9), "last"], some("n", 3) or ["n"]
    start = dice.randint(0, len(lines))
    stop = min(len(lines), start + dice.randint(0, 3))
    newline, end = dice.choice(["\n", "\r\n"]), dice.choice([True, True, False])
    above, below = lines[max(0, start - 3) : start], lines[stop : stop + 3]
    body = [f" {x}" for x in above] + [f"-{x}" for x in lines[start:stop]]
    body += [f"+{x}" for x in new] + [f" {x}" for x in below]
    made = [*lines[:start], *new, *lines[stop:]]
    before, meant = ((newline.join(x) + newline * end).encode() for x in (lines, made))
    return before, body, meant


def test_there_are_as_many_cases_as_forms():
    assert len(CASES) >= 120
    assert len({case.name for case in CASES}) == len(CASES)


ALL_KINDS = enveloped(
    "*** Add File: new/n.txt", "+n",
    "*** Update File: a.py", "@@", "-a = 1", "+a = 2",
    "*** Update File: b.py", "*** Move to: d/b.py", "@@", "-b = 1", "+b = 2",
    "*** Delete File: c.py",
)  # fmt: skip
BEFORE = {"a.py": b"a = 1\n", "b.py": b"b = 1\n", "c.py": b"c = 1\n"}
AFTER = {"a.py": b"a = 2\n", "d/b.py": b"b = 2\n", "new/n.txt": b"n\n"}


def test_a_patch_is_one_step_that_undo_takes_back(project, tmp_path):
    workspace = project(BEFORE)
    assert patching(workspace, ALL_KINDS).ok
    assert contents(tmp_path) == AFTER
    workspace.undo()
    assert contents(tmp_path) == BEFORE
    assert not (tmp_path / "new").exists()


def test_a_moved_file_keeps_its_mode_and_its_line_ids(project, tmp_path):
    workspace = project({"a.py": b"one = 1\ntwo = 2\nthree = 3\n"})
    (tmp_path / "a.py").chmod(0o755)
    tools = toolset("workspace").bind(workspace)
    before = tools["read"].call({"file_path": "a.py"}).text.split("\n")
    patch = enveloped("*** Update File: a.py", "*** Move to: b.py", "@@", "-two = 2", "+two = 0")
    assert patching(workspace, patch).ok
    after = tools["read"].call({"file_path": "b.py"}).text.split("\n")
    assert (tmp_path / "b.py").stat().st_mode & 0o777 == 0o755
    assert [after[0], after[2]] == [before[0], before[2]]


@pytest.mark.parametrize(
    "change", [["@@", "-\u00e4 = 1", "+\u00e4 = 2"], []], ids=["changed", "as it was"]
)
def test_a_move_onto_a_file_that_goes_keeps_encoding_and_mode(change, project, tmp_path):
    before = {"a.py": "\u00e4 = 1\n".encode("utf-16"), "b.py": b"b = 1\n"}
    asked = []
    workspace = project(before, approve=lambda request: asked.append(request) or True)
    (tmp_path / "a.py").chmod(0o755)
    patch = enveloped(
        "*** Delete File: b.py", "*** Update File: a.py", "*** Move to: b.py", *change
    )  # fmt: skip
    done = patching(workspace, patch)
    assert done.ok, done.text
    assert contents(tmp_path) == {"b.py": f"\u00e4 = {2 if change else 1}\n".encode("utf-16")}
    assert (tmp_path / "b.py").stat().st_mode & 0o777 == 0o755
    assert asked[0].diff.startswith("delete b.py\nrename a.py -> b.py")
    workspace.undo()
    assert contents(tmp_path) == before


def test_a_patch_is_asked_about_once_and_tells_all_of_it(project, tmp_path):
    asked = []

    def approve(request):
        asked.append(request)
        assert contents(tmp_path) == BEFORE
        return True

    assert patching(project(BEFORE, approve=approve), ALL_KINDS).ok
    (request,) = asked
    assert contents(tmp_path) == AFTER
    assert set(request.paths) == {"new/n.txt", "a.py", "d/b.py", "c.py"}
    for part in ("+a = 2", "rename b.py -> d/b.py", "+b = 2", "delete c.py", "+n"):
        assert part in request.diff


def test_a_patch_that_nobody_approves_changes_nothing(project, tmp_path):
    done = patching(project(BEFORE, approve=lambda _: False), ALL_KINDS)
    assert (done.ok, done.code) == (False, "APPROVAL_DENIED")
    assert contents(tmp_path) == BEFORE
    assert not (tmp_path / "new").exists()


def test_files_that_change_while_a_person_thinks_are_asked_about_again(project, tmp_path):
    answers = iter([b"a = 1\nx = 1\n", b""])

    def approve(_):
        if more := next(answers):
            (tmp_path / "a.py").write_bytes(more)
        return True

    assert patching(project(BEFORE, approve=approve), ALL_KINDS).ok
    assert contents(tmp_path) == {**AFTER, "a.py": b"a = 2\nx = 1\n"}


def test_who_is_asked_about_deleting_only_is_not_passed_by(project, tmp_path):
    workspace = project(BEFORE, approve=lambda _: True, approve_effects=[Effect.DELETE])
    done = patching(workspace, ALL_KINDS)
    assert done.code == "ACTION_NOT_ALLOWED"
    assert contents(tmp_path) == BEFORE


@pytest.mark.parametrize(
    "policy",
    [
        Policy(denied_paths=["b.py"]),
        Policy(denied_paths=["d/**"]),
        Policy(write_denied=["c.py"]),
        Policy(allowed_paths=["*.py", "d/**"]),
        Policy(readonly=True),
        Policy(max_file_size=5),
    ],
    ids=["source", "target", "deleted", "added", "all", "size"],
)
def test_the_policy_is_asked_about_every_file_before_any_is_written(policy, project, tmp_path):
    done = patching(project(BEFORE, policy=policy), ALL_KINDS)
    assert not done.ok
    assert contents(tmp_path) == BEFORE
    assert not (tmp_path / "new").exists()


def test_a_file_that_nobody_may_write_keeps_the_others_as_they_were(project, tmp_path):
    workspace = project(BEFORE)
    (tmp_path / "b.py").chmod(0o444)
    assert not patching(workspace, ALL_KINDS).ok
    assert contents(tmp_path) == BEFORE


def test_what_fails_halfway_is_taken_back(project, tmp_path):
    workspace = project(BEFORE, lint="reject")
    patch = enveloped(
        "*** Update File: a.py", "*** Move to: d.py", "@@", "-a = 1", "+a = 2",
        "*** Update File: b.py", "@@", "-b = 1", "+b = 2",
        "*** Add File: e.py", "+e = (",
        "*** Delete File: c.py",
    )  # fmt: skip
    done = patching(workspace, patch)
    assert done.code == "LINT_REJECTED", done.text
    assert contents(tmp_path) == BEFORE


@pytest.mark.parametrize(
    ("parts", "after"),
    [
        (["*** Update File: a.py", "*** Move to: z.py", "*** Add File: a.py", "+a = 1"],
         {"a.py": b"a = 1\n", "z.py": b"a = 1\n"}),
        (["*** Update File: a.py", "*** Move to: z.py", "*** Add File: a.py", "+a = 9",
          "*** Update File: a.py", "*** Move to: y.py"],
         {"y.py": b"a = 9\n", "z.py": b"a = 1\n"}),
        (["*** Update File: a.py", "*** Move to: z.py", "@@", "-a = 1", "+a = 2",
          "*** Update File: z.py", "*** Move to: a.py"], {"a.py": b"a = 2\n"}),
    ],
    ids=["added-again", "moved-twice", "there-and-back"],
)  # fmt: skip
def test_files_move_in_any_order(parts, after, project, tmp_path):
    done = patching(project({"a.py": b"a = 1\n"}), enveloped(*parts))
    assert done.ok, done.text
    assert contents(tmp_path) == after


@pytest.mark.parametrize(
    "part", [["*** Delete File: link.py"], ["*** Update File: link.py", "*** Move to: z.py"]]
)
def test_a_link_is_not_deleted_or_moved_for_its_file(part, project, tmp_path):
    workspace = project(BEFORE)
    (tmp_path / "link.py").symlink_to("a.py")
    done = patching(workspace, enveloped(*part))
    assert "link.py is a link to a.py" in done.text
    assert contents(tmp_path) == BEFORE | {"link.py": BEFORE["a.py"]}


def test_a_link_and_its_file_are_one_file(project, tmp_path):
    workspace = project(BEFORE)
    (tmp_path / "link.py").symlink_to("a.py")
    patch = enveloped(
        "*** Update File: a.py", "@@", "-a = 1", "+a = 2",
        "*** Update File: link.py", "@@", "-a = 2", "+a = 3",
    )  # fmt: skip
    assert patching(workspace, patch).ok
    assert (tmp_path / "a.py").read_bytes() == b"a = 3\n"


def test_a_refusal_names_file_and_part_and_shows_the_nearest_lines(project):
    text = (
        b"def total(values):\n    result = 0\n    return result\n\n\ndef other():\n    return 1\n"
    )
    patch = enveloped(
        "*** Update File: a.py", "@@", "-def other():", "+def another():",
        "@@", " def total(value):", "-    result = 1", "+    result = 2",
    )  # fmt: skip
    done = patching(project({"a.py": text}), patch)
    assert done.text.startswith("Error: a.py, part 2: the quoted text is not in the file.")
    assert "\n    result = 0\n" in done.text
    assert "`" not in done.text
    assert "old_string" not in done.text


def test_answers_of_the_toolset_name_its_own_tools_only(project):
    tools = toolset("openai").bind(project({"a.py": b"x = 1\n" * 3000, "b.bin": b"\0" * 9}))
    answers = [
        tools["read"].call({"path": "absent.py"}).text,
        tools["read"].call({"path": "."}).text,
        tools["read"].call({"path": "a.py"}).text,
        tools["grep"].call({"pattern": "x", "path": "a.py"}).text,
        tools["grep"].call({"pattern": "("}).text,
        tools["apply_patch"].call({"input": enveloped("*** Delete File: src")}).text,
        tools["shell"].call({"command": ["sleep", "5"], "timeout_ms": 500}).text,
        *(tool.description for tool in tools.values()),
    ]
    for other in ("edit_lines", "write", "`ls`", "insert", "old_string", "glob", "`rm`", "bash`"):
        assert not [text for text in answers if f" {other} " in text or f"use {other}" in text]


@pytest.mark.parametrize(
    ("sent", "printed"),
    [
        (["bash", "-lc", "echo one; echo two | tr t T"], "one\nTwo"),
        (["echo", "a b", "$HOME"], "a b $HOME"),
        ("echo plain", "plain"),
        (["pwd"], "sub"),
    ],
)
def test_the_shell_takes_words_a_script_or_a_line(sent, printed, project, tmp_path):
    tools = toolset("openai").bind(project({"sub/a.txt": b"a"}))
    done = tools["shell"].call({"command": sent, "workdir": "sub", "timeout_ms": 20_000})
    assert done.text.endswith(printed)


def test_what_did_not_fit_exactly_is_told(project):
    patch = enveloped("*** Update File: a.py", "@@", "-beta = 2", "+beta = 3")
    done = patching(project({"a.py": b"if a:\n    beta = 2\n"}), patch)
    told = "a.py: part 1, no exact match; matched by indentation"
    assert done.text.startswith(told), done.text


def test_a_part_of_a_line_is_told_as_such(project):
    patch = enveloped("*** Update File: a.py", "@@", "-b = 2", "+b = 3")
    done = patching(project({"a.py": b"if a:\n    b = 2\n"}), patch)
    assert "It is a part of a line at line 2: quote whole lines" in done.text
