"""Which files have a language: the table, and what the host adds."""

import re
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.errors import ConfigInvalid, LanguageServerFailed, NoLanguageServer
from fsagent_tools.lsp.choice import choose
from fsagent_tools.lsp.languages import (
    language_of,
    languages,
    protocol_id,
)
from fsagent_tools.lsp.limits import Limit
from fsagent_tools.lsp.table import LANGUAGES, SPECS, Language, Spec
from fsagent_tools.policy.programs import Programs
from tests.conftest import PATIENCE

from .conftest import FAKE, REPO

COMMAND = (sys.executable, str(FAKE), "normal")
JAVALETTE = Language("javalette", {".jl": "javalette"}, (), ((Spec("jl", COMMAND, "make jl"),),))


def test_every_server_of_the_table_is_used_and_every_suffix_has_one_language():
    named = {name for each in LANGUAGES.values() for group in each.servers for name in group}
    assert named == set(SPECS)
    suffixes = [suffix for each in LANGUAGES.values() for suffix in each.suffixes]
    assert len(suffixes) == len(set(suffixes))


def test_the_table_of_the_docs_names_every_language_and_server():
    told = (REPO / "docs/howto/tools.md").read_text().partition("| run by |")[2]
    rows = [row.split("|")[1:3] for row in told.splitlines() if row.startswith("| ")]
    named = [set(re.findall(r"[\w-]+", cell)) for cell in map("".join, zip(*rows, strict=True))]
    assert set(LANGUAGES) <= named[0]
    assert set(SPECS) <= named[1]


@pytest.mark.parametrize(
    ("name", "language", "told"),
    [
        ("a.HXX", "c", "cpp"),
        ("a.zsh", "shell", "shellscript"),
        ("a.pyw", "python", "python"),
        ("a.mm", "c", "objective-cpp"),
        ("a.cuh", "c", "cuda-cpp"),
        ("a.json", "json", "json"),
        ("b/tsconfig.app.json", "json", "jsonc"),
        (".vscode/settings.json", "json", "jsonc"),
    ],
)
def test_a_file_has_a_language_by_suffix_or_name(name, language, told):
    found = language_of(Path(name), LANGUAGES)
    assert (found.name, protocol_id(Path(name), found)) == (language, told)


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=lambda language: language.name)
def test_where_nothing_is_installed_the_answer_names_each_server_and_how_to_get_it(
    language, tmp_path
):
    first, *_ = language.servers
    for key in language.suffixes:
        file = tmp_path / (f"a{key}" if key.startswith(".") else key)
        with pytest.raises(NoLanguageServer, match=f"No language server for {language.name} ") as e:
            choose(file, "", tmp_path, LANGUAGES, Nothing((str(tmp_path),)))
        for spec in map(SPECS.get, first):
            assert re.search(rf"{spec.command[0]}(: | \(){re.escape(spec.install)}", e.value.hint)


class Nothing(Programs):
    def find(self, name):
        return None


def test_a_host_adds_a_language_of_its_own(pool, tmp_path):
    servers = pool({"javalette": JAVALETTE})
    told = servers.check(tmp_path.resolve() / "a.jl", "text", PATIENCE)
    assert [(p.message, p.source) for p in told.problems] == [("text", "jl")]


def test_a_path_in_place_of_a_server_keeps_its_arguments():
    (group,) = languages({"python": ("/opt/ty",)})["python"].servers
    assert group[0].command == ("/opt/ty", "server")
    (group,) = languages({"python": ("/opt/ty", "other")})["python"].servers
    assert group[0].command == ("/opt/ty", "other")


def test_a_command_for_an_unknown_language_is_refused_at_once(tmp_path):
    with pytest.raises(ConfigInvalid, match=r"'javalette' is not known.*or one of: python, "):
        Workspace(tmp_path, servers={"javalette": ["jl"]})


def test_prose_has_nothing_to_check(pool, tmp_path):
    checked = pool({}).check(tmp_path.resolve() / "a.md", "# x", PATIENCE)
    assert (checked.problems, checked.told) == ([], ())
    with pytest.raises(NoLanguageServer, match=r"No language server is known for \.xyz"):
        pool({}).check(tmp_path.resolve() / "a.xyz", "", PATIENCE)


def test_a_server_that_dies_in_its_handshake_says_how_to_install_it(pool, tmp_path):
    script = "import sys; sys.exit('Unknown binary')"
    command = (sys.executable, "-c", script)
    broken = Language("zig", {".zig": "zig"}, (), ((Spec("zls", command, "brew install zls"),),))
    with pytest.raises(LanguageServerFailed, match="Unknown binary To install it: brew install"):
        pool({"zig": broken}).check(tmp_path.resolve() / "a.zig", "", PATIENCE)


WITH_COMMENTS = ("tsconfig.json", "tsconfig.app.json", "jsconfig.json", ".eslintrc.json")


@pytest.mark.parametrize("name", [*WITH_COMMENTS, ".vscode/settings.json", "devcontainer.json"])
def test_json_with_comments_is_told_by_its_name_to_the_server_too(name, asked):
    text = '{\n  // a comment\n  "a": [1, 2,], /* more */\n}\n'
    told = asked(["vscode-json-language-server"], {"b.json": text, name: text})
    assert told(name).startswith(f"No problems in {name} (vscode-json).")
    assert told("b.json").startswith("b.json:2:3: error: Comments are not permitted")


def test_what_a_server_leaves_to_another_program_is_told(tmp_path):
    spec = Spec("jl", COMMAND, "make jl", limits=(Limit("does not link: make does"),))
    (tmp_path / "a.jl").write_text("text")
    servers = {"javalette": Language("javalette", {".jl": "javalette"}, (), ((spec,),))}
    with closing(Workspace(tmp_path, servers=servers)) as workspace:
        lsp = toolset("workspace").showing({"lsp": ["timeout"]}).bind(workspace)["lsp"]
        told = lsp.call({"file_path": "a.jl", "timeout": PATIENCE}).text
    assert told.endswith("\n(jl does not link: make does.)")


def test_messages_are_short_and_relative_to_the_root(pool, tmp_path):
    root = tmp_path.resolve()
    text = f"in {root}/b.h\n\n{root}/c.h:1:2:\nnote: more"
    (problem,) = pool({"javalette": JAVALETTE}).check(root / "a.jl", text, PATIENCE).problems
    assert problem.message == "in b.h"
    text = f"found in {root} and {root}2\n\n{root}/my folder/c.h:1:2:\nnote: more"
    (problem,) = pool({"javalette": JAVALETTE}).check(root / "a.jl", text, PATIENCE).problems
    assert problem.message == f"found in . and {root}2"
    (problem,) = pool({"javalette": JAVALETTE}).check(root / "a.jl", "x" * 999, PATIENCE).problems
    assert problem.message == "x" * 399 + "…"
