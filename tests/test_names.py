"""Names as answers show them are names as paths take them."""

import os
import unicodedata

import pytest

from fsagent_tools import MemoryFiles, Policy, Tool, Workspace, toolset
from fsagent_tools.types import Entry

JOINED = "نیم\u200cفاصله.md"
FAMILY = "👨\u200d👩\u200d👧.md"
SCREENSHOT = "Shot at 9.41\u202fAM.txt"
NAMES = [
    JOINED, FAMILY, SCREENSHOT, "no\u00a0break.txt", "so\u00adft.txt", "word\u2060joiner.txt",
    "\ufeffmark.txt", "tab\there.txt", "line\nend.txt", "\x1b[31mred.txt", "left\u200eright.txt",
    "over\u202eride.txt", "iso\u2066late.txt", "line\u2028separator.txt", "c1\x85.txt",
]  # fmt: skip


@pytest.fixture
def tools(root):
    return toolset("filesystem").bind(Workspace(root))


@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.parametrize("lister", ["ls", "find", "grep"])
def test_a_name_that_a_listing_shows_is_taken_as_it_is_shown(tools, root, lister, name):
    (root / name).write_text("needle\n")
    sent = {"ls": {}, "find": {"pattern": "*.*"}, "grep": {"pattern": "needle"}}[lister]
    shown = tools[lister].call(sent).text.removesuffix(" (7 bytes)").removesuffix(":1:needle")
    assert "\n" not in shown
    assert "needle" in tools["read"].call({"path": shown}).text
    assert tools["write"].call({"path": shown, "content": "new\n"}).ok
    assert os.listdir(root) == [name]
    assert (root / name).read_text() == "new\n"


@pytest.mark.parametrize("name", [JOINED, FAMILY, SCREENSHOT])
def test_letters_joiners_and_blanks_are_shown_as_they_are(tools, root, name):
    (root / name).write_text("")
    assert tools["find"].call({"pattern": "*"}).text == name
    assert name in tools["read"].call({"path": f"{name}x"}).text


@pytest.mark.parametrize("name", [SCREENSHOT, "no\u00a0break.txt"])
def test_a_blank_means_a_no_break_space_where_nothing_else_fits(tools, root, name):
    (root / name).write_text("needle\n")
    plain = name.replace("\u202f", " ").replace("\u00a0", " ")
    assert "needle" in tools["read"].call({"path": plain}).text
    assert "spaced otherwise" in tools["mv"].call({"source": name, "destination": plain}).text
    (root / plain).write_text("other\n")
    assert "other" in tools["read"].call({"path": plain}).text
    assert "needle" in tools["read"].call({"path": name}).text


def test_an_escape_that_a_model_writes_for_a_character_is_understood(tools, root):
    (root / FAMILY).write_text("needle\n")
    for path in (r"👨\u200d👩\u200d👧.md", r"\ud83d\udc68\u200d\U0001f469\u200d\ud83d\udc67.md"):
        assert "needle" in tools["read"].call({"path": path}).text
    (root / r"a\u200d.md").write_text("itself\n")
    assert "itself" in tools["read"].call({"path": r"a\u200d.md"}).text


def test_of_several_names_that_are_meant_alike_none_is_taken(tools, root):
    for name in ("a\u00a0b", "a\u202fb"):
        (root / name).write_text("")
    assert tools["read"].call({"path": "a b"}).code == "FILE_NOT_FOUND"


def test_names_are_taken_so_where_files_are_elsewhere():
    files = MemoryFiles({"d\u00e9/Shot\u202fAM.txt": "needle\n", "tab\there": "tab\n"})
    tools = toolset("filesystem").bind(Workspace(files=files))
    path = f"{unicodedata.normalize('NFD', 'dé')}/Shot AM.txt"
    assert "needle" in tools["read"].call({"path": path}).text
    assert "tab" in tools["read"].call({"path": r"tab\there"}).text


def test_a_path_of_windows_is_asked_about_and_the_slashed_one_named(tools, root):
    (root / "src").mkdir()
    (root / "src/p.ts").write_text("x\n")
    assert tools["read"].call({"path": r"src\p.ts"}).text.endswith("Did you mean src/p.ts?")
    for name, sent in {
        "write": {"path": r"src\q.ts", "content": ""},
        "mkdir": {"path": r"src\new\deep"},
        "mv": {"source": "src/p.ts", "destination": r"src\q.ts"},
        "cp": {"source": "src/p.ts", "destination": r".\src\q.ts"},
    }.items():
        refused = tools[name].call(sent)
        assert refused.code == "INVALID_PATH", refused
        assert "Use " in refused.text
        assert "src/" in refused.text.partition("Use ")[2]
    assert os.listdir(root) == ["src"]
    assert tools["write"].call({"path": r"run-user\x2d1000.mount", "content": "x"}).ok
    assert tools["write"].call({"path": r"run-user\x2d1000.mount", "content": "y"}).ok


@pytest.mark.parametrize("path", ["dang", "dang/a.txt", "deep", "deep/"])
def test_a_link_to_nothing_is_told_as_one(tools, root, path):
    (root / "dang").symlink_to("gone.txt")
    (root / "deep").symlink_to("no/where")
    text = tools["read"].call({"path": path}).text
    name, target = ("dang", "gone.txt") if "dang" in path else ("deep", "no/where")
    assert f"{name} is a link to {target}, which does not exist." in text
    assert "Did you mean" not in text


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_what_cannot_be_read_is_blamed_for_a_copy_that_fails(tools, root):
    (root / "d").mkdir()
    (root / "d/closed").write_text("x")
    (root / "d/closed").chmod(0)
    for source, blamed in (("d/closed", "d/closed"), ("d", "d/closed")):
        refused = tools["cp"].call({"source": source, "destination": "copy"})
        assert refused.text.startswith(f"Error: {blamed}: the operating system refused")


def test_a_move_obeys_the_limit_of_size(root):
    (root / "d").mkdir()
    (root / "d/large").write_text("x" * 40)
    tools = toolset("filesystem").bind(Workspace(root, policy=Policy(max_file_size=30)))
    for source in ("d/large", "d"):
        refused = tools["mv"].call({"source": source, "destination": "moved"})
        assert refused.code == "FILE_TOO_LARGE"
        assert "d/large has 40 bytes" in refused.text
    assert (root / "d/large").exists()


FOLDERS = ["[id]", "[...slug]", "[[...all]]", "{name}", "{a,b}", "(group)", "{{cookie.slug}}"]


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("pattern", ["src/{}/**", "**/{}/*.tsx", "src/{}/page.tsx"])
def test_a_directory_of_that_name_is_found_and_searched(root, folder, pattern):
    file = root / "src" / folder / "page.tsx"
    file.parent.mkdir(parents=True)
    file.write_text("needle\n")
    (root / "src/other").mkdir()
    (root / "src/other/page.tsx").write_text("needle\n")
    tools = toolset("lines").bind(Workspace(root))
    pattern, path = pattern.replace("{}", folder), f"src/{folder}/page.tsx"
    assert tools["glob"].call({"pattern": pattern}).text == path
    found = tools["grep"].call({"pattern": "needle", "include": pattern})
    assert {match["file"] for match in found.data["matches"]} == {path}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.ts,*.tsx", {"a.ts", "src/b.tsx"}),
        ("*.ts, src/*.py", {"a.ts", "src/c.py"}),
        ("*.{ts,py},b.*", {"a.ts", "src/b.tsx", "src/c.py"}),
        ("x, y.csv", {"x, y.csv"}),
    ],
)
def test_a_list_with_commas_means_each_of_its_patterns(root, pattern, names):
    for name in ("a.ts", "src/b.tsx", "src/c.py", "x, y.csv", "d.md"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("needle\n")
    tools = toolset("lines").bind(Workspace(root))
    assert {*tools["glob"].call({"pattern": pattern}).data["files"]} == names
    found = tools["grep"].call({"pattern": "needle", "include": pattern})
    assert {match["file"] for match in found.data["matches"]} == names


@pytest.mark.parametrize("argument", ["glob", "include"])
@pytest.mark.parametrize(
    ("pattern", "next_step"),
    [("!*.tsx", "Name the files that you want."), (r"src\app\*.tsx", "Use 'src/app/*.tsx'.")],
)
def test_a_pattern_that_cannot_match_is_refused_with_the_next_step(
    root, argument, pattern, next_step
):
    tools = toolset("lines").bind(Workspace(root))
    sent = {"pattern": pattern} if argument == "glob" else {"pattern": "x", "include": pattern}
    refused = tools["glob" if argument == "glob" else "grep"].call(sent)
    assert refused.code == "INVALID_GLOB"
    assert next_step in refused.text


@pytest.mark.parametrize("stands", ["NFC", "NFD"])
def test_patterns_find_names_and_texts_however_their_letters_are_composed(root, stands):
    name, text = (unicodedata.normalize(stands, each) for each in ("größe 학점.md", "Größe 학점\n"))
    (root / name).write_text(text)
    tools = toolset("lines").bind(Workspace(root))
    for form in ("NFC", "NFD"):
        for pattern in ("grö*", "*학점*", "gr?ße*", "**/größe 학점.md", "*[äö]*"):
            sent = unicodedata.normalize(form, pattern) if "[" not in pattern else pattern
            assert tools["glob"].call({"pattern": sent}).data["files"] == [name], pattern
            found = tools["grep"].call({"pattern": ".", "include": sent})
            assert found.data["count"] == 1, pattern
        for pattern in ("Größe", "(?i)GRÖSSE|größe", r"^Gr\w+e 학점$", "ö+ß"):
            sent = unicodedata.normalize(form, pattern)
            assert tools["grep"].call({"pattern": sent}).data["count"] == 1, pattern


def test_hidden_files_stay_hidden_when_a_type_is_asked_for(root):
    for name in (".hidden.py", "a.py", ".sec/k.py"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("needle\n")
    grep = Tool(Entry("grep", show=("type",)), Workspace(root))
    found = grep.call({"pattern": "needle", "type": "py"})
    assert ".hidden.py:" not in found.text
    assert "a.py:" in found.text
    assert "Left out (hidden): .hidden.py, .sec." in found.text


def test_find_can_include_names_that_begin_with_a_dot(tools, root):
    (root / ".github").mkdir()
    (root / ".github/ci.yml").write_text("")
    pattern = {"pattern": "**/*.yml"}
    assert ".github/ci.yml" not in tools["find"].call(pattern).text
    assert tools["find"].call({**pattern, "include_hidden": True}).text == ".github/ci.yml"
