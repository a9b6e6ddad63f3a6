"""grep, with ripgrep and by Python's `re`."""

import json
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fsagent_tools import Policy, Tool, Workspace, toolset
from fsagent_tools.search import ripgrep
from fsagent_tools.types import Entry
from tests.conftest import DEADLINES, children, eventually, no_new_descriptor, soon

BY_PYTHON = "ripgrep cannot search here: Python's `re` read the pattern."


@pytest.fixture(params=["ripgrep", pytest.param("fallback", marks=pytest.mark.full)])
def engine(request, lacking):
    if request.param == "fallback":
        lacking("ripgrep")
    else:
        beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        assert shutil.which("rg", path=beside), "the ripgrep wheel is a dependency"
    return request.param


class Untagged(Workspace):
    """Shows matches without line IDs."""

    def tag_lines(self, path, hits, *, mint=True):
        return {}


@pytest.fixture
def search(tmp_path, engine):
    unlimited = Untagged(tmp_path)

    def run(pattern, policy=None, path=".", include=None, **hidden):
        """The outcome, without the note that Python's `re` read the pattern."""
        workspace = Untagged(tmp_path, policy=policy) if policy else unlimited
        tool = Tool(Entry("grep", show=("path", "include")), workspace)
        arguments = {"pattern": pattern, "path": path, "include": include}
        outcome = tool.call(arguments, **hidden)
        json.dumps(outcome.to_dict()).encode()
        return replace(outcome, text=outcome.text.removesuffix(f"\n{BY_PYTHON}"))

    return run


def put(root, **files):
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_matches_are_sorted_by_path_and_rendered_with_line_numbers(tmp_path, search):
    put(tmp_path, b_DOT_txt="one\nneed\n", a__z_DOT_py="need 1\nno\nneed 2", c="nothing")
    out = search("need")
    assert out.text == "a/z.py:1:need 1\na/z.py:3:need 2\nb.txt:2:need"
    assert out.data["matches"][2] == {"file": "b.txt", "line": 2, "content": "need"}
    assert (out.data["count"], out.data["truncated"]) == (3, False)


def test_the_first_results_are_the_same_on_every_run(tmp_path, search):
    put(tmp_path, **{f"d{n}__f{n}": "need\n" * 3 for n in range(40)})
    runs = [search("need", max_results=10) for _ in range(3)]
    assert runs[0].text == runs[1].text == runs[2].text
    assert runs[0].data["truncated"]
    assert runs[0].data["matches"][3]["file"] == "d1/f1"
    assert "First 10 of more than 100 results" in runs[0].text
    assert "`include`" in runs[0].text
    (tmp_path / "one").write_text("need\n" * 20)
    assert search("need", path="one", max_results=10).text.endswith("a narrower pattern.")


def test_offset_continues_where_the_last_page_ended(tmp_path, search):
    put(tmp_path, a="need 1\nneed 2\nneed 3\n", b="need 4\n")
    pages = [search("need", max_results=2, offset=n) for n in (0, 2)]
    assert [m["content"] for page in pages for m in page.data["matches"]] == [
        f"need {n}" for n in range(1, 5)
    ]
    assert [page.data["truncated"] for page in pages] == [True, False]


def test_lines_are_counted_as_read_counts_them(tmp_path, search):
    put(tmp_path, a=b"x\rneed\r\nb\x0cneed\n\xe2\x80\xa8need\n")
    assert [m["line"] for m in search("need").data["matches"]] == [1, 2, 3]


def test_a_dollar_matches_before_a_carriage_return(tmp_path, search):
    put(tmp_path, a=b"need\r\nneedy\r\n")
    assert search("need$").text == "a:1:need"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path, search, encoding):
    put(tmp_path, a="need é\n".encode(encoding))
    assert search("^need é").text == "a:1:need é"


TEXTS = {
    "cp1252": "Größe needed für den Käse: groß genug, übrigens",
    "cp1251": "Привет needed всем, как дела у вас сегодня",
    "gb18030": "这个文件 needed 是中文的文本，没有标记",
    "cp932": "これは日本語 needed のテキストです。ファイル",
}


@pytest.mark.full
@pytest.mark.parametrize("path", [".", "d/odd"])
@pytest.mark.parametrize("encoding", TEXTS)
def test_a_text_in_another_encoding_is_searched_as_read_shows_it(tmp_path, search, encoding, path):
    text = TEXTS[encoding]
    put(tmp_path, a=text, d__odd=f"first\n{text}\nlast\n".encode(encoding), z=b"\xff\xfe\x00need")
    word = text.split()[0]
    for pattern in (word, f"^{word} need", "needed", f"{word[0]}. *"):
        found = search(pattern, path=path, context=1)
        assert f"d/odd:2:{text}" in found.text
        assert "d/odd-1-first" in found.text
        if path == ".":
            assert found.text.startswith(f"a:1:{text}\n")
    counted = search(word, path=path, output_mode="count").data["matches"]
    assert {"file": "d/odd", "count": 1} in counted


LETTERS = (r"K.se", r"K\w+e", r"K\Sse", r"K\Dse", "K[^a]se", r"\w\xdfe", r"K\p{L}se", "K[^\\s]se")


@pytest.mark.parametrize("mode", ["content", "files_with_matches", "count"])
def test_a_pattern_of_ascii_matches_letters_of_other_encodings(tmp_path, mode):
    put(tmp_path, a="Kase\n", odd="Gr\xf6\xdfe\nK\xe4se\n".encode("cp1252") * 9)
    grep = toolset("workspace").bind(Workspace(tmp_path))["grep"]
    for pattern in LETTERS:
        found = grep.call({"pattern": pattern}, output_mode=mode).data["matches"]
        assert {match["file"] for match in found} >= {"odd"}, pattern
        assert len([match for match in found if match["file"] == "odd"]) == (
            9 if mode == "content" else 1
        )


@pytest.mark.parametrize("pattern", ["ab.cd", r"b\Wcd", "b[^x]c"])
def test_a_stray_byte_is_a_character(tmp_path, search, pattern):
    put(tmp_path, a="gr\xf6\xdfer\n".encode() * 50 + b"ab\xffcd\n")
    assert [match["line"] for match in search(pattern).data["matches"]] == [51]


def test_a_text_with_a_nul_at_its_beginning_is_searched_where_others_match(tmp_path, search):
    put(tmp_path, a="need\n", early=b"a line of text\nneed \0 and more of this text\n" + b"x\n" * 9)
    for mode in ("content", "files_with_matches", "count"):
        found = search("need", output_mode=mode).data["matches"]
        assert [match["file"] for match in found] == ["a", "early"]


def test_a_large_text_with_a_nul_is_named_where_others_match(tmp_path):
    put(tmp_path, a="need\n", log=b"need \0 in a text\n" + b"a line of this text\n" * (1 << 20))
    grep = toolset("workspace").bind(Workspace(tmp_path))["grep"]
    told = "Not plain UTF-8, and too large or too many to be searched in full: log."
    assert grep.call({"pattern": "need"}).text.endswith(told)


@pytest.mark.full
def test_texts_beyond_those_that_are_searched_are_named(tmp_path):
    put(tmp_path, **{f"f{n:03}": "größe\n".encode("latin-1") for n in range(502)})
    workspace = Workspace(tmp_path)
    grep = toolset("workspace").bind(workspace)["grep"]
    told = "Not plain UTF-8, and too large or too many to be searched in full: f500, f501."
    assert told in grep.call({"pattern": "größe"}).text
    assert workspace.search("größe", limit=1000).truncated


@pytest.mark.parametrize("path", [".", "odd"])
def test_what_only_ripgrep_understands_is_found_in_another_encoding_all_the_same(tmp_path, path):
    put(tmp_path, odd="Gr\xf6\xdfe need\n".encode("cp1252"))
    grep = toolset("workspace").bind(Workspace(tmp_path))["grep"]
    assert "need" in grep.call({"pattern": r"[n&&[a-z]]eed", "path": path}).text


@pytest.mark.parametrize("line", ["need", "Größe need"])
def test_what_was_found_stays_where_no_temporary_file_can_be_made(
    tmp_path, search, monkeypatch, line
):
    put(tmp_path, a=f"{line}\n".encode("cp1252"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    assert re.fullmatch("a:1:(Gr.+e )?need", search("need").text)


def test_a_type_that_only_ripgrep_knows_is_no_matter_of_the_encoding(tmp_path):
    (tmp_path / "a.rb").write_bytes("Gr\xf6\xdfe need\n".encode("cp1252"))
    grep = toolset("workspace").bind(Workspace(tmp_path))["grep"]
    assert "Gr\xf6\xdfe need" in grep.call({"pattern": "need"}, type="ruby").text


def test_hits_in_two_encodings_at_once_are_found(tmp_path):
    put(tmp_path, a="gr\xf6\xdfer K\xe4se\n".encode() * 50 + b"need \xff\n")
    grep = toolset("workspace").bind(Workspace(tmp_path))["grep"]
    assert "K\xe4se" in grep.call({"pattern": "K\xe4se"}).text


def test_the_first_hits_are_those_of_the_order_of_paths(tmp_path, search):
    text = "Gr\xfc\xdfe\n".encode("cp1252")
    put(tmp_path, a__x0=text, a__x1=text, a_b__x=text * 3)
    (tmp_path / "a_b").rename(tmp_path / "a-b")
    assert [line.split(":")[0] for line in search("Gr\xfc\xdfe", max_results=2).text.split("\n")][
        :2
    ] == ["a/x0", "a/x1"]


def test_a_file_of_many_megabytes_is_searched_to_its_end_whatever_it_is(tmp_path, search):
    put(tmp_path, big="\xfc" * (9 << 20) + "\nneed\n")  # the limit falls into a character
    assert search("need", path="big").text.endswith("2:need")


def test_a_hit_in_another_encoding_has_an_id_to_edit_by(tmp_path, engine):
    put(tmp_path, odd="Größe = 1\nfür = 2\n".encode("cp1252"))
    tools = toolset("workspace").bind(Workspace(tmp_path))
    line_id = tools["grep"].call({"pattern": "Größe"}).data["matches"][0]["line_id"]
    change = {"line_id": line_id, "new_content": "Größe = 3"}
    assert tools["edit_lines"].call({"file_path": "odd", "changes": [change]}).ok
    assert (tmp_path / "odd").read_bytes() == "Größe = 3\nfür = 2\n".encode("cp1252")


def test_what_no_encoding_explains_is_shown_as_replacement(tmp_path, search):
    put(tmp_path, a="gr\u00f6\u00dfer\n".encode() * 50 + b"need \xff\n")
    assert search("need").text.startswith("a:51:need ")


def test_binary_files_are_skipped_and_named_when_asked_for(tmp_path, search):
    put(tmp_path, b=b"need\0\nneed\n", a="need\n")
    assert search("need").text == "a:1:need"
    assert search("need", path="b").text == "Not searched: b is a binary file."


def test_noise_and_hidden_directories_are_searched_only_when_named(tmp_path, search):
    put(tmp_path, node_modules__a="need", _DOT_git__b="need", x_DOT_egg_2="need", build="need")
    (tmp_path / "p.egg-info").mkdir()
    (tmp_path / "p.egg-info" / "q").write_text("need")
    assert {m["file"] for m in search("need").data["matches"]} == {"x.egg_2", "build"}
    assert search("need", path="node_modules").text == "node_modules/a:1:need"
    assert search("need", path=".git").text == ".git/b:1:need"
    assert search("need", include="node_modules/**").text == "node_modules/a:1:need"
    told = "Left out (dependencies and builds): node_modules, p.egg-info."
    told += " To see one, give its path."
    assert search("need").text.endswith(f"\n{told}")
    both = {m["file"] for m in search("need", include_noise=True).data["matches"]}
    assert both == {"x.egg_2", "build", "node_modules/a", "p.egg-info/q"}


def test_hidden_files_are_searched_when_the_include_names_them(tmp_path, search):
    put(tmp_path, _DOT_env="need", a="need", _DOT_x__y="need")
    left_out = "Left out (hidden): .env, .x. To see one, give its path."
    assert search("need").text == f"a:1:need\n{left_out}"
    assert search("need", include=".env").text == ".env:1:need"
    assert search("need", include="*").text == f"a:1:need\n{left_out}"
    assert (
        search("need", include="a").text
        == "a:1:need\nLeft out (hidden): .x. To see one, give its path."
    )
    assert len(search("need", include_hidden=True).data["matches"]) == 3


@pytest.mark.parametrize(
    ("include", "files"),
    [
        ("*.py", ["a.py", "s/b.py", "s/t/c.py"]),
        ("s/*.py", ["s/b.py"]),
        ("s/**", ["s/b.py", "s/d.js", "s/t/c.py"]),
        ("*.{js,md}", ["s/d.js"]),
        ("[ab].py", ["a.py", "s/b.py"]),
    ],
)
def test_include_limits_the_files(tmp_path, search, include, files):
    put(tmp_path, a_DOT_py="need", s__b_DOT_py="need", s__t__c_DOT_py="need", s__d_DOT_js="need")
    assert [m["file"] for m in search("need", include=include).data["matches"]] == files


def test_the_policy_hides_files_from_the_results(tmp_path, search):
    put(tmp_path, a="need", s__b="need")
    assert search("need", Policy(denied_paths=("s",))).text == "a:1:need"
    small = search("need", Policy(max_file_size=3))
    assert small.data["count"] == 0
    assert "Too large to be searched (max_file_size): a, s/b." in small.text


def test_links_to_the_outside_are_not_searched(tmp_path, search):
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    put(outside, secret="need")
    put(tmp_path, a="need")
    (tmp_path / "leak").symlink_to(outside / "secret")
    (tmp_path / "dir").symlink_to(outside)
    assert search("need").text == "a:1:need"
    assert search("need", path="leak").code == "PATH_OUTSIDE_WORKSPACE"


def test_a_link_inside_is_searched_when_named(tmp_path, search):
    put(tmp_path, s__a="need")
    (tmp_path / "l").symlink_to("s/a")
    (tmp_path / "d").symlink_to("s")
    assert search("need", path="l").text == "s/a:1:need"
    assert search("need", path="d").text == "s/a:1:need"


def test_context_lines_are_marked_and_gaps_are_shown(tmp_path, search):
    put(tmp_path, a="1\nneed\n3\n4\n5\n6\nneed\n8\n")
    out = search("need", context=1)
    assert out.text == "a-1-1\na:2:need\na-3-3\n--\na-6-6\na:7:need\na-8-8"
    assert out.data["count"] == 2


def test_lines_before_and_after_can_differ(tmp_path, search):
    put(tmp_path, f="a\nb\nneed\nc\nd\n")
    assert search("need", before=1).text == "f-2-b\nf:3:need"
    assert search("need", after=2).text == "f:3:need\nf-4-c\nf-5-d"
    assert search("need", context=1, after=2).text == "f-2-b\nf:3:need\nf-4-c\nf-5-d"


def test_modes_give_files_or_counts(tmp_path, search):
    put(tmp_path, a="need\nneed\n", b="need", c="")
    files = search("need", output_mode="files_with_matches")
    assert (files.text, files.data["matches"]) == ("a\nb", [{"file": "a"}, {"file": "b"}])
    counts = search("need", output_mode="count")
    assert (counts.text, counts.data["matches"][0]) == ("a:2\nb:1", {"file": "a", "count": 2})


def test_case_and_recursion_can_be_switched_off(tmp_path, search):
    put(tmp_path, a="Need", s__b="need")
    assert search("need").text == "s/b:1:need"
    assert search("need", case_sensitive=False).data["count"] == 2
    assert search("(?i)need", recursive=False).text == "a:1:Need"


def test_multiline_matches_give_all_their_lines(tmp_path, search):
    put(tmp_path, a="x\none\ntwo\ny\n")
    assert search("one.two", multiline=True).text == "a:2:one\na:3:two"
    assert search("one\ntwo").text == search(r"one\ntwo").text == "a:2:one\na:3:two"


def test_file_types_limit_the_files_and_unknown_ones_are_refused(tmp_path, search):
    put(tmp_path, a_DOT_py="need", b_DOT_md="need")
    assert search("need", type="py").text == "a.py:1:need"
    out = search("need", type="nope")
    assert (out.code, "unknown file type 'nope'" in out.text) == ("VALIDATION_ERROR", True)


BAD = ("(", "[", "a{2,1}", "*a", "\\", "[z-a]", "(?P<n", r"\q")
NO_TEXT = ("x\0", "\ud800", "(" * 5000, "a" * 10_001)  # or too much of it


@pytest.mark.full
@pytest.mark.parametrize("pattern", [*BAD, *NO_TEXT])
def test_a_bad_regex_is_refused_with_its_reason(tmp_path, search, pattern):
    put(tmp_path, a="a")
    out = search(pattern)
    assert out.code == "INVALID_REGEX"
    assert out.text.startswith("Error: pattern: ")


@pytest.mark.parametrize("pattern", ["(?<=a)b", r"(a)\1", "a{"])
def test_what_ripgrep_does_not_know_is_refused_by_it(tmp_path, pattern):
    put(tmp_path, a="a")
    out = toolset("workspace").bind(Workspace(tmp_path))["grep"].call({"pattern": pattern})
    assert out.code == "INVALID_REGEX"


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("", [1, 2, 3, 4]),
        ("--files", [1]),
        ("-e", [2]),
        ("^$", [4]),
        (r"\bword\b", [3]),
        ("x*", [1, 2, 3, 4]),
        (r"[\w-]+ \d{2}", [3]),
        (r"\d{2,}|--f", [1, 3]),
    ],
)
def test_both_engines_find_the_same(tmp_path, search, pattern, lines):
    put(tmp_path, a="--files\n-e\na word 42\n\n")
    assert [m["line"] for m in search(pattern).data["matches"]] == lines


def test_without_ripgrep_the_answer_says_that_python_read_the_pattern(tmp_path, lacking):
    put(tmp_path, a="a word 42\n")
    lacking("ripgrep")
    grep = toolset("workspace").bind(Workspace(tmp_path))["grep"]
    assert grep.call({"pattern": r"\d+$"}).text.endswith(f":a word 42\n{BY_PYTHON}")
    assert grep.call({"pattern": r"\s$"}).text == f"No match in '.'. {BY_PYTHON}"
    assert grep.call({"pattern": "word"}).text.endswith(":a word 42")
    for unknown in (r"\x{77}ord", "[[:digit:]]"):
        refused = grep.call({"pattern": unknown})
        assert refused.code == "INVALID_REGEX"
        assert "not a valid regex of Python's re" in refused.text


def test_of_a_long_line_what_is_around_the_match_is_shown_with_its_column(tmp_path, search):
    put(tmp_path, a="né" + "é" * 3_000_000 + "\nnext n\n")
    first, second = search("n").data["matches"]
    assert re.fullmatch("\\[column 1\\] né{100,2000}…", first["content"])
    assert (second["line"], second["content"]) == (2, "next n")


def test_strange_file_names_stay_on_one_line(tmp_path, search):
    for name in (b"a\nb", b"c\xff", b"-e", b"d: WARNING"):
        with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:
            file.write("need\n")
    out = search("need")
    assert out.data["count"] == 4
    assert out.text.splitlines()[1:3] == ["a\\nb:1:need", "c\\xff:1:need"]


def test_no_match_says_so_and_what_was_not_searched(tmp_path, search):
    put(tmp_path, a="x", build__b="x")
    out = search("need")
    assert out.ok
    left_out = "Left out (dependencies and builds): build. To see one, give its path."
    assert out.text == f"No match in '.'. {left_out}"


def test_pipes_and_sockets_do_not_block(tmp_path, search):
    os.mkfifo(tmp_path / "p")
    put(tmp_path, q="need")
    with soon():
        assert search("need").text == "q:1:need"
        assert search("need", path="p").code == "NOT_A_FILE"


def test_gitignore_is_honoured_when_asked_for(tmp_path, search):
    put(
        tmp_path,
        _DOT_gitignore="*.log\n!keep.log\n/top\n",
        a_DOT_log="need",
        s__keep_DOT_log="need",
    )
    put(tmp_path, top__x="need", s__top__x="need")
    everything = {"a.log", "s/keep.log", "s/top/x", "top/x"}
    assert {m["file"] for m in search("need").data["matches"]} == everything
    found = {m["file"] for m in search("need", gitignore=True).data["matches"]}
    assert found == {"s/keep.log", "s/top/x"}


@pytest.mark.parametrize("text", [b"no\r\nneed\r\n", b"no\nneed", b"no\nneed\n"])
def test_shown_lines_have_ids_that_the_editor_takes(tmp_path, engine, text):
    put(tmp_path, s__a=text)
    workspace = Workspace(tmp_path)
    out = Tool(Entry("grep", show=("path", "include")), workspace).call({"pattern": "need"})
    (match,) = out.data["matches"]
    assert out.text == f"s/a:2:[LID:{match['line_id']}]:need"
    change = {"line_id": match["line_id"], "new_content": "done"}
    edited = Tool(Entry("edit_lines"), workspace).call({"path": "s/a", "changes": [change]})
    assert edited.ok, edited.text
    assert (tmp_path / "s/a").read_bytes() == text.replace(b"need", b"done")


def test_a_time_out_carries_what_was_found(tmp_path, lacking):
    lacking("ripgrep")
    put(tmp_path, a="xxy\n", b="x" * 60)
    tool = Tool(Entry("grep", show=("path", "include")), Workspace(tmp_path))
    for seconds in DEADLINES:  # the first file must have been searched by then
        with soon():
            out = tool.call({"pattern": "(x+x+)+y"}, timeout=seconds)
        assert out.code == "TIMEOUT"
        if out.data.get("matches"):
            break
    assert ":xxy\n" in out.text
    assert out.data["matches"][0]["file"] == "a"


def test_a_cancelled_call_ends_its_process(tmp_path, lacking):
    import asyncio

    lacking("ripgrep")
    put(tmp_path, b="x" * 60)
    tool = Tool(Entry("grep", show=("path", "include")), Workspace(tmp_path))

    async def cancel():
        task = asyncio.create_task(tool.acall({"pattern": "(x+x+)+y"}))
        assert await asyncio.to_thread(eventually, lambda: children() - before)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    before = children()
    with soon():
        asyncio.run(cancel())  # joins the thread, which ends only when its child does
    assert eventually(lambda: children() <= before)


@pytest.mark.full
def test_no_descriptor_and_no_process_is_left(tmp_path, search):
    put(tmp_path, a="need\n" * 1000, s__b="need")
    search("need")
    with no_new_descriptor():
        started = children()
        for _ in range(5):
            search("need", max_results=1)
            search("(")
    assert not children() - started


def test_an_answer_is_as_long_as_one_of_read_and_says_where_it_ends(tmp_path, search):
    put(tmp_path, a="".join(f"need {n} {'x' * 1900}\n" for n in range(90)))
    out = search("need")
    assert len(out.text) < 52_000
    shown = out.data["count"]
    assert f"First {shown} of 90 results" in out.text
    assert out.data["truncated"]
    assert search("need", offset=shown).text.startswith(f"a:{shown + 1}:need {shown} ")


def test_what_was_narrowed_by_include_is_not_told_to_set_it(tmp_path, search):
    put(tmp_path, a="need\nneed\n")
    assert search("need", max_results=1).text.endswith("pattern or path. Or set `include`.")
    out = search("need", max_results=1, include="a*")
    assert out.text.endswith("use a narrower pattern or path.")


def test_lines_around_count_once_in_what_an_answer_holds(tmp_path, search):
    put(tmp_path, a="".join(f"need {n} {'x' * 400}\n" for n in range(99)))
    assert not search("need", context=9).data["truncated"]
    put(tmp_path, b="".join(f"{'need' * (n % 30 == 9)}{'x' * 2000}\n" for n in range(290)))
    out = search("need", path="b", context=9)
    assert len(out.text) < 60_000
    assert out.data["truncated"]


def test_a_search_that_crashes_without_ripgrep_does_not_say_that_nothing_matched(
    tmp_path, lacking, monkeypatch
):
    lacking("ripgrep")
    monkeypatch.setattr(ripgrep, "_FALLBACK", "raise ValueError('too many files')")
    put(tmp_path, a="needle\n")
    out = toolset("workspace").bind(Workspace(tmp_path))["grep"].call({"pattern": "needle"})
    assert out.code == "COMMAND_FAILED"
    assert "The search without ripgrep failed (ValueError: too many files)." in out.text
