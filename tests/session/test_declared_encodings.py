"""A text is read and written in the encoding that there is evidence for; a guess is told."""

import subprocess
import sys

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.errors import ConfigInvalid

UTF8 = "// Größe und Maße überall\nint a = 1;\n" * 20
DECLARED = {  # file: its encoding, what it declares, the first text, what is added
    "a.py": ("latin-1", "# -*- coding: latin-1 -*-\nx = 1\n", "é"),
    "a.xml": ("latin-1", '<?xml version="1.0" encoding="ISO-8859-1"?>\n<a/>\n', "é"),
    "a.html": ("cp1252", '<!DOCTYPE html>\n<meta charset="windows-1252">\n<p>x</p>\n', "€"),
    "gbk.py": ("gbk", "# coding: gbk\nx = 1\n", "中文"),
    "koi.py": ("koi8-r", '# -*- coding: koi8-r -*-\nname = "да"\n', "нет"),
    "gbk.rb": ("gbk", '# encoding: gbk\nname = "中"\n', "中文注释"),
    "euc.py": ("euc-jp", '# coding: euc-jp\nname = "日本"\n', "初期化"),
    "dos.py": ("cp437", '# coding: cp437\nname = "é"\n', "à"),
    "mac.py": ("mac-roman", '# coding: mac-roman\nname = "é"\n', "ü"),
    "nine.css": ("iso-8859-15", '@charset "iso-8859-15";\na::after { content: "5 € Š" }\n', "ž"),
}
STRAY = {
    "at the end": UTF8.encode() + b"// caf\xe9\n",
    "at the top": b"// caf\xe9\n" + UTF8.encode(),
    "in 10,001 lines": (UTF8 * 250).encode() + b"// caf\xe9\n",
    "0x80 in the middle": UTF8.encode() + b"// a \x80 b\n" + UTF8.encode(),
    "0xff as a separator": UTF8.encode() + b"a\xffb\xffc\n",
    "a tail that was cut": UTF8.encode() + b"// \xe2\x9c",
    "CESU-8": UTF8.encode() + b"// \xed\xa0\xbd\xed\xb8\x80\n",
    "one line of GBK": UTF8.encode() + "// 中文注释\n".encode("gbk"),
    "a NUL": UTF8.encode() + b'const SEP = "\0";\n',
}


@pytest.mark.parametrize("name", DECLARED)
def test_what_is_inserted_has_the_encoding_that_the_file_declares(tmp_path, name):
    encoding, text, added = DECLARED[name]
    (tmp_path / name).write_bytes(text.encode(encoding))
    tools = toolset("compact").bind(Workspace(tmp_path))
    shown = tools["Read"].call({"file_path": name}).text
    assert text.split("\n")[1] in shown
    assert "guess" not in shown
    line = text.split("\n")[1]
    edit = {"file_path": name, "old_string": line, "new_string": f"{line}\n{added}"}
    assert tools["Edit"].call(edit).ok
    assert (tmp_path / name).read_bytes() == text.replace(line, f"{line}\n{added}").encode(encoding)


@pytest.mark.parametrize("name", DECLARED)
def test_a_new_file_has_the_encoding_that_it_declares(tmp_path, name):
    encoding, text, added = DECLARED[name]
    whole = {"file_path": name, "content": f"{text}{added}\n"}
    assert toolset("compact").bind(Workspace(tmp_path))["Write"].call(whole).ok
    assert (tmp_path / name).read_bytes() == f"{text}{added}\n".encode(encoding)


def test_another_declaration_makes_it_another_encoding(tmp_path):
    (tmp_path / "a.py").write_bytes("# coding: latin-1\nx = 'é'\n".encode("latin-1"))
    tools = toolset("compact").bind(Workspace(tmp_path))
    tools["Read"].call({"file_path": "a.py"})
    edit = {"file_path": "a.py", "old_string": "latin-1", "new_string": "utf-8"}
    assert tools["Edit"].call(edit).ok
    assert (tmp_path / "a.py").read_bytes() == "# coding: utf-8\nx = 'é'\n".encode()


def test_a_declaration_is_followed_as_python_does(tmp_path):
    (tmp_path / "p.py").write_text("# -*- coding: latin-1 -*-\nx = 1\n")
    Workspace(tmp_path).edit_text("p.py", "x = 1", 'print(len("é"))')
    done = subprocess.run(
        [sys.executable, tmp_path / "p.py"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "1\n"


def test_a_wrong_declaration_of_plain_utf8_is_told(tmp_path):
    (tmp_path / "a.html").write_text('<meta charset="iso-8859-1">\n<p>Größe, Maße</p>\n')
    shown = toolset("workspace").bind(Workspace(tmp_path))["read"].call({"file_path": "a.html"})
    assert "Größe" in shown.text
    assert "declares cp1252, but it is UTF-8" in shown.text


@pytest.mark.full
@pytest.mark.parametrize("kind", STRAY)
def test_stray_bytes_are_kept_and_new_text_is_utf8(tmp_path, kind):
    file, before = tmp_path / "f.js", STRAY[kind]
    file.write_bytes(before)
    tools = toolset("compact").bind(Workspace(tmp_path))
    shown = tools["Read"].call({"file_path": "f.js"}).text
    assert "Größe und Maße" in shown
    assert "kept as they are" in shown
    tools["Edit"].workspace.edit_text("f.js", "int a = 1;", "größer ✓", occurrences="all")
    assert file.read_bytes() == before.replace(b"int a = 1;", "größer ✓".encode())


def test_a_line_with_a_stray_byte_is_quoted_and_rewritten_as_it_is_shown(tmp_path):
    file = tmp_path / "f.js"
    file.write_bytes(UTF8.encode() + b'x = "\\xe9"\n// caf\xe9 a\n')
    tools = toolset("compact").bind(Workspace(tmp_path))
    shown = tools["Read"].call({"file_path": "f.js", "offset": 40}).text
    assert "// caf\\xe9 a" in shown
    assert "Line 42 has bytes that are not UTF-8, shown as `\\xe9`" in shown
    edit = {"old_string": "// caf\\xe9 a\n", "new_string": "// caf\\xe9 a\nlet ö;\n"}
    assert tools["Edit"].call({"file_path": "f.js", **edit}).ok
    end = b'x = "\\xe9"\n// caf\xe9 a\nlet \xc3\xb6;\n'
    assert file.read_bytes() == UTF8.encode() + end


def test_a_repaired_text_is_utf8(tmp_path):
    (tmp_path / "f.js").write_bytes(STRAY["at the end"])
    tools = toolset("compact").bind(Workspace(tmp_path))
    tools["Read"].call({"file_path": "f.js"})
    assert tools["Write"].call({"file_path": "f.js", "content": f"{UTF8}// café\n"}).ok
    assert (tmp_path / "f.js").read_text() == f"{UTF8}// café\n"


def test_a_guess_is_told_with_the_read_and_by_an_edit_beyond_ascii(tmp_path):
    (tmp_path / "a.c").write_bytes("/* größer */\nint a;\n/* Prüfung */\n".encode("cp1252"))
    tools = toolset("workspace").bind(Workspace(tmp_path))
    assert "Read as cp1252, which is a guess." in tools["read"].call({"file_path": "a.c"}).text
    edit = toolset("compact").bind(tools["read"].workspace)["Edit"].call
    ascii_only = {"file_path": "a.c", "old_string": "int a;", "new_string": "int b;"}
    assert "guess" not in edit(ascii_only).text
    more = {"file_path": "a.c", "old_string": "int b;", "new_string": "int ö;"}
    assert "written as cp1252, which is a guess" in edit(more).text


def test_hosts_and_editorconfig_name_encodings_by_glob(tmp_path):
    polish = "{ wartość początkowa }\n"
    for name in ("a.pas", "b.txt", "utf.pas"):
        (tmp_path / name).write_bytes(polish.encode("utf-8" if "utf" in name else "cp1250"))
    (tmp_path / "plain.pas").write_text("x := 1;\n")
    (tmp_path / "plain.c").write_text("int a;\n")
    (tmp_path / ".editorconfig").write_text("root = true\n[*.{c,h}]\ncharset = latin1\n")
    workspace = Workspace(tmp_path, encodings={"**/*.pas": "cp1250"})
    tools = toolset("workspace").bind(workspace)
    for name in ("a.pas", "utf.pas"):
        assert "początkowa" in (shown := tools["read"].call({"file_path": name}).text)
        assert "guess" not in shown
        assert workspace.read_text(name).text == polish
    workspace.edit_text("plain.pas", "x := 1;", "ł := 1;")
    assert (tmp_path / "plain.pas").read_bytes() == "ł := 1;\n".encode("cp1250")
    workspace.edit_text("plain.c", "int a;", "int é;")
    assert (tmp_path / "plain.c").read_bytes() == "int é;\n".encode("latin-1")
    assert "początkowa" in tools["grep"].call({"pattern": "początkowa", "path": "a.pas"}).text
    with pytest.raises(ConfigInvalid, match="encodings"):
        Workspace(tmp_path, encodings={"*.pas": "cp9999"})


def test_lines_that_are_replaced_decide_what_an_escape_is(tmp_path):
    file = tmp_path / "f.js"
    file.write_bytes(UTF8.encode() + b'x = "\\xe9"\n// caf\xe9 a\n')
    tools = toolset("compact").bind(Workspace(tmp_path))
    assert tools["Read"].call({"file_path": "f.js"}).ok
    edit = {"old_string": "// caf\\xe9 a", "new_string": "// my caf\\xe9 b"}
    assert tools["Edit"].call({"file_path": "f.js", **edit}).ok
    edit = {"old_string": 'x = "\\xe9"', "new_string": 'y = "\\xe9"'}
    assert tools["Edit"].call({"file_path": "f.js", **edit}).ok
    assert file.read_bytes() == UTF8.encode() + b'y = "\\xe9"\n// my caf\xe9 b\n'


@pytest.mark.parametrize("line", ["é a".encode("latin-1"), "a\u2003b c".encode(), b"a\x1cb c"])
@pytest.mark.parametrize("part", [True, False])
def test_a_line_with_stray_bytes_or_odd_blanks_is_edited_by_its_words(tmp_path, line, part):
    file = tmp_path / "f.js"
    file.write_bytes(UTF8.encode() + line + b"\nend\n")
    tools = toolset("workspace").bind(Workspace(tmp_path, line_ids="words"))
    shown = tools["read"].call({"file_path": "f.js", "offset": 41}).text
    line_id, text = next(x for x in shown.split("\n") if "\t" in x).split("\t")
    change = {"line_id": f"{line_id} {text}", "new_content": "x"}
    change |= {"old": text[:-2]} if part else {}
    out = tools["edit_lines"].call({"file_path": "f.js", "changes": [change]})
    assert out.ok, out.text
    assert file.read_bytes() == UTF8.encode() + b"x" + line[-2:] * part + b"\nend\n"


def test_a_heading_declares_nothing_and_valid_utf8_wins_over_a_western_declaration(tmp_path):
    tools = toolset("workspace").bind(Workspace(tmp_path))
    new = {"file_path": "a.md", "content": "# encoding: latin-1\né\n"}
    assert tools["write"].call(new).ok
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == new["content"]
    (tmp_path / "a.py").write_bytes("# coding: latin-1\nx = 'é'\n".encode())
    shown = tools["read"].call({"file_path": "a.py"}).text
    assert "x = 'é'" in shown
    assert "The file declares iso8859-1, but it is UTF-8." in shown
    (tmp_path / "b.py").write_bytes(b"# coding: gbk\nx = '\xc4\xa3'\n")
    shown = tools["read"].call({"file_path": "b.py"}).text
    assert "x = '模'" in shown
    assert "Read as gbk, as declared; it may be UTF-8, too." in shown


@pytest.mark.parametrize("pattern", ["M.ller", r"M\wller", r"M\Sller", r"M\Dller", "M[^x]ller"])
def test_any_letter_is_one_of_a_legacy_encoding_too(tmp_path, pattern):
    (tmp_path / "a.txt").write_bytes("Müller, größer\n".encode("cp1252"))
    (tmp_path / "b.txt").write_text("Miller\n")
    found = toolset("workspace").bind(Workspace(tmp_path))["grep"].call({"pattern": pattern}).text
    assert "Müller" in found
    assert "Miller" in found
