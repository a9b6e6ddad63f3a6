"""The live benchmark with scripted models: tasks, judging, resuming, standings, engines."""

import json
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from subprocess import PIPE
from types import SimpleNamespace

import pytest

from benchmark.agent import engines, models
from benchmark.agent.attempt import Job, attempt
from benchmark.agent.contenders import CONTENDERS
from benchmark.agent.leaderboard import page
from benchmark.agent.main import main
from benchmark.agent.standings import difference, interval, standings
from benchmark.agent.tasks import repository, tasks
from benchmark.calls.form import Call
from benchmark.calls.importers import imported
from benchmark.mine import git
from tests.conformance.rows import OWN

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
PROJECT = OWN.parents[2] / "examples" / "project"
FILES = {
    path.relative_to(PROJECT).as_posix(): path.read_text() for path in sorted(PROJECT.rglob("*.py"))
}
TASKS = tasks(FILES, 4)


def test_tasks_are_the_same_each_time_and_differ_in_one_line():
    assert tasks(FILES, 4) == TASKS
    assert len({task.kind for task in TASKS}) == 4
    for task in TASKS:
        pairs = zip(task.broken.split("\n"), task.meant.split("\n"), strict=True)
        assert [n for n, (a, b) in enumerate(pairs, 1) if a != b] == [task.line]


def test_only_the_bytes_of_all_files_decide(tmp_path):
    task = TASKS[0]
    task.lay(tmp_path, FILES)
    assert not task.solved(tmp_path, FILES)
    (tmp_path / task.path).write_text(task.meant)
    assert task.solved(tmp_path, FILES)
    other = next(name for name in FILES if name != task.path)
    (tmp_path / other).write_text(FILES[other] + "\n")
    assert not task.solved(tmp_path, FILES)


def test_tests_decide_and_may_not_be_changed(tmp_path):
    checks = "import add\nassert add.add(1, 2) == 3\n"
    files = {"add.py": "def add(a, b):\n    return a + b\n", "test_add.py": checks}
    (task, *_) = tasks(files, 1, f"{sys.executable} test_add.py")
    task.lay(tmp_path, files)
    assert "tests fail" in task.prompt
    assert not task.solved(tmp_path, files)
    (tmp_path / task.path).write_text(f"{task.meant}# in another way\n")
    assert task.solved(tmp_path, files)
    (tmp_path / "test_add.py").write_text("")
    assert not task.solved(tmp_path, files)


def test_a_path_that_leads_out_is_refused(tmp_path):
    with pytest.raises(ValueError, match="leads out of the repository"):
        TASKS[0].lay(tmp_path, {"../x.py": ""})


@pytest.mark.parametrize("contender", CONTENDERS)
@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_a_model_that_knows_the_answer_solves_each_task(framework, contender):
    if (framework, contender) == ("llamaindex", "deepagents"):
        with pytest.raises(ValueError, match="for LangChain"):
            attempt(Job(TASKS[0], contender, "scripted", framework), FILES)
        return
    record = attempt(Job(TASKS[0], contender, "scripted", framework), FILES)
    assert record["solved"], record
    assert (record["calls"], record["refused"], record["ended"]) == (2, 0, "")


def test_a_model_that_gives_up_solves_nothing():
    record = attempt(Job(TASKS[0], "tag", "scripted:0"), FILES)
    assert (record["solved"], record["calls"]) == (False, 0)


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "repo"
    TASKS[0].lay(folder, FILES)
    git(tmp_path, "init", "--quiet", "repo")
    git(folder, "add", "--all")
    return folder


def test_a_run_goes_on_where_it_ended_and_counts_nothing_twice(repo, tmp_path, capsys):
    words = ["--quick", "--repo", str(repo), "--out", str(tmp_path), "--model", "scripted:0.5"]
    words += ["--tools", "words", "tag"]
    main(words)
    path = tmp_path / "live.jsonl"
    first = path.read_text().splitlines()
    assert len(first) == 8
    path.write_text("\n".join(first[:3]) + "\n" + first[3][:20])
    main(words)
    again = [json.loads(line) for line in path.read_text().splitlines()]
    keys = Counter((row["task"], row["contender"]) for row in again)
    assert {*keys.values()} == {1}
    assert len(keys) == 8
    solved = {(r["task"], r["contender"]): r["solved"] for r in map(json.loads, first)}
    assert {(r["task"], r["contender"]): r["solved"] for r in again} == solved
    assert "| words |" in capsys.readouterr().out


@pytest.mark.parametrize(("framework", "played"), [("langchain", 3), ("llamaindex", 4)])
def test_whoever_is_at_standard_input_can_be_the_model(repo, tmp_path, framework, played):
    words = ["--quick", "--repo", str(repo), "--out", str(tmp_path), "--model", "stdio"]
    words += ["--tools", "compact", "--framework", framework]
    start = [sys.executable, "-m", "benchmark", "live", *words]
    made = tasks(repository(repo), 4)
    with subprocess.Popen(start, cwd=OWN.parents[2], text=True, stdin=PIPE, stdout=PIPE) as live:

        def turn(said):
            print(json.dumps(said), file=live.stdin, flush=True)
            return json.loads(live.stdout.readline())

        def call(name, **arguments):
            return {"calls": [{"name": name, "arguments": arguments}]}

        told = json.loads(live.stdout.readline())
        for task in made[:played]:
            names = [tool["function"]["name"] for tool in told["tools"]]
            assert names == ["Read", "Write", "Edit", "Glob", "Grep"]
            assert told["messages"][-1] == {"role": "user", "text": task.prompt}
            assert "calls.0.name" in turn({"calls": [{}]})["error"]
            shown = turn(call("Read", file_path=task.path))["messages"][-1]
            assert shown["role"] == "tool"
            refused = turn(call("Edit", file_path=task.path, old_string="?!", new_string="x"))
            assert refused["messages"][-1]["text"].startswith("Error")
            turn(call("Write", file_path=task.path, content=task.meant))
            told = turn({"text": "Done."})
        live.stdin.close()
        assert live.wait() == (played < len(made))
    assert played < len(made) or "| compact | 4 | 100.0 % |" in told["ended"]
    rows = [json.loads(line) for line in (tmp_path / "live.jsonl").read_text().splitlines()]
    assert [(row["solved"], row["calls"], row["refused"]) for row in rows] == [
        (True, 3, 1)
    ] * played
    (kept, *_) = sorted((tmp_path / "played").iterdir())
    (call,) = (one for one in imported("atif", kept) if isinstance(one, Call))
    assert (call.old, call.new) == ("?!", "x")


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_a_model_that_cannot_be_had_is_told_before_anything_is_tried(repo, tmp_path, framework):
    out = tmp_path / "out"
    words = ["--repo", str(repo), "--out", str(out), "--model", "nobody:x"]
    with pytest.raises(SystemExit, match="nobody:x cannot be used: "):
        main([*words, "--framework", framework])
    assert not out.exists()


def test_a_package_that_a_model_needs_is_named_with_the_way_to_install_it(monkeypatch):
    def lacking(*_: object, **__: object) -> None:
        raise ImportError("Please install it with `pip install langchain-xai`")

    monkeypatch.setattr(models, "init_chat_model", lacking)
    with pytest.raises(SystemExit, match=f"--python {re.escape(sys.executable)} install"):
        models.require("xai:grok-4", "langchain")


def test_an_attempt_that_raises_is_tried_again_and_stays_open(monkeypatch):
    job, tries, lock = Job(TASKS[0], "tag", "scripted"), Counter(), threading.Lock()

    def flaky(asked, files):
        with lock:
            tries[asked.contender] += 1
        if asked.contender == "tag" or tries[asked.contender] < 2:
            raise ConnectionError("busy")
        return {"contender": asked.contender}

    monkeypatch.setattr(engines, "attempt", flaky)
    jobs = [job, Job(TASKS[0], "words", "scripted")]
    assert list(engines.local(jobs, FILES, 2)) == [{"contender": "words"}]
    assert tries == {"tag": 3, "words": 2}


@pytest.fixture
def locked(monkeypatch):
    """A provider on this machine that refuses every key; the paths that it was asked for."""
    asked = []

    class Locked(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"error": {"message": "Incorrect API key provided: wrong."}}).encode()
            self.send_response(401)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Locked) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("OPENAI_API_KEY", "wrong")
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        yield asked
        server.shutdown()
        thread.join()


def test_a_key_that_is_refused_ends_the_run_at_once(repo, tmp_path, locked, capsys):
    pytest.importorskip("langchain_openai")
    words = ["--quick", "--repo", str(repo), "--out", str(tmp_path / "out"), "--parallel", "1"]
    with pytest.raises(SystemExit, match=r"refuses the key: .*Incorrect API key provided: wrong"):
        main([*words, "--model", "openai:gpt-5-mini", "--tools", "tag", "words"])
    assert len(locked) == 1
    assert "try" not in capsys.readouterr().err


def test_a_network_that_is_dead_ends_the_run_with_what_was_measured(
    repo, tmp_path, monkeypatch, capsys
):
    pytest.importorskip("langchain_openai")
    words = ["--quick", "--repo", str(repo), "--out", str(tmp_path / "out"), "--parallel", "1"]
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
    monkeypatch.setenv("OPENAI_MAX_RETRIES", "0")
    with pytest.raises(SystemExit, match=r"gpt-5-mini cannot be reached: .*refused[^$]*goes on"):
        main([*words, "--model", "openai:gpt-5-mini", "--tools", "tag"])
    assert "4 of 4 attempts are open" in capsys.readouterr().out


FULL = """
import sys
from benchmark.agent.main import main
main(sys.argv[1:])
"""


@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare")
def test_a_full_disk_ends_the_run_with_what_was_measured(repo, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    words = ["--quick", "--repo", repo, "--out", out, "--model", "scripted", "--tools", "tag"]
    mount = f"mount -t tmpfs -o size=4k none {out} && head -c 3500 /dev/zero > {out}/other"
    shell = ["unshare", "--mount", "--map-root-user", "sh", "-c", f'{mount} && exec "$@"', "sh"]
    if subprocess.run([*shell, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mounts here")
    start = [*shell, sys.executable, "-W", "ignore", "-c", FULL, *map(str, words)]
    run = subprocess.run(start, cwd=OWN.parents[2], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert re.search(r"out cannot be written: No space left .*\n.*goes on", run.stderr)
    assert "Traceback" not in run.stderr
    assert "| tag | " in run.stdout


def test_a_refused_key_is_known_however_it_is_wrapped():
    denied = ConnectionError("no")
    denied.response = SimpleNamespace(status_code=403)
    wrapped = RuntimeError("the step failed")
    wrapped.__cause__ = denied
    assert models.refused(wrapped)
    assert models.refused(ValueError("400 API key not valid. Please pass a valid API key."))
    denied.response.status_code = 429
    assert not models.refused(wrapped)


def record(task, contender, solved, **more):
    plain = {
        "kind": "equal",
        "calls": 2,
        "refused": 0,
        "input": 1_000,
        "output": 100,
        "seconds": 1.0,
    }
    return {"task": task, "contender": contender, "solved": solved, **plain, **more}


def test_standings_have_intervals_and_costs():
    records = [record(n, "a", solved=n < 8) for n in range(10)]
    records += [record(n, "b", solved=n < 4) for n in range(10)]
    first, second = standings(records, (1, 10))
    assert (first.contender, first.solved, second.solved) == ("a", 0.8, 0.4)
    assert first.low < 0.6 < first.solved < 1 == first.high
    assert first.cost == pytest.approx(10 * (1_000 * 1 + 100 * 10) / 1e6)
    gap, low, high = difference(records, "a", "b")
    assert gap == pytest.approx(0.4)
    assert low < gap < high
    many = [record(n % 10, "a", solved=n % 10 < 8) for n in range(1_000)]  # ten tasks, each often
    assert (standings(many)[0].low, standings(many)[0].high) == (first.low, first.high)
    low, high = interval([1.0] * 600 + [0.0] * 400)
    assert 0.56 < low < 0.58 < 0.62 < high < 0.64  # as the normal distribution has it, +-0.03


def test_the_page_needs_nothing_from_elsewhere_and_escapes():
    records = [record(1, "<b>", solved=True), record(1, "x", solved=False)]
    text = page("a & b", standings(records), records)
    assert "<b>" not in text
    assert "a &amp; b" in text
    assert not any(word in text for word in ("http", "src=", "<link", "@import"))


def test_a_repository_is_what_git_knows(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.bin").write_bytes(b"\xff")
    (tmp_path / "c.py").write_text("not known")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "a.py", "b.bin")
    assert repository(tmp_path) == {"a.py": "x = 1\n"}


def test_a_folder_without_git_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="is no git repository"):
        repository(tmp_path)


CHECKOUT = """
class Result:
    def __init__(self, passed): self.passed = passed

class Task:
    def __init__(self, number):
        self.id, self.prompt = f"task_{number}", f"Write {number} to a.txt."
    def setup(self, folder): (folder / "a.txt").write_text("0\\n")
    def verify(self, folder):
        return Result(f"Write {(folder / 'a.txt').read_text().strip()} to a.txt." == self.prompt)

ALL_TASKS = [Task(number) for number in range(1, 7)]
"""


def test_tasks_of_a_checkout_are_laid_and_judged_by_its_own_code(tmp_path):
    repo, out = tmp_path / "repo", tmp_path / "out"
    (repo / "harness_bench").mkdir(parents=True)
    (repo / "harness_bench/__init__.py").touch()
    (repo / "harness_bench/tasks.py").write_text(CHECKOUT)
    words = ["--set", "harness", "--tasks", "3", "--out", str(out), "--repo"]
    with pytest.raises(SystemExit, match="wants --repo CHECKOUT"):
        main([*words, str(repo)])
    with pytest.raises(SystemExit, match="is no checkout of harness-bench-fast that runs here: "):
        main([*words, str(out), "--model", "stdio"])
    start = [sys.executable, "-m", "benchmark", "live", *words, str(repo), "--model", "stdio"]
    for contender, shell in (("compact", "bash"), ("deepagents", "execute")):
        write = {"name": shell, "arguments": {"command": "echo 3 > a.txt"}}
        said = "".join(f"{json.dumps(x)}\n" for x in [{"calls": [write]}, {"text": "Done."}] * 3)
        command = [*start, "--tools", contender]
        subprocess.run(command, cwd=OWN.parents[2], text=True, input=said, check=True)
    rows = [json.loads(line) for line in (out / "live.jsonl").read_text().splitlines()]
    assert [row["task"] for row in rows] == ["task_1", "task_3", "task_5"] * 2
    assert [row["solved"] for row in rows] == [False, True, False] * 2
