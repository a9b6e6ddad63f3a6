"""The names that users of the MCP filesystem server have in their prompts."""

import pytest

from fsagent_tools import Policy, Workspace, toolset

PARAMETERS = {
    "read_text_file": {"path", "head", "tail"},
    "read_media_file": {"path"},
    "read_multiple_files": {"paths"},
    "write_file": {"path", "content"},
    "edit_file": {"path", "edits", "dryRun"},
    "create_directory": {"path"},
    "list_directory": {"path"},
    "list_directory_with_sizes": {"path"},
    "directory_tree": {"path"},
    "move_file": {"source", "destination"},
    "search_files": {"path", "pattern"},
    "get_file_info": {"path"},
    "list_allowed_directories": set(),
}
TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "a/one.txt").write_text(TEXT)
    return root


@pytest.fixture
def tools(root):
    return toolset("mcp_filesystem").bind(Workspace(root))


def done(tools, name, **given):
    outcome = tools[name].call(given)
    assert outcome.ok, outcome.text
    assert outcome.to_dict()["content"] == outcome.text
    return outcome.text


def edits(*pairs):
    return [{"oldText": old, "newText": new} for old, new in pairs]


def test_tools_and_parameters_have_the_servers_names(tools):
    assert {name: {*tool.visible} for name, tool in tools.items()} == PARAMETERS
    needed = {name: {*tool.schema.get("required", ())} for name, tool in tools.items()}
    assert needed["edit_file"] == {"path", "edits"}
    assert needed["read_multiple_files"] == {"paths"}
    assert needed["read_text_file"] == {"path"}
    item = tools["edit_file"].schema["properties"]["edits"]["items"]
    assert item["required"] == ["oldText", "newText"]


def test_a_prompt_for_the_server_goes_through(tools, root):
    assert done(tools, "list_allowed_directories") == str(root)
    assert done(tools, "list_directory", path=str(root)) == "a/"
    assert done(tools, "list_directory_with_sizes", path="a") == "one.txt (14 bytes)"
    assert done(tools, "directory_tree", path=".") == "a/\na/one.txt"
    assert done(tools, "search_files", path=".", pattern="*.txt") == "a/one.txt"
    assert done(tools, "read_text_file", path="a/one.txt") == TEXT
    assert done(tools, "read_text_file", path="a/one.txt", head=1) == "one\n"
    assert done(tools, "read_text_file", path="a/one.txt", tail=2) == "two\nthree\n"
    assert done(tools, "read_text_file", path="a/one.txt", tail=9) == TEXT
    done(tools, "create_directory", path="b/c")
    done(tools, "write_file", path="b/c/two.txt", content="four\n")
    both = done(tools, "read_multiple_files", paths=["a/one.txt", "b/c/two.txt", "absent"])
    assert "== a/one.txt, lines 1-3 of 3\none\n" in both
    assert "four\n" in both
    assert "== absent\nError: absent does not exist." in both
    done(tools, "move_file", source="a/one.txt", destination="b/one.txt")
    assert "14 bytes" in done(tools, "get_file_info", path="b/one.txt")


def test_further_directories_are_listed(tmp_path, root):
    beside = tmp_path / "beside"
    beside.mkdir()
    policy = Policy(allowed_paths=["**", f"{beside}/**"])
    tools = toolset("mcp_filesystem").bind(Workspace(root, policy=policy))
    assert done(tools, "list_allowed_directories") == f"{root}\n{beside}"


def test_edits_come_one_after_the_other_and_a_dry_run_writes_nothing(tools, root):
    asked = {"path": "a/one.txt", "edits": edits(("one", "1\n1a"), ("1a\ntwo", "2"))}
    said = done(tools, "edit_file", **asked, dryRun=True)
    assert said.startswith("Nothing was written.")
    assert "-one\n-two\n+1\n+2" in said
    assert (root / "a/one.txt").read_text() == TEXT
    assert "-one\n-two\n+1\n+2" in done(tools, "edit_file", **asked)
    assert (root / "a/one.txt").read_text() == "1\n2\nthree\n"


def test_edits_that_cancel_out_change_nothing(tools, root):
    asked = {"path": "a/one.txt", "edits": edits(("one", "1"), ("1", "one"))}
    assert done(tools, "edit_file", **asked).endswith("Nothing changed in a/one.txt.")


@pytest.mark.parametrize("dry", [True, False])
def test_a_dry_run_refuses_what_would_not_be_written(dry, root):
    (root / "a/one.py").write_text("x = 1\n")
    limited = Workspace(root, policy=Policy(max_file_size=20), lint="reject")
    tools = toolset("mcp_filesystem").bind(limited)
    for new, code in (("x" * 30, "FILE_TOO_LARGE"), ("x =", "LINT_REJECTED")):
        asked = {"path": "a/one.py", "edits": edits(("x = 1", new)), "dryRun": dry}
        assert tools["edit_file"].call(asked).code == code


@pytest.mark.parametrize(("pairs", "told"), [
    ([("one", "1"), ("absent text", "x")], "`edits` 2: the quoted text is not in the file"),
    ([("one", "1"), ("e", "x")], "`edits` 2"),
    ([], "edits"),
    ([("one", "one")], "`edits` 1"),
])  # fmt: skip
def test_one_edit_that_does_not_fit_leaves_the_file_alone(pairs, told, tools, root):
    outcome = tools["edit_file"].call({"path": "a/one.txt", "edits": edits(*pairs)})
    assert not outcome.ok
    assert told in outcome.text
    assert "old_string" not in outcome.text
    assert (root / "a/one.txt").read_text() == TEXT


@pytest.mark.parametrize("wrong", [["x"], [{"oldText": "one"}], "one", [{"old": "one"}]])
def test_edits_of_another_form_are_refused(wrong, tools):
    outcome = tools["edit_file"].call({"path": "a/one.txt", "edits": wrong})
    assert outcome.code == "VALIDATION_ERROR"
    assert "edits" in outcome.text


def test_refusals_are_ours(tools, root):
    refused = tools["read_text_file"].call({"path": "../x"})
    assert refused.code == "PATH_OUTSIDE_WORKSPACE"
    assert tools["read_multiple_files"].call({"paths": []}).code == "VALIDATION_ERROR"
    (root / "b.txt").write_text("b")
    assert (
        tools["move_file"].call({"source": "b.txt", "destination": "a/one.txt"}).code
        == "ALREADY_EXISTS"
    )


@pytest.mark.parametrize(
    ("text", "pairs", "after"),
    [
        (b"a\r\nb\r\n", [("a\nb\n", "x"), ("x", "y\nz\n")], b"y\r\nz\r\n"),
        (b"a\r\n", [("a\n", "b"), ("b", "b\nc\n")], b"b\r\nc\r\n"),
        (b"a\n", [("a\n", "b"), ("b", "b\nc\n")], b"b\nc\n"),
    ],
)
def test_line_endings_stay_although_a_text_in_between_has_none(tools, root, text, pairs, after):
    (root / "c.txt").write_bytes(text)
    done(tools, "edit_file", path="c.txt", edits=edits(*pairs))
    assert (root / "c.txt").read_bytes() == after


def test_a_quote_that_began_a_line_does_not_fit_inside_one_that_others_wrote(tools, root):
    (root / "a.py").write_text("a = 1\nlog(total)\n")
    done(tools, "read_text_file", path="a.py")
    (root / "a.py").write_text("a = 1\n# log(total) moved\n")
    given = {"path": "a.py", "edits": edits(("log(total)", "log(tot)"))}
    assert not tools["edit_file"].call(given).ok
    assert "log(total)" in (root / "a.py").read_text()


def test_the_directories_of_a_policy_are_those_that_are_listed(root):
    def listed(**policy):
        tools = toolset("mcp_filesystem").bind(Workspace(root, policy=Policy(**policy)))
        return done(tools, "list_allowed_directories").split("\n")

    assert listed(allowed_paths=["a"]) == ["a"]
    assert listed(allowed_paths=["a/**", "/opt/x/**"]) == ["a/**", "/opt/x"]
