"""What a server may do wrong costs at most the deadline and ends in a clear error."""

import gc
import subprocess
import sys
import threading
from contextlib import suppress
from functools import partial

import pytest

from fsagent_tools.call import CallContext, current
from fsagent_tools.errors import Cancelled, LanguageServerFailed, TimedOut
from fsagent_tools.lsp import beside
from fsagent_tools.lsp.pool import MOST_DEATHS, Servers
from fsagent_tools.lsp.server import Server
from fsagent_tools.lsp.table import Language, Spec
from tests.conftest import DEADLINES, PATIENCE, eventually, soon

from .conftest import FAKE, children, gone, own

NO_TIME = 0.001  # seconds, in which no server can answer


def patiently(pool, file, text):
    """What a server says within a deadline that left it the time to start."""
    for seconds in DEADLINES:
        with suppress(TimedOut):
            return pool.check(file, text, seconds)
    return pool.check(file, text, PATIENCE)


def messages(checked):
    return [problem.message for problem in checked.problems]


@pytest.mark.parametrize("behaviour", ["hangs", "deaf"])
def test_a_server_that_never_starts_costs_the_deadline_and_is_stopped(fake, behaviour):
    pool, file = fake(behaviour)
    with soon(), pytest.raises(TimedOut, match=r"did not start within 0\.5 s; it was stopped"):
        pool.check(file, "{}", 0.5)
    assert children(pool) == []


@pytest.mark.parametrize("behaviour", ["mute", "silent-push", "stops-reading"])
def test_a_server_that_stays_silent_is_named(fake, behaviour):
    pool, file = fake(behaviour)
    with soon():
        checked = patiently(pool, file, "{" + " " * 500_000 + "}")
    assert (checked.problems, len(checked.those("silent"))) == ([], 1)


def test_a_server_silent_twice_is_started_afresh(fake):
    pool, file = fake("mute")
    patiently(pool, file, "{}")
    assert len(children(pool)) == 1
    pool.check(file, "{}", 0.2)
    assert gone(own(pool))


def test_a_server_with_nothing_to_say_is_left_running(fake):
    pool, file = fake("silent-push")
    patiently(pool, file, "{}")
    (slot,) = pool._slots.values()
    running = slot.server
    for text in ("1", "2", "3"):
        assert eventually(lambda: slot.pinged != running.client.heard)  # it answered the ping
        assert pool.check(file, text, 0.5).those("silent") != []
        assert slot.server is running


@pytest.mark.parametrize("behaviour", ["pushes", "pushes-once"])
def test_the_answer_about_an_unchanged_file_is_there_without_waiting(fake, behaviour):
    pool, file = fake(behaviour)
    first = pool.check(file, "one", PATIENCE)
    assert messages(first) == ["one"]
    assert pool.check(file, "one", NO_TIME) == first


def test_what_is_told_from_before_a_change_is_told_as_old(fake):
    pool, file = fake("pushes")
    assert messages(pool.check(file, "one", PATIENCE)) == ["one"]
    late = pool.check(file, "(silence)", 1)
    assert (messages(late), len(late.those("old")), len(late.told)) == (["one"], 1, 1)
    assert pool.check(file, "two", PATIENCE).those("old") == []


@pytest.mark.parametrize("behaviour", ["nonsense", "huge"])
def test_a_server_that_speaks_nonsense_fails_at_once(fake, behaviour):
    pool, file = fake(behaviour)
    with (
        soon(),
        pytest.raises(LanguageServerFailed, match="does not speak the language server protocol"),
    ):
        pool.check(file, "{}", 2 * PATIENCE)
    assert children(pool) == []


@pytest.mark.parametrize("behaviour", ["dies-at-start", "closes-first"])
def test_a_server_that_dies_at_start_tells_why(fake, behaviour, monkeypatch):
    monkeypatch.setattr("fsagent_tools.lsp.child._LAST_WORDS", PATIENCE)
    pool, file = fake(behaviour)
    with pytest.raises(LanguageServerFailed, match="the configuration is missing"):
        pool.check(file, "{}", PATIENCE)


def test_a_server_that_always_dies_fails_without_a_loop(fake):
    pool, file = fake("dies")
    with pytest.raises(LanguageServerFailed, match="ended unexpectedly"):
        pool.check(file, "{}", PATIENCE)


@pytest.mark.parametrize("answer", ["null", "{}", '{"items": null}', '{"items": [null]}', "[]"])
def test_what_is_no_answer_is_no_clean_bill(fake, answer):
    pool, file = fake("blank", answer)
    assert messages(pool.check(file, "one", PATIENCE)) == ["one"]
    (first,) = children(pool)
    with pytest.raises(LanguageServerFailed, match="answered without diagnostics"):
        pool.check(file, "(nothing)", PATIENCE)
    assert messages(pool.check(file, "two", PATIENCE)) == ["two"]
    assert children(pool) != [first]


def test_a_killed_server_is_started_again_within_the_same_call(fake):
    pool, file = fake("normal")
    assert messages(pool.check(file, "one", PATIENCE)) == ["one"]
    (child,) = children(pool)
    child.kill()
    assert child.wait_gone(PATIENCE)
    assert messages(pool.check(file, "two", PATIENCE)) == ["two"]
    assert children(pool) != [child]


def test_an_error_reply_names_the_server_and_its_words(fake):
    pool, file = fake("refuses")
    with pytest.raises(LanguageServerFailed, match=r"refused to check: no idea \(-32603\)"):
        pool.check(file, "{}", PATIENCE)


@pytest.mark.parametrize("behaviour", ["stderr", "floods", "foreign-ids", "malformed", "registers"])
def test_noise_does_not_hide_the_answer(fake, behaviour):
    pool, file = fake(behaviour)
    assert messages(pool.check(file, "said", PATIENCE)) == ["said"]


def test_a_server_that_asks_to_be_asked_again_is(fake, tmp_path):
    pool, file = fake("busy", tmp_path / "asked")
    assert messages(pool.check(file, "said", PATIENCE)) == ["said"]


def test_every_request_of_the_server_gets_an_answer(fake, tmp_path):
    pool, file = fake("asks")
    (told,) = messages(pool.check(file, "{}", PATIENCE))
    folder = f'{{"uri": "{tmp_path.as_uri()}", "name": "{tmp_path.name}"}}'
    assert told == (
        f'[[null, {{}}], null, null, null, null, {{"applied": false}}, [{folder}], -32601, -32601]'
    )


@pytest.mark.parametrize("behaviour", ["pushes", "pushes-old"])
def test_the_last_push_for_the_newest_version_counts(fake, behaviour):
    pool, file = fake(behaviour)
    for text in ("one", "two"):
        assert messages(pool.check(file, text, PATIENCE)) == [text]


@pytest.mark.parametrize(("encoding", "start", "end"), [("utf-8", 7, 8), ("utf-16", 4, 5)])
def test_columns_are_characters_whatever_the_server_counts(fake, encoding, start, end):
    pool, file = fake(encoding, start, end)
    (problem,) = pool.check(file, "é𝄞 x\n", PATIENCE).problems
    assert ((problem.line, problem.column), problem.end) == ((1, 4), (1, 5))


def test_a_byte_order_mark_is_no_column(fake):
    pool, file = fake("utf-16", 1, 2)
    (problem,) = pool.check(file, "\ufeffab\n", PATIENCE).problems
    assert (problem.line, problem.column) == (1, 2)
    pool, file = fake("normal")
    assert messages(pool.check(file, "\ufeffsaid", PATIENCE)) == ["said"]


def test_documents_used_longest_ago_are_closed(fake, tmp_path):
    pool, _ = fake("counts")
    told = [messages(pool.check(tmp_path / f"{n}.json", "{}", PATIENCE)) for n in range(66)]
    assert told == [[f"{n} open"] for n in [*range(1, 65), 64, 64]]


def test_a_cancelled_call_stops_waiting(fake):
    pool, file = fake("mute")
    call = CallContext()
    token = current.set(call)
    threading.Timer(0.5, call.cancelled.set).start()
    try:
        with soon(), pytest.raises(Cancelled):
            pool.check(file, "{}", 2 * PATIENCE)
    finally:
        current.reset(token)


def test_an_idle_server_is_stopped_and_comes_back(fake):
    pool, file = fake("normal", idle=0.2)
    assert messages(patiently(pool, file, "one")) == ["one"]
    assert eventually(lambda: not children(pool))
    assert gone(own(pool))
    assert messages(pool.check(file, "two", PATIENCE)) == ["two"]


def test_of_too_many_servers_the_one_used_longest_ago_gives_way(pool, tmp_path, monkeypatch):
    spec = Spec("jl", (sys.executable, str(FAKE), "normal"), "make jl")
    pool = pool({"javalette": Language("javalette", {".jl": "jl"}, ("jl.toml",), ((spec,),))})
    monkeypatch.setattr("fsagent_tools.lsp.pool.MOST_RUNNING", 2)

    def asked(project):
        folder = tmp_path.resolve() / project
        folder.mkdir(exist_ok=True)
        (folder / "jl.toml").write_text("")
        assert messages(pool.check(folder / "a.jl", project, PATIENCE)) == [project]
        return {slot.server for slot in pool._slots.values() if slot.server}

    (a,) = asked("a")
    (b,) = asked("b") - {a}
    assert asked("a") == {a, b}
    (c,) = asked("c") - {a}
    assert asked("a") == {a, c}
    assert c is not b
    assert asked("b") & {a, b, c} == {a}


@pytest.mark.parametrize("end", ["close", "garbage"])
def test_no_process_survives_the_pool_not_even_a_grandchild(tmp_path, end):
    pool = Servers(tmp_path.resolve(), {"json": (sys.executable, str(FAKE), "children")})
    pool.check(tmp_path / "a.json", "{}", PATIENCE)
    place = own(pool)
    if end == "close":
        pool.close()
        with pytest.raises(LanguageServerFailed, match="closed"):
            pool.check(tmp_path / "a.json", "{}", PATIENCE)
    else:
        del pool
        gc.collect()
    assert gone(place)


def test_no_process_survives_the_interpreter(tmp_path):
    command = (sys.executable, str(FAKE), "children")
    file = tmp_path / "a.json"
    script = (
        "from pathlib import Path; from fsagent_tools.lsp.pool import Servers\n"
        f"pool = Servers(Path({str(tmp_path)!r}), {{'json': {command!r}}})\n"
        f"pool.check(Path({str(file)!r}), '{{}}', 60)\n"
        "print(pool._own[0].place.path)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert gone(done.stdout.strip())


def test_a_command_that_is_not_there_says_what_to_correct(pool, tmp_path):
    with pytest.raises(LanguageServerFailed, match="could not be started"):
        pool({"json": ("/no/such/server",)}).check(tmp_path / "a.json", "{}", PATIENCE)


def test_a_server_sees_no_keys_in_its_environment(monkeypatch, pool, tmp_path):
    monkeypatch.setenv("SECRET_API_KEY", "sesame")
    script = "import os, sys; sys.exit(str('SECRET_API_KEY' in os.environ))"
    with pytest.raises(LanguageServerFailed, match="False"):
        pool({"json": (sys.executable, "-c", script)}).check(tmp_path / "a.json", "{}", PATIENCE)


def test_writes_that_no_answer_reaches_in_time_leave_one_question_behind(fake, monkeypatch):
    monkeypatch.setattr(beside, "LINT_TIMEOUT", 0.05)
    servers, file = fake("mute")
    before = {*threading.enumerate()}
    turn = threading.Lock()
    check = partial(servers.check, file)
    answers = [beside.asked_beside(check, turn)(str(number)) for number in range(5)]
    assert answers == [None] * 5
    new = [thread.name for thread in {*threading.enumerate()} - before]
    assert new.count("lsp-lint") == 1


def test_a_file_is_asked_about_again_after_there_was_no_thread_to_ask(fake, monkeypatch):
    pool, file = fake("hasty", "work")
    turn = threading.Lock()

    def start(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as full:
        full.setattr(beside.Thread, "start", start)
        assert beside.asked_beside(partial(pool.check, file), turn)("said") is None
    assert turn.acquire(blocking=False)


@pytest.fixture
def final(pool, tmp_path):
    """A function: behaviour -> (pool with that server, whose first word is its last; a file)."""

    def make(*behaviour):
        spec = Spec("jl", (sys.executable, str(FAKE), *behaviour), "make jl", pushes="finally")
        made = pool({"javalette": Language("javalette", {".jl": "jl"}, (), ((spec,),))})
        return made, tmp_path.resolve() / "a.jl"

    return make


def test_what_a_server_owes_of_an_earlier_text_is_not_its_answer_to_the_next(final):
    pool, file = final("owes")
    assert patiently(pool, file, "(later)").those("silent") == ["jl"]
    assert messages(pool.check(file, "two", PATIENCE)) == ["two"]


def test_that_a_closed_document_has_no_problems_is_not_told_of_what_is_opened_again(final):
    pool, file = final("owes")
    assert messages(pool.check(file, "one", PATIENCE)) == ["one"]
    (slot,) = pool._slots.values()
    slot.server.documents.changed(str(file))
    assert messages(pool.check(file, "one", PATIENCE)) == ["one"]


def test_a_server_that_is_still_at_work_gives_no_clean_bill(final):
    pool, file = final("pushes-at-work")
    for _ in range(2):
        checked = patiently(pool, file, "one")
        assert (messages(checked), checked.those("unfinished")) == (["one"], ["jl"])
    told = beside.asked_beside(lambda text, seconds: checked, threading.Lock())
    assert told("one") is None


@pytest.mark.parametrize("news", ["work", "refresh"])
def test_news_that_came_before_the_first_answer_was_looked_at_counts(fake, monkeypatch, news):
    pool, file = fake("hasty", news)
    pulled, messages_of_one_write = Server._pulled, 3 if news == "work" else 2

    def pulled_and_slept(server, document, until):
        before = server.client.heard
        items = pulled(server, document, until)
        if not items:
            assert eventually(lambda: server.client.heard >= before + messages_of_one_write)
        return items

    monkeypatch.setattr(Server, "_pulled", pulled_and_slept)
    assert messages(pool.check(file, "said", PATIENCE)) == ["said"]


def test_a_server_that_dies_of_each_question_is_not_started_for_ever(fake, monkeypatch):
    pool, file = fake("dies")
    running = Servers._running

    def replaced_by_others(pool, slot, plan, asked):
        found = running(pool, slot, plan, asked)
        started.append(found)
        slot.server = None
        return found

    started = []
    monkeypatch.setattr(Servers, "_running", replaced_by_others)
    with pytest.raises(LanguageServerFailed, match="ended unexpectedly"):
        pool.check(file, "{}", PATIENCE)
    assert len(started) == MOST_DEATHS + 1
