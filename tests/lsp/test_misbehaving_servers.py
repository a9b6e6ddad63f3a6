"""What a server may do wrong costs at most the deadline and ends in a clear answer."""

import gc
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from fsagent_tools.call import CallContext, current
from fsagent_tools.errors import Cancelled
from fsagent_tools.lsp.servers import Language, ServerSpec
from tests.conftest import DEADLINES, PATIENCE, eventually, soon

from .conftest import FAKE, fakes, gone, manager_of, processes

pytestmark = pytest.mark.full

NO_TIME = 0.01  # seconds, in which no server can answer anew


def messages(diagnosis):
    return [problem.message for problem in diagnosis.problems]


def reason(diagnosis):
    return next(iter(diagnosis.missing.values()), "")


def diagnosed(servers, file, text):
    """What a server says within a deadline that left it the time to start."""
    for seconds in DEADLINES:
        found = servers.diagnose(file, text, seconds)
        if "start" not in reason(found):
            return found
    return found


@pytest.mark.parametrize("behaviour", ["hangs", "deaf"])
def test_a_server_that_never_starts_costs_the_deadline_and_is_stopped(fake, tmp_path, behaviour):
    servers, file = fake(behaviour, tmp_path)
    with soon():
        found = servers.diagnose(file, "{}", 0.5)
    assert reason(found).startswith("python did not start in time; it was stopped.")
    assert gone(f"{behaviour}\0{tmp_path}")


@pytest.mark.parametrize("behaviour", ["mute", "silent-push", "stops-reading"])
def test_a_server_that_stays_silent_gives_no_clean_bill(fake, behaviour):
    servers, file = fake(behaviour)
    with soon():
        found = diagnosed(servers, file, "{" + " " * 500_000 + "}")
    assert (found.problems, found.answered) == ([], [])
    assert "python" in reason(found)


def test_a_server_silent_twice_is_started_afresh(fake, tmp_path):
    servers, file = fake("mute", tmp_path)
    diagnosed(servers, file, "{}")
    (first,) = fakes(f"mute\0{tmp_path}")
    servers.diagnose(file, "{}", 0.2)
    assert eventually(lambda: first not in fakes(f"mute\0{tmp_path}"))


@pytest.mark.parametrize("behaviour", ["pushes", "pushes-once"])
def test_the_answer_about_an_unchanged_file_is_there_without_waiting(fake, behaviour):
    servers, file = fake(behaviour)
    first = servers.diagnose(file, "one", PATIENCE)
    assert messages(first) == ["one"]
    assert servers.diagnose(file, "one", NO_TIME) == first


def test_what_was_said_before_a_change_is_not_told(fake):
    servers, file = fake("pushes")
    assert messages(servers.diagnose(file, "one", PATIENCE)) == ["one"]
    late = servers.diagnose(file, "(silence)", 1)
    assert (messages(late), late.answered) == ([], [])
    assert messages(servers.diagnose(file, "two", PATIENCE)) == ["two"]


FAILING = {  # behaviour -> what the answer says
    "nonsense": "does not speak the language server protocol",
    "huge": "does not speak the language server protocol",
    "dies-at-start": "the configuration is missing",
    "closes-first": "the configuration is missing",
    "dies": "ended unexpectedly",
    "refuses": "refused to check: no idea",
}


@pytest.mark.parametrize("behaviour", FAILING)
def test_a_server_that_fails_is_named_with_its_words(fake, tmp_path, behaviour):
    servers, file = fake(behaviour, tmp_path)
    with soon():
        found = servers.diagnose(file, "{}", PATIENCE / 2)
    assert (found.problems, found.answered) == ([], [])
    assert FAILING[behaviour] in reason(found)
    if behaviour != "refuses":
        assert gone(f"{behaviour}\0{tmp_path}")


@pytest.mark.parametrize("answer", ["null", "{}", '{"items": null}', '{"items": [null]}', "[]"])
def test_what_is_no_answer_is_no_clean_bill(fake, answer):
    servers, file = fake("blank", answer)
    assert messages(servers.diagnose(file, "one", PATIENCE)) == ["one"]
    found = servers.diagnose(file, "(nothing)", PATIENCE)
    assert "answered without diagnostics" in reason(found)
    assert messages(servers.diagnose(file, "two", PATIENCE)) == ["two"]


def test_a_killed_server_is_started_again_within_the_same_call(fake, tmp_path):
    servers, file = fake("normal", tmp_path)
    for text in ("one", "two"):
        assert messages(servers.diagnose(file, text, PATIENCE)) == [text]
        for number in processes(f"normal\0{tmp_path}"):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
    assert messages(servers.diagnose(file, "two", PATIENCE)) == ["two"]


@pytest.mark.parametrize(
    "behaviour",
    ["stderr", "floods", "foreign-ids", "malformed", "registers", "busy", "hasty", "hasty work"],
)
def test_noise_and_haste_do_not_hide_the_answer(fake, behaviour):
    servers, file = fake(*behaviour.split())
    assert messages(servers.diagnose(file, "said", PATIENCE)) == ["said"]


def test_every_request_of_the_server_gets_an_answer(fake, tmp_path):
    servers, file = fake("asks")
    (told,) = messages(servers.diagnose(file, "{}", PATIENCE))
    folder = f'{{"uri": "{tmp_path.as_uri()}", "name": "{tmp_path.name}"}}'
    assert told == (
        f'[[null, {{}}], null, null, null, null, {{"applied": false}}, [{folder}], -32601, -32601]'
    )


@pytest.mark.parametrize("behaviour", ["pushes", "pushes-old"])
def test_the_last_push_for_the_newest_version_counts(fake, behaviour):
    servers, file = fake(behaviour)
    for text in ("one", "two"):
        assert messages(servers.diagnose(file, text, PATIENCE)) == [text]


def test_columns_are_characters_and_a_byte_order_mark_is_none(fake):
    servers, file = fake("utf-16", 4, 5)
    (problem,) = servers.diagnose(file, "é𝄞 x\n", PATIENCE).problems
    assert ((problem.line, problem.column), problem.end) == ((1, 4), (1, 5))
    (problem,) = servers.diagnose(file, "\ufeffabcdefg\n", PATIENCE).problems
    assert (problem.line, problem.column) == (1, 5)


def test_documents_used_longest_ago_are_closed(fake, tmp_path):
    servers, _ = fake("counts")
    told = [messages(servers.diagnose(tmp_path / f"{n}.json", "{}", PATIENCE)) for n in range(66)]
    assert told == [[f"{n} open"] for n in [*range(1, 65), 64, 64]]


def test_a_cancelled_call_stops_waiting(fake):
    servers, file = fake("mute")
    call = CallContext()
    token = current.set(call)
    threading.Timer(0.5, call.cancelled.set).start()
    try:
        with soon(), pytest.raises(Cancelled):
            servers.diagnose(file, "{}", 2 * PATIENCE)
    finally:
        current.reset(token)


def test_an_idle_server_is_ended_and_comes_back(fake, tmp_path):
    servers, file = fake("normal", tmp_path, idle=0.2)
    assert messages(servers.diagnose(file, "one", PATIENCE)) == ["one"]
    assert gone(f"normal\0{tmp_path}")
    assert messages(servers.diagnose(file, "two", PATIENCE)) == ["two"]


def test_of_too_many_servers_the_one_used_longest_ago_gives_way(servers, tmp_path):
    spec = ServerSpec("jl", (sys.executable, str(FAKE), "normal", str(tmp_path)), "make jl")
    language = Language("javalette", {".jl": "jl"}, ("jl.toml",), ((spec,),))
    servers = servers({"javalette": language}, max_running=2)
    for project in "abac":
        folder = tmp_path.resolve() / project
        folder.mkdir(exist_ok=True)
        (folder / "jl.toml").write_text("")
        assert messages(servers.diagnose(folder / "a.jl", project, PATIENCE)) == [project]
    assert eventually(lambda: len(fakes(f"normal\0{tmp_path}")) == 2)
    assert messages(servers.diagnose(tmp_path.resolve() / "a/a.jl", "a", PATIENCE)) == ["a"]


@pytest.mark.parametrize("end", ["close", "garbage"])
def test_no_process_survives_the_manager_not_even_a_grandchild(tmp_path, end):
    servers = manager_of(tmp_path, {"json": (sys.executable, str(FAKE), "children")})
    servers.diagnose(tmp_path / "a.json", "{}", PATIENCE)
    place = servers.directory
    assert processes(place)
    if end == "close":
        servers.close()
        assert "closed" in reason(servers.diagnose(tmp_path / "a.json", "{}", PATIENCE))
    else:
        del servers
        gc.collect()
    assert gone(place)


def test_no_process_survives_the_interpreter(tmp_path):
    command = (sys.executable, str(FAKE), "children", str(tmp_path))
    script = (
        "from fsagent_tools import Workspace, toolset\n"
        f"workspace = Workspace({str(tmp_path)!r}, servers={{'json': {command!r}}})\n"
        "print(toolset('workspace').bind(workspace)['lsp'].call({'file_path': 'a.json'}).text)"
    )
    (tmp_path / "a.json").write_text("{}")
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "a.json" in done.stdout
    assert gone(f"children\0{tmp_path}")


def test_a_command_that_is_not_there_says_what_to_correct(servers, tmp_path):
    servers = servers({"json": ("/no/such/server",)})
    found = servers.diagnose(tmp_path / "a.json", "{}", PATIENCE)
    assert "could not be started" in reason(found)
    assert "Check the command in the `servers` setting" in reason(found)


def test_a_server_sees_no_keys_in_its_environment(monkeypatch, servers, tmp_path):
    monkeypatch.setenv("SECRET_API_KEY", "sesame")
    script = "import os, sys; sys.exit(str('SECRET_API_KEY' in os.environ))"
    servers = servers({"json": (sys.executable, "-c", script)})
    assert "False" in reason(servers.diagnose(tmp_path / "a.json", "{}", PATIENCE))


def test_writes_that_no_answer_reaches_in_time_leave_one_question_behind(fake):
    servers, file = fake("mute")
    before = {*threading.enumerate()}
    answers = [servers.diagnose_soon(file, str(number), 0.05) for number in range(5)]
    assert answers == [None] * 5
    new = [thread.name for thread in {*threading.enumerate()} - before]
    assert new.count("lsp-ask") == 1


def test_what_was_asked_behind_a_write_is_there_for_the_next_one(fake):
    servers, file = fake("normal")
    assert eventually(lambda: servers.diagnose_soon(file, "one", 0.4))
    assert messages(servers.diagnose_soon(file, "two", PATIENCE)) == ["two"]


@pytest.fixture
def unversioned(servers, tmp_path):
    """A function: behaviour -> (a server that publishes without versions; a file)."""

    def make(*behaviour, **options):
        command = (sys.executable, str(FAKE), *behaviour)
        spec = ServerSpec("jl", command, "make jl", **options)
        made = servers({"javalette": Language("javalette", {".jl": "jl"}, (), ((spec,),))})
        return made, tmp_path.resolve() / "a.jl"

    return make


def test_what_a_server_owes_of_an_earlier_text_is_not_its_answer_to_the_next(unversioned):
    servers, file = unversioned("owes")
    assert diagnosed(servers, file, "(later)").answered == []
    assert messages(servers.diagnose(file, "two", PATIENCE)) == ["two"]


def test_a_server_that_is_still_at_work_gives_no_clean_bill(unversioned):
    servers, file = unversioned("pushes-at-work", final_push=True)
    assert diagnosed(servers, file, "one").answered == []


def test_a_project_that_a_server_could_not_read_is_not_checked(fake):
    servers, file = fake("ailing")
    found = servers.diagnose(file, "said", PATIENCE)
    assert messages(found) == ["said"]
    assert reason(found) == "cannot read deps: offline true"


def test_files_that_changed_meanwhile_are_told_and_settings_mean_a_new_server(servers, tmp_path):
    command = (sys.executable, str(FAKE), "watches", str(tmp_path))
    spec = ServerSpec("jl", command, "make jl")
    language = Language("javalette", {".jl": "jl"}, ("jl.toml",), ((spec,),), ("jl.toml",))
    servers, root = servers({"javalette": language}), tmp_path.resolve()
    (root / "jl.toml").write_text("")
    (root / "gone.jl").write_text("")
    assert messages(servers.diagnose(root / "a.jl", "", PATIENCE)) == ["nothing"]
    (root / "gone.jl").unlink()
    (root / "d").mkdir()
    (root / "d/new.jl").write_text("")
    assert messages(servers.diagnose(root / "a.jl", "", PATIENCE)) == ["d gone.jl new.jl"]
    (before,) = fakes(f"watches\0{tmp_path}")
    (root / "jl.toml").write_text("a = 1")
    assert messages(servers.diagnose(root / "a.jl", "", PATIENCE)) == ["nothing"]
    assert fakes(f"watches\0{tmp_path}") != [before]
