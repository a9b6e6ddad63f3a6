"""The report of a session: what it says, what it covers, how large it is."""

import base64
import json
import re
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsagent_tools import EventLog, Policy, ToolError, Workspace, toolset
from fsagent_tools.cli import main
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.report import html_report
from fsagent_tools.report.redact import covering

redacted = covering()
LINES = "MIIE" * 16 + "\n"
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{LINES * 40}-----END RSA PRIVATE KEY-----"


def bodies(page):
    """What the page's script shows when rows are opened."""
    packed = re.search(r'id="data">([^<]*)<', page)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


@pytest.fixture
def session(tmp_path):
    """A log with contents, of a session in which one of each kind happened."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("".join(f"x{n} = {n}\n" for n in range(40)))
    (root / ".env").write_text("A=1\n")
    log = EventLog(tmp_path / "log.jsonl", content=True)
    workspace = Workspace(root, policy=Policy(denied_paths=[".env"]), log=log)
    tools = {**toolset("filesystem").bind(workspace), **toolset("workspace").bind(workspace)}
    first = tools["read"].call({"file_path": "a.py"}).text.split("\n")[0]
    change = {"line_id": first, "new_content": "x0 = '</script><b>'"}
    assert tools["edit_lines"].call({"file_path": "a.py", "changes": [change]}).ok
    assert not tools["read"].call({"file_path": ".env"}).ok
    assert not tools["read"].call({"file_path": "../etc/passwd"}).ok
    assert tools["bash"].call({"command": "echo out; echo x > b.txt; exit 3"}).ok
    assert tools["rm"].call({"path": "b.txt"}).ok
    workspace.checkpoint("before lunch")
    return log


def test_the_page_tells_of_calls_refusals_files_and_checkpoints(session):
    page = session.report()
    for word in (
        "edit_lines", "PATH_OUTSIDE_WORKSPACE", ".env is closed by the policy", "echo out",
        "exit 3", "before lunch", "b.txt", "<b>6</b> calls", "<b>2</b> refused",
    ):  # fmt: skip
        assert word in page, word


def test_an_undo_is_no_change_of_its_own(tmp_path):
    (root := tmp_path / "project").mkdir()
    log = EventLog(tmp_path / "log.jsonl")
    workspace = Workspace(root, log=log)
    start = workspace.checkpoint()
    write = toolset("workspace").bind(workspace)["write"]
    for name in ("a.py", "b.py"):
        write.call({"file_path": name, "content": "x\n"})
    workspace.undo(to=start)
    write.call({"file_path": "b.py", "content": "y\n"})
    page = log.report()
    assert "a.py, b.py" in page
    assert re.findall(r"<tr><td>(\d)<td><button data-find>(\S+)</button>", page) == [
        ("2", "b.py"),
        ("1", "a.py"),
    ]
    assert page.count("then an undo") == 1


def test_an_opened_row_has_the_diff_the_call_and_the_output(session):
    read, edit, *_, command, gone, _ = bodies(session.report())
    assert "-x0 = 0\n+x0 = '</script><b>'" in edit["d"][0]
    assert "a.py" in edit["a"].values()
    assert "null" not in edit["a"]["changes"]
    assert read["t"].count("\n") == 39
    assert command["c"].startswith("echo out")
    assert "out" in command["t"]
    assert command["d"] == ["new file b.txt\n--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+x"]
    assert gone["d"] == ["delete b.txt"]


def test_nothing_of_a_log_becomes_markup(session):
    hostile = '"><script>alert(1)</script>'
    names = ("tool", "session", "code", "reason", "command", "text", "mark", "name", "time")
    page = html_report([{"tool": "x", **dict.fromkeys(names, hostile), "paths": [hostile]}])
    assert "<script>alert" not in page
    assert "<script>alert" not in html_report([], title=hostile)
    assert page.count("<script") == session.report().count("<script") == 2


def test_the_page_asks_nobody_for_anything(session):
    page = session.report()
    assert not re.search(r"(?:src|href)=|@import|url\(|https?://|fetch\(", page.split("<main>")[0])
    assert "default-src 'none'" in page


def test_a_log_without_contents_has_none_in_its_report(tmp_path):
    log = EventLog(tmp_path / "log.jsonl")
    root = tmp_path / "root"
    root.mkdir()
    write = toolset("filesystem").bind(Workspace(root, log=log))["write"]
    assert write.call({"path": "a.txt", "content": "PRIVATE\n"}).ok
    page = log.report()
    assert "PRIVATE" not in page + json.dumps(bodies(page))
    assert "content=True" in page
    assert "a.txt" in page


@pytest.mark.parametrize(
    "secret",
    [
        "export GITHUB_TOKEN=~ && run",
        "GITHUB_TOKEN=ghp_abcdefghij0123456789~",
        "curl -H 'Authorization: Bearer ~abcdef12'",
        "use Bearer auth:\nBearer\t~abcdef12",
        "postgres://bob:~@db/x",
        'API_KEY = "~"',
        '{"password": "~", "x": 1}',
        "db:\n  password: ~\n",
        "mysql --password ~ -h db",
        "mysql --password=~",
        "aws_secret_access_key=~",
        "key AKIA0123456789ABCDEF AKIA0123456789ABCDE~",
        "sk-proj-0123456789abcdef~",
        "xoxb-0123456789-~",
        "eyJhbGciOiJI.eyJzdWIiOiIx.~",
        "-----BEGIN RSA PRIVATE KEY-----\n+MII~\n+more\n+-----END RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\ncut off ~",
        "Cookie: session=~; other=1",
        "MYSQL_PWD=~",
        "curl -H 'Authorization: token ~' http://host/",
        'headers = {"Authorization": "ApiKey ~=="}',
        "proxy-authorization: Digest ~",
        "ya29.A0~-abcdefgh",
        "DB_PASS: '~'",
        "dbpass=~",
        'authorization: Digest username="bob", nonce="1", response="~"',
        "Authorization: AWS4-HMAC-SHA256 Credential=A/1, SignedHeaders=host, Signature=~",
        "curl -H 'Authorization: token hunter2x'",
        "https://host/file?X-Amz-Signature=~",
        r'"{\"password\": \"~\"}"',
        "password%3D~",
        'password := "~"',
        "<password>~</password>",
        r'password = "a\"~"',
        "hvs.0123456789abcdef~",
        "DB_PASSWORD=Password@~",
    ],
)
def test_what_looks_like_a_secret_is_covered(secret):
    told = secret.replace("~", "Zq7hunter2x") if "AKIA" not in secret else secret.replace("~", "Z")
    found = redacted(told)
    assert "hunter2" not in found
    assert "0123456789ABCDEZ" not in found
    assert "•••" in found


def test_a_number_that_is_no_count_is_covered():
    assert "7411" not in redacted("mysql --password 74112233")


@pytest.mark.parametrize(
    "text",
    [
        "tokens = 12",
        "max_tokens=4096",
        "def f(token: str) -> None:",
        "token = tokenize(text)",
        "secret = None",
        "3 passed in 0.2 s",
        "PWD=/home/bob/project",
        '{"PWD": "/home/bob/project"}',
        "class Tokenizer: x = 1",
        "see https://example.org/a:b/c@d",
        "authorization: see the policy",
        "mysql -u root -p shop; mkdir -p a/b",
        "docker run -p 80:80 web",
        "docker run -u 1000:1000 web",
        "docker run --user '1000:1000' web",
        "def parse(self, token: Token) -> None:",
        "self.token = token",
        "const token = await read();",
        "token = '('",
        "SyntaxError: Unexpected token '<', \"<!D\"... is not valid JSON",
        "run --token-limit 50 --no-password x",
        "npm_config_cache_directory",
        "sk-learn-something-long-name",
    ],
)
def test_ordinary_text_stays(text):
    assert redacted(text) == text


@pytest.mark.parametrize(
    "piece",
    ["a.", "-eyJabcdefgh", "password ", "token=", "://a:", "bearer  ", "--token-", "-----BEGIN "],
)
def test_a_hostile_text_takes_no_longer_than_it_is_long(piece):
    redacted(piece * 20_000)
    redacted("password" + piece * 20_000 + " " * 20_000)


@pytest.mark.parametrize("at", [0, 30_000, 500_000, 999_000])
@pytest.mark.parametrize(
    "secret", ["ghp_abcdefghijklmnopqrstuvwxyz0123", "password = hunter2secret", KEY]
)
def test_a_secret_in_a_text_that_is_cut_is_covered_wherever_it_is(secret, at):
    text = ("word " * 200_000)[:at] + f"\n{secret}\n" + "word " * ((1_000_000 - at) // 5)
    for size in (20_000, 300_000):
        page = html_report([{"tool": "x", "text": text, "command": text}] * 3, size=size)
        for found in (page, json.dumps(bodies(page))):
            assert not re.search("ghp_a|hunter2|MIIE", found)


def test_a_host_says_what_is_covered_besides():
    page = html_report([{"tool": "x", "paths": ["customer-4711.txt"]}], cover=[r"customer-\d+"])
    assert "4711" not in page
    assert "•••.txt" in page
    with pytest.raises(InvalidArguments, match="`cover`: '\\(' is no regular expression"):
        html_report([], cover=["("])


def test_what_would_change_the_order_of_a_text_is_spelled_out():
    odd = "a\u202eb\x1b[31mc\u2067"
    page = html_report([{"tool": "x", "command": odd, "text": odd, "paths": [odd]}], title=odd)
    told = page + json.dumps(bodies(page), ensure_ascii=False)
    assert not re.search("[\u202e\x1b\u2067]", told)
    assert "a\\u202eb" in page
    assert bodies(page)[0]["t"] == r"a\u202eb\x1b[31mc\u2067"


def test_secrets_are_covered_everywhere_on_the_page():
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123"
    record = {
        "tool": "bash", "effect": "execute", "code": "DENIED", "session": secret, "call": secret,
        "command": f"push {secret}", "reason": f"not {secret}", "paths": [secret],
        "changed": [secret], "text": secret,
        "arguments": {"env": {"DB_PASSWORD": "unseen"}, "headers": {"Cookie": "sid=unseen"}},
        "diffs": [{"path": secret, "diff": f"+{secret}"}],
    }  # fmt: skip
    page = html_report([record, {**record, "session": "b"}], title=secret)
    for text in (page, json.dumps(bodies(page))):
        assert secret not in text
        assert "unseen" not in text


def test_500_calls_with_diffs_keep_to_300_kb():
    """Text of random words packs badly; what is shortened says so."""
    line = "".join(f"{n * 7919 % 104729:x} " for n in range(400))
    diff = "--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n" + "\n".join(
        f"{mark}{line[n : n + 60]}" for n in range(0, 1200, 60) for mark in "-+"
    )
    record = {"tool": "edit", "effect": "write", "code": "OK", "paths": ["f.py"], "session": "s"}
    calls = [
        {**record, "arguments": {"n": n}, "text": diff[n:], "diffs": [{"diff": f"{diff}{n * n}"}]}
        for n in range(500)
    ]
    page = html_report(calls)
    assert len(page.encode()) <= 300_000
    assert len(bodies(page)) == 500
    large = html_report([{**call, "text": line * 50 + str(call)} for call in calls])
    assert len(large.encode()) <= 300_000
    assert "characters left out" in json.dumps(bodies(large))
    assert "shortened here" in large


def test_a_log_that_was_cut_off_is_read_as_far_as_it_goes(session, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(log.read_bytes()[:-20] + b"\nnull\n[1]\n\xff\xfe\n")
    page = session.report()
    assert "could not be read: 4." in page
    assert "edit_lines" in page


def test_records_with_missing_or_odd_fields_are_shown():
    odd = [
        {"tool": "x"},
        {"tool": "y", "time": 3, "duration_ms": "x", "paths": None, "changed": None, "code": None},
        {"tool": "z", "time": "2026-01-01T00:00:00+00:00", "arguments": "{not json", "refused": 3},
        {"tool": "z", "time": "2026-01-01T00:00:00", "diffs": ["x"], "insertions": None},
        *2 * [{"tool": "x", "duration_ms": 10**400, "insertions": int("9" * 4300)}],
        {"tool": "x", "time": "0001-01-01T00:00:00+23:59", "duration_ms": float("nan")},
    ]
    assert len(bodies(html_report(odd))) == 7


def test_moments_are_told_in_utc():
    page = html_report([{"tool": "x", "time": "2026-01-01T01:30:00+02:00"}])
    assert "2025-12-31 23:30 UTC" in page
    assert "<time>23:30:00</time>" in page


def test_lines_are_told_of_files_whose_lines_were_counted():
    page = html_report(
        [
            {"tool": "bash", "command": "make", "changed": ["made"]},
            {"tool": "edit", "changed": ["edited"], "insertions": 2},
        ]
    )
    made, edited = re.findall(r"<tr><td>1<td>(.*?)(?=<tr>|</table>)", page)
    assert "+0" not in made
    assert "+2" in edited


LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20)
    | st.sampled_from(["</script>", "<b>", "\ud800", "password=x", "OK", "2026-01-01T00:00:00Z"])
)  # fmt: skip
TEXTS = ["time", "session", "tool", "effect", "code", "command", "reason", "text", "mark", "name"]
OTHERS = ["paths", "changed", "refused", "diffs", "arguments", "duration_ms", "exit_code"]
COUNTS = ["insertions", "deletions", "sent_characters", "answer_characters", "sha256_after"]
FIELDS = [*TEXTS, *OTHERS, *COUNTS]
VALUES = LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(), LEAVES, max_size=3)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES), max_size=4))
def test_whatever_a_log_holds_becomes_a_page(records):
    page = html_report(records)
    assert len(bodies(page)) == len(records)
    assert page.encode().count(b"<script") == 2


def test_what_is_nested_too_deep_is_left_out(tmp_path):
    deep = []
    for _ in range(5_000):
        deep = [deep]
    (body,) = bodies(html_report([{"tool": "x", "arguments": {"a": deep}, "text": deep}]))
    assert "…" in body["a"]["a"]
    (tmp_path / "log").write_text('{"tool": "x"}\n' + '{"tool": ' + "[" * 100_000 + "\n")
    assert "could not be read: 1." in EventLog(tmp_path / "log").report()


def test_a_log_with_a_function_is_given_its_records(tmp_path):
    records = []
    log = EventLog(records.append)
    toolset("filesystem").bind(Workspace(tmp_path, log=log))["ls"].call({})
    assert "<b>ls</b>" in log.report(records)
    with pytest.raises(ToolError, match="records"):
        log.report()


def test_the_command_line_writes_the_page(session, tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["report", str(tmp_path / "log.jsonl"), "-o", str(page)]) == 0
    assert "edit_lines" in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600
    assert main(["report", str(tmp_path / "log.jsonl")]) == 0
    assert capsys.readouterr().out == page.read_text()


def test_the_page_does_not_take_the_place_of_its_log(session, tmp_path, capsys):
    log, link = tmp_path / "log.jsonl", tmp_path / "link"
    before = log.read_bytes()
    link.symlink_to(log)
    for place in (log, link):
        assert main(["report", str(log), "-o", str(place)]) == 2
        assert "is the log itself" in capsys.readouterr().err
    assert log.read_bytes() == before


def test_a_page_that_others_could_read_is_closed_to_them(session, tmp_path):
    page = tmp_path / "report.html"
    page.write_text("")
    page.chmod(0o644)
    assert main(["report", str(tmp_path / "log.jsonl"), "-o", str(page)]) == 0
    assert page.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "told"), [("none.jsonl", "no event log"), ("a.txt", "none of its lines is a record")]
)
def test_the_command_line_says_what_is_wrong_with_a_log(name, told, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("hello\n")
    assert main(["report", str(tmp_path / name)]) == 2
    assert told in capsys.readouterr().err
