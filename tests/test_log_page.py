"""The page of a log: who did what, when and where; nothing in it is active."""

import re
from html.parser import HTMLParser

import pytest

from fsagent_tools import EventLog, Policy, Workspace, identified, toolset
from fsagent_tools.cli import main

EVIL = "</pre><script>alert(1)</script>"


class Shape(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = [], set(), ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def page(tmp_path, capsys):
    """A page of what three users did in two workspaces, and all that it writes."""
    log = tmp_path / "calls.jsonl"
    for user, root in (("ann", "one"), ("ben", "one"), (EVIL, "two")):
        (tmp_path / root).mkdir(exist_ok=True)
        workspace = Workspace(
            tmp_path / root,
            log=EventLog(log, content=True),
            policy=Policy(denied_paths=[".env"]),
        )
        tools = toolset("workspace").bind(workspace)
        with identified(user=user):
            tools["write"].call({"file_path": f"{root}.py", "content": f"x = '{EVIL}\u202e'\n"})
            tools["read"].call({"file_path": ".env"})
    file = tmp_path / "page.html"
    assert main(["log", "--calls", str(log), "--html", str(file)]) == 0
    assert capsys.readouterr().out == ""
    assert file.stat().st_mode & 0o777 == 0o600
    return file.read_text()


def test_users_and_workspaces_are_told_apart(page, tmp_path):
    text = Shape(page).text
    places = [text.index(str(tmp_path / name)) for name in ("one", "two")]
    users = [text.index(name) for name in ("ann 2 calls", "ben 2 calls", f"{EVIL} 2 calls")]
    assert sorted([*places, *users]) == [places[0], users[0], users[1], places[1], users[2]]
    assert "6 calls, 3 refused or failed." in text
    assert text.count("PATH_DENIED") == 3
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dwriteone\.pyOK", text)
    assert f"+x = '{EVIL}\\u202e'" in text  # the diff, with what turns the direction spelled out


def test_nothing_in_a_page_is_active_or_from_elsewhere(page):
    shape = Shape(page)
    assert not {"script", "a", "img", "link", "iframe", "form", "object"} & {*shape.tags}
    assert shape.attributes <= {"class", "lang", "charset", "http-equiv", "content", "name"}
    assert "default-src 'none'" in page
    assert not re.search(r"url\(|@import|https?://", page)


def test_a_page_of_a_project_shows_its_steps(root, monkeypatch):
    toolset("workspace").bind(Workspace(root))["write"].call({"file_path": "n", "content": "new\n"})
    monkeypatch.chdir(root)
    assert main(["--root", ".", "log", "--html", "page.html"]) == 0
    text = Shape((root / "page.html").read_text()).text
    assert str(root) in text
    assert "+new" in text


@pytest.mark.parametrize("content", [None, "no record\n", "[1]\n"])
def test_what_is_no_log_is_refused(tmp_path, content, capsys):
    log = tmp_path / "log"
    if content:
        log.write_text(content)
    assert main(["log", "--calls", str(log), "--html", str(tmp_path / "page")]) == 1
    assert f"{log}: " in capsys.readouterr().err
    assert main(["log", "--calls", str(log)]) == 2
    assert not (tmp_path / "page").exists()
