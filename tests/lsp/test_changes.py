"""What a server is told of changes on disk."""

import os
import shutil
import sys
import time

import pytest

from fsagent_tools.lsp.server import Server
from fsagent_tools.lsp.table import Language, Spec
from fsagent_tools.lsp.watch import CHANGED, CREATED, Watch
from tests.conftest import PATIENCE

from .conftest import FAKE, children, write


@pytest.fixture(params=["watches", "hears"])
def told(fake, request):
    """A function: name of a file to ask about -> the files that the server was told of, in turn,
    whether or not it asked for that.
    """
    pool, file = fake(request.param)

    def ask(name):
        path = file.with_name(name)
        (problem,) = pool.check(path, path.read_text(), PATIENCE).problems
        return problem.message

    return ask


def test_a_server_gets_an_edit_once_and_hears_of_it_when_another_file_is_asked_about(
    told, tmp_path
):
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}")
    assert told("a.json") == "nothing"
    (tmp_path / "a.json").write_text("{ }")
    assert told("a.json") == "nothing"  # it is sent the text itself
    (tmp_path / "b.json").write_text("[ ]")
    assert told("a.json") == "b.json"
    assert told("b.json") == "b.json a.json"
    assert told("a.json") == "b.json a.json"


def test_a_server_that_rechecks_in_its_own_time_is_asked_and_not_before_it_has_read(pool, tmp_path):
    spec = Spec("jl", (sys.executable, str(FAKE), "pushes-rechecks"), "make jl", pushes="rechecks")
    pool = pool({"javalette": Language("javalette", {".jl": "jl"}, (), ((spec,),))})
    file, other = (tmp_path.resolve() / name for name in ("a.jl", "b.jl"))
    other.write_text("")

    def told(text):
        return [problem.message for problem in pool.check(file, text, PATIENCE).problems]

    assert told("one") == ["one nothing"]
    assert told("two") == ["two nothing"]
    other.write_text("changed")
    assert told("two") == ["two b.jl"]
    assert told("three") == ["three b.jl"]


def test_a_look_before_the_question_is_not_enough_and_one_after_it_serves_all(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("")
    watch = Watch([tmp_path], (".py",), ())
    asked = time.monotonic()
    file.write_text("x")
    assert watch.changes(asked) == [(str(file), CHANGED)]
    file.write_text("xx")
    assert watch.changes(asked) == []
    assert watch.changes(time.monotonic()) == [(str(file), CHANGED)]


def test_a_new_directory_is_told_before_what_is_in_it(tmp_path):
    watch = Watch([tmp_path], (".py",), ())
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c.py").write_text("")
    made = [(str(tmp_path / name), CREATED) for name in ("a", "a/b", "a/b/c.py")]
    assert watch.changes(time.monotonic()) == made


def test_what_servers_may_not_read_is_not_looked_at(tmp_path):
    watch = Watch([tmp_path], (".py",), (), (str(tmp_path / "secret"), str(tmp_path / "key.py")))
    (tmp_path / "secret").mkdir()
    for name in ("secret/a.py", "key.py"):
        (tmp_path / name).write_text("")
    assert watch.changes(time.monotonic()) == []


@pytest.mark.parametrize("name", ["build/flags.json", "deps", "sub/rules.toml"])
def test_a_server_is_started_anew_when_what_it_reads_at_the_start_changes(name, pool, tmp_path):
    spec = Spec("jl", (sys.executable, str(FAKE), "normal"), "make jl")
    watched = ("build/flags.json", "deps", "rules.toml")
    pool = pool({"javalette": Language("javalette", {".jl": "jl"}, (), ((spec,),), watched)})
    file, setting = tmp_path.resolve() / "a.jl", tmp_path / name
    setting.parent.mkdir(exist_ok=True)

    def asked():
        assert [p.message for p in pool.check(file, "text", PATIENCE).problems] == ["text"]
        (child,) = children(pool)
        return child

    first = asked()
    assert asked() is first
    setting.mkdir() if name == "deps" else setting.write_text("{}")
    second = asked()
    assert second is not first
    assert asked() is second


def test_a_server_that_reads_in_its_own_time_is_handed_files_and_nothing_a_link_leads_to(
    fake, tmp_path
):
    pool, file = fake("watches")
    pool.check(file, "{}", PATIENCE)
    (server,) = (slot.server for slot in pool._slots.values())
    assert isinstance(server, Server)
    sent = []
    server.documents._notify = lambda method, params: sent.append(params["textDocument"])
    server._warm = True
    (tmp_path / "folder").mkdir()
    (tmp_path / "new.rs").write_text("text")
    server._hand_over({str(tmp_path / n): CREATED for n in ("folder", "new.rs")}, "rust")
    assert (server._warm, [each.get("text") for each in sent]) == (True, ["text", None])
    (tmp_path / "link.rs").symlink_to(tmp_path / "new.rs")
    server._hand_over({str(tmp_path / "link.rs"): CREATED}, "rust")
    assert (server._warm, len(sent)) == (False, 2)


@pytest.fixture
def inner(tmp_path):
    """A directory three below the root; a function: hidden paths -> a watch of it."""
    folder = tmp_path / "packages/p"
    folder.mkdir(parents=True)
    above = (folder, folder.parent, tmp_path)

    def watch(*hidden):
        names = ("tsconfig*.json", "deps", "build/flags.json")
        return Watch(above, (".ts",), names, [str(tmp_path / name) for name in hidden])

    return watch


@pytest.mark.parametrize(
    "name", ["tsconfig.strict.json", "deps", "build/flags.json", "packages/tsconfig.json"]
)
def test_sources_are_watched_everywhere_and_settings_above_the_project(name, inner, tmp_path):
    (tmp_path / "build").mkdir()
    watch, setting = inner(), tmp_path / name
    sources = [tmp_path / other for other in ("a.ts", "packages/a.ts")]
    beside = [tmp_path / other for other in ("packages/q", "packages/deps.json", "tsconfig.txt")]
    beside[0].mkdir()
    for file in (*sources, *beside[1:], beside[0] / "tsconfig.json"):
        file.write_text("")
    setting.mkdir() if name == "deps" else setting.write_text("")
    changes = watch.changes(time.monotonic())
    assert {(str(path), CREATED) for path in (setting, *sources)} <= {*changes}
    assert not {path for path, _ in changes} & {*map(str, beside), str(beside[0] / "tsconfig.json")}
    assert watch.is_setting(str(setting))


@pytest.mark.parametrize("name", ["tsconfig.json", "build/flags.json", "packages/tsconfig.json"])
def test_hidden_settings_above_the_project_are_passed_over(name, inner, tmp_path):
    (tmp_path / "build").mkdir()
    watch = inner(name)
    (tmp_path / name).write_text("")
    assert watch.changes(time.monotonic()) == []


def test_a_directory_is_passed_over_for_what_is_in_it_and_not_for_a_common_name(tmp_path):
    for folder, sign in (("build", "x"), ("dist", "y"), ("target", "CACHEDIR.TAG")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / sign).write_text("")
    (tmp_path / "anything").mkdir()
    (tmp_path / "anything/pyvenv.cfg").write_text("")
    watch = Watch([tmp_path], (".py",), ())
    for folder in ("build", "dist", "target", "anything"):
        (tmp_path / folder / "a.py").write_text("")
    found = {path for path, _ in watch.changes(time.monotonic()) if path.endswith(".py")}
    assert found == {str(tmp_path / folder / "a.py") for folder in ("build", "dist")}


def test_a_file_put_in_place_of_another_of_its_size_and_time_is_noticed(tmp_path):
    file, other = tmp_path / "a.py", tmp_path / "b"
    for path, text in ((file, "one"), (other, "two")):
        path.write_text(text)
        os.utime(path, ns=(1, 1))
    watch = Watch([tmp_path], (".py",), ())
    other.rename(file)
    assert watch.changes(time.monotonic()) == [(str(file), CHANGED)]


def test_more_sources_than_are_watched_are_told(pool, tmp_path, monkeypatch):
    spec = Spec("jl", (sys.executable, str(FAKE), "normal"), "make jl")
    pool = pool({"javalette": Language("javalette", {".jl": "jl"}, (), ((spec,),))})
    for name in ("a.jl", "one/a.jl", "two/a.jl"):
        write(tmp_path, {name: ""})
    monkeypatch.setattr("fsagent_tools.lsp.watch.MOST_LISTED", 2)
    told = pool.check(tmp_path.resolve() / "a.jl", "text", PATIENCE).left
    assert [each.startswith("jl may not know of changes: ") for each in told] == [True]
    shutil.rmtree(tmp_path / "two")
    assert pool.check(tmp_path.resolve() / "a.jl", "text", PATIENCE).left == []
