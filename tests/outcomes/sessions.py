"""Scripted sessions: every tool that a toolset shows, with each parameter, and what it refuses."""

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from fsagent_tools import Policy, Workspace, toolset
from tests.outcomes.spelling import EDITOR, SPELLINGS, spelled
from tests.outcomes.stage import Scenario, Stage
from tests.web.site import page, serve

CODE = """\
import os


class Cart:
    def __init__(self):
        self.items = []

    def total(self):
        return sum(item.price for item in self.items)


def load(path):
    with open(path) as file:
        return file.read()


def save(path, text):
    with open(path, "w") as file:
        file.write(text)
"""
NOTES = "alpha\nbeta\ngamma\nbeta\ndelta\n"
ROWS = "".join(f"row {n}\n" for n in range(1, 2501))
TYPED = "def load(path: str) -> str:\n    return path\n\n\nprint(load(1), laod)\n"
NOTEBOOK = (
    '{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["# Title\\n"]}, '
    '{"cell_type": "code", "metadata": {}, "execution_count": 1, "source": ["1 + 1"], "outputs": '
    '[{"output_type": "execute_result", "data": {"text/plain": ["2"]}, "metadata": {}, '
    '"execution_count": 1}]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
)
POLICY = {"denied_paths": [".env*"], "max_file_size": "1MB"}
ARTICLE = "<html><head><title>Tides</title></head><body><main><h1>Tides</h1>{}</main></body></html>"
MEDIA = frozenset({"pypdfium2", "PIL"})
SHELL = frozenset({"bash", "bwrap"})
SERVERS = frozenset({"ty", "ruff"})


def png() -> bytes:
    """Two red dots."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", 2, 1, 8, 2, 0, 0, 0)
    dots = zlib.compress(b"\0\xff\0\0\xff\0\0", 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", dots) + chunk(b"IEND", b"")


def pdf(pages: int = 3) -> bytes:
    """Pages that say which they are."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(pages))
    parts = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n in range(pages):
        text = f"BT /F1 24 Tf 50 700 Td (Page number {n + 1}) Tj ET"
        parts.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * n} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        parts.append(f"<< /Length {len(text)} >>\nstream\n{text}\nendstream")
    out, places = "%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{part}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(parts) + 1
    end = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return f"{out}xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode()


def project(stage: Stage) -> None:
    stage.file("src/app.py", CODE)
    stage.file("src/deep/er/util.py", "VALUE = 1\n")
    stage.file("notes.md", NOTES)
    stage.file("rows.txt", ROWS)
    stage.file("crlf.txt", "one\r\ntwo\r\nthree\r\n")
    stage.file("latin.txt", "caf\xe9 cr\xe8me br\xfbl\xe9e d\xe9j\xe0\n".encode("latin-1"))
    stage.file("bom.txt", "\ufeffmarked\nlines\n")
    stage.file("empty.txt", "")
    stage.file("no_end.txt", "last line\nhas no end")
    stage.file("long.txt", "x" * 5000 + " needle " + "y" * 5000 + "\n")
    stage.file("blob.bin", bytes(range(256)) * 4)
    stage.file("big.txt", "z" * 1_100_000)
    stage.file(".env", "TOKEN=secret\n")
    stage.file(".hidden", "beta\n")
    stage.file(".gitignore", "build/\n")
    stage.file("build/out.txt", "beta\n")
    stage.file("node_modules/m/index.js", "beta\n")
    stage.file("we ird/na[me].txt", "beta\n")
    (stage.root / "link.md").symlink_to("notes.md")
    (stage.root / "away.md").symlink_to("../out/key.txt")
    (stage.folder / "out").mkdir()
    (stage.folder / "out/key.txt").write_text("beta outside\n")


def opened(stage: Stage, name: str) -> Callable[..., Any]:
    project(stage)
    stage.open(name, policy=Policy(**POLICY))
    return stage.call


def verb(stage: Stage, verb: str, **arguments: Any) -> None:
    """As this toolset says it; nothing where it cannot."""
    if found := spelled(stage.name, verb, arguments):
        stage.call(*found)


# For every toolset


def reading(name: str, stage: Stage) -> None:
    opened(stage, name)
    for path in (
        "src/app.py", "./src/../notes.md", str(stage.root / "notes.md"), "rows.txt", "crlf.txt",
        "latin.txt", "bom.txt", "empty.txt", "no_end.txt", "long.txt", "link.md",
        "we ird/na[me].txt",
    ):  # fmt: skip
        verb(stage, "read", file_path=path)
    verb(stage, "read", file_path="rows.txt", offset=2001)
    verb(stage, "read", file_path="notes.md", offset=9)
    if name not in ("anthropic", "filesystem"):
        verb(stage, "read", file_path="rows.txt", offset=10, limit=3)


REFUSED = ("absent.md", "../out/key.txt", "/etc/hostname", "away.md", ".env", "src", "notes.md/x",
           "big.txt", "blob.bin", "", "a\0b", "n" * 300, "README.MD")  # fmt: skip


def refusals(name: str, stage: Stage) -> None:
    """What is missing, outside, denied, of the wrong kind, too large or no name, for every verb."""
    opened(stage, name)
    for path in REFUSED:
        verb(stage, "read", file_path=path)
        verb(stage, "edit", file_path=path, old_string="beta", new_string="BETA")
        verb(stage, "stat", file_path=path)
        for each in ("ls", "glob", "grep"):
            verb(stage, each, path=path, **({} if each == "ls" else {"pattern": "*" * 3}))
    for path in (*REFUSED[1:5], "src", "notes.md/x", ".git/config", ".git/hooks/pre-commit"):
        verb(stage, "write", file_path=path, content="new\n")
        verb(stage, "insert", file_path=path, content="new\n")
        verb(stage, "mkdir", file_path=path)
        verb(stage, "mv", file_path="notes.md", destination=path)
        verb(stage, "cp", file_path="notes.md", destination=path)
        verb(stage, "rm", file_path=path) if path != "src" else None


WRONG: tuple[Any, ...] = ({}, {"nonsense": 1}, "{no json", "[]", '{"a": 1} trailing')


def wrong_arguments(name: str, stage: Stage) -> None:
    """Arguments that are missing, unknown, of another type or no JSON, for every tool."""
    call = opened(stage, name)
    for tool in list(stage.tools):
        for arguments in WRONG:
            if tool not in ("ls", "jobs") or arguments:
                call(tool, arguments)
        schema = stage.tools[tool].schema["properties"]
        call(tool, {parameter: {"deep": [1]} for parameter in schema})
        call(tool, dict.fromkeys(schema))


def readonly_policy(name: str, stage: Stage) -> None:
    project(stage)
    stage.open(name, policy=Policy(readonly=True))
    verb(stage, "read", file_path="notes.md")
    for path in ("notes.md", "new.md"):
        verb(stage, "write", file_path=path, content="x\n")
        verb(stage, "edit", file_path=path, old_string="alpha", new_string="x")
        verb(stage, "insert", file_path=path, content="x\n")
        verb(stage, "mkdir", file_path=path)
        verb(stage, "mv", file_path=path, destination="to.md")
        verb(stage, "cp", file_path=path, destination="to.md")
        verb(stage, "rm", file_path=path)
    verb(stage, "patch", input="*** Begin Patch\n*** Delete File: notes.md\n*** End Patch")


def quoting(name: str, stage: Stage) -> None:
    """Edits by quote: one, none, several, the same, stale, inexact, with other line ends."""
    opened(stage, name)
    if name == "compact":
        verb(stage, "edit", file_path="rows.txt", old_string="row 7\n", new_string="row seven\n")
        for path in ("src/app.py", "notes.md", "crlf.txt", "latin.txt", "bom.txt", "no_end.txt"):
            verb(stage, "read", file_path=path)
    for path, old, new in (
        ("notes.md", "alpha", "ALPHA"),
        ("notes.md", "beta", "BETA"),
        ("notes.md", "omega", "OMEGA"),
        ("notes.md", "gamma", "gamma"),
        ("notes.md", "", "x"),
        (
            "src/app.py",
            "def load(path):\n  with open(path) as file:",
            "def load(path):\n  if path:",
        ),
        ("src/app.py", "    def totl(self):\n", "    def sum(self):\n"),
        ("src/app.py", "return file.read()", "return file.read(\n"),
        ("crlf.txt", "two\n", "zwei\ndrei\n"),
        ("latin.txt", "cr\xe8me", "cr\xe8me \u2713"),
        ("latin.txt", "caf\xe9", "th\xe9"),
        ("bom.txt", "marked", "signed"),
        ("no_end.txt", "has no end", "has none"),
        ("empty.txt", "x", "y"),
        ("link.md", "delta", "epsilon"),
        ("we ird/na[me].txt", "beta", "BETA"),
    ):
        verb(stage, "edit", file_path=path, old_string=old, new_string=new)
    verb(stage, "edit_all", file_path="notes.md", old_string="beta", new_string="BETA")
    (stage.root / "notes.md").write_text("somebody else wrote this\nbeta\n")
    verb(stage, "edit", file_path="notes.md", old_string="beta", new_string="BETA")
    (stage.root / "notes.md").unlink()
    verb(stage, "edit", file_path="notes.md", old_string="BETA", new_string="x")


def writing(name: str, stage: Stage) -> None:
    opened(stage, name)
    for path, content in (
        ("new.txt", "one\ntwo"),
        ("new.txt", "one\ntwo\n"),
        ("a/b/c.txt", "deep\n"),
        ("notes.md", "never read\n"),
        ("crlf.txt", "one\ntwo\n"),
        ("latin.txt", "caf\xe9 \u2713\n"),
        ("empty.txt", ""),
        ("src/app.py", "def broken(:\n"),
        ("link.md", "through the link\n"),
        ("big.txt", "z" * 1_100_000),
    ):
        verb(stage, "write", file_path=path, content=content)
    verb(stage, "read", file_path="rows.txt")
    (stage.root / "rows.txt").write_text("changed by another\n")
    verb(stage, "write", file_path="rows.txt", content="mine\n")
    verb(stage, "write", file_path="src/app.py", content=f"{CODE[:60]}\n# ... existing code ...\n")


def searching(name: str, stage: Stage) -> None:
    opened(stage, name)
    for pattern in ("*.py", "**/*.txt", "src/**", "{notes,link}.md", "no such*", "[", ".*", "src"):
        verb(stage, "glob", pattern=pattern)
    verb(stage, "glob", pattern="*.py", path="src/deep")
    for pattern in ("beta", r"def \w+\(", "(", "needle", "caf\xe9", "no such text", "BETA"):
        verb(stage, "grep", pattern=pattern)
    verb(stage, "grep", pattern="return", path="src/app.py")
    verb(stage, "grep", pattern="row", path="rows.txt")
    for path in (".", "src", "we ird", "build", "node_modules"):
        verb(stage, "ls", path=path)
    if "include" in stage.tools.get("grep", _NONE).schema["properties"]:
        stage.call("grep", {"pattern": "beta", "include": "*.txt"})


class _NONE:
    schema: dict[str, Any] = {"properties": {}}  # noqa: RUF012


def media(name: str, stage: Stage) -> None:
    stage.file("dots.png", png())
    stage.file("book.ipynb", NOTEBOOK)
    stage.file("three.pdf", pdf())
    stage.file("broken.pdf", b"%PDF-1.4 nothing")
    stage.open(name)
    for path in ("dots.png", "book.ipynb", "three.pdf", "broken.pdf"):
        verb(stage, "read", file_path=path)
    if "pages" in stage.tools.get("read", _NONE).schema["properties"]:
        for pages in ("2-3", "9", "x"):
            stage.call("read", {"file_path": "three.pdf", "pages": pages})


def commands(name: str, stage: Stage) -> None:
    opened(stage, name)
    for command in (
        "echo out; echo err >&2; exit 3",
        "printf 'no end'",
        "cat notes.md | sort | uniq -c",
        "printf new > made.txt; rm crlf.txt; echo more >> notes.md",
        "cat .env",
        "echo x > ../out/key.txt",
        "seq 1 30000",
        "kill -9 $$",
        "",
        "if then",
    ):
        verb(stage, "bash", command=command)
    if name != "anthropic":
        verb(stage, "bash", command="echo begun; sleep 30", timeout=2)


# Of single toolsets


def by_id(name: str, stage: Stage) -> None:
    """Edits by ID in every form; IDs that are unknown, stale, of another line or twice there."""
    call = opened(stage, name)
    first, last = (
        ("line_id", "end_line_id") if name == "lines" else ("start_line_id", "end_line_id")
    )

    def edit(*changes: dict[str, Any], path: str = "src/app.py") -> None:
        call("edit_lines", {"file_path": path, "changes": list(changes)})

    edit({"line_id": "abcdef", "new_content": "x"}, path="notes.md")  # not read
    ids = stage.ids("src/app.py")
    edit({"line_id": ids[0], "new_content": "import sys"})
    ids = stage.ids("src/app.py")
    edit({first: ids[11], last: ids[13], "new_content": "def load(path):\n    return path"})
    ids = stage.ids("src/app.py")
    edit({"after_line_id": ids[0], "new_content": "import re"},
         {"before_line_id": ids[3], "new_content": "X = 1\n"})  # fmt: skip
    ids = stage.ids("src/app.py")
    edit({"line_id": ids[1], "new_content": ""})
    edit({"line_id": ids[1], "new_content": "stale"})
    ids = stage.ids("src/app.py")
    edit({"line_id": "zzzzzz", "new_content": "x"})
    edit({"line_id": ids[4], "new_content": "    def broken(:"})
    edit({first: ids[6], last: ids[4], "new_content": "backwards"})
    edit({"line_id": ids[4], "new_content": "a"}, {"line_id": ids[4], "new_content": "b"})
    edit({"line_id": ids[4], "new_content": "... rest of the code ..."})
    edit({"line_id": ids[4]})
    edit({"new_content": "nowhere"})
    edit()
    edit({"line_id": ids[2], "new_content": "    def total(self):"}, path="src/deep/er/util.py")
    for path in ("crlf.txt", "latin.txt", "bom.txt", "no_end.txt"):
        ids = stage.ids(path)
        edit({"line_id": ids[-1], "new_content": "changed"}, path=path)
    ids = stage.ids("notes.md")
    (stage.root / "notes.md").write_text("zero\n" + NOTES)
    edit({"line_id": ids[0], "new_content": "ALPHA"}, path="notes.md")
    ids = stage.ids("notes.md")
    (stage.root / "notes.md").write_text("all\nnew\n")
    edit({"line_id": ids[1], "new_content": "x"}, path="notes.md")


def words(name: str, stage: Stage) -> None:
    """What only `lines` has: old, end_before, moving, copying, several files, more, numbers."""
    call = opened(stage, name)

    def edit(*changes: dict[str, Any], path: str = "src/app.py") -> None:
        call("edit_lines", {"file_path": path, "changes": list(changes)})

    call("read", {"file_path": "notes.md", "numbers": True})
    call("read", {"file_path": "notes.md", "more": ["src/app.py", "rows.txt:300-302", "absent.md"]})
    ids = stage.ids("src/app.py")
    edit({"line_id": ids[8], "old": "item.price", "new_content": "item.cost"})
    edit({"line_id": ids[7], "old": "absent", "new_content": "x"})
    ids = stage.ids("src/app.py")
    edit({"line_id": ids[11], "end_before": ids[14], "new_content": "def load(path):\n    pass\n"})
    ids = stage.ids("src/app.py")
    edit({"line_id": ids[0], "after_line_id": ids[2]})
    notes = stage.ids("notes.md")
    edit({"from_file": "notes.md", "line_id": notes[0], "end_line_id": notes[1],
          "after_line_id": stage.ids("src/app.py")[0]})  # fmt: skip
    util = stage.ids("src/deep/er/util.py")
    edit({"file_path": "src/deep/er/util.py", "line_id": util[0], "new_content": "VALUE = 2"},
         {"file_path": "notes.md", "line_id": notes[-1], "new_content": "DELTA"})  # fmt: skip
    edit({"file_path": "src/deep/er/util.py", "line_id": util[0], "new_content": "VALUE = 3"},
         {"file_path": "notes.md", "line_id": "zzz nothing", "new_content": "x"})  # fmt: skip
    line_id, behind = notes[0].split()
    edit({"line_id": line_id, "new_content": "bare"}, path="notes.md")
    edit({"line_id": f"{line_id} wrong", "new_content": "x"}, path="notes.md")
    edit({"line_id": f"{line_id} {behind}", "new_content": "ALPHA"}, path="notes.md")


def jobs(name: str, stage: Stage) -> None:
    call = opened(stage, name)
    call("bash", {"command": "pwd", "working_dir": "src", "timeout": 20})
    call("bash", {"command": "pwd", "working_dir": "absent"})
    call("jobs", {})
    call("bash", {"command": "read word; sleep 3; echo got $word; exit 4", "background": True})
    call("jobs", {"action": "write", "job": "1", "input": "seven\n"})
    call("jobs", {"action": "wait", "job": "1", "timeout": 60})
    call("jobs", {"action": "read", "job": "1"})
    call("jobs", {"action": "wait", "job": "9"})
    call("jobs", {"action": "write", "job": "1", "input": "late\n"})
    call("bash", {"command": "sleep 300", "background": True})
    call("jobs", {"action": "stop", "job": "2"})


def web(name: str, stage: Stage) -> None:
    found = (
        '<div id="links"><div class="result results_links results_links_deep web-result">'
        '<div class="links_main result__body"><h2 class="result__title"><a class="result__a" '
        'href="https://one.example/a">One</a></h2><a class="result__snippet" '
        'href="https://one.example/a">About tides</a></div></div></div>'
    )
    with serve() as site:
        stage.ports.add(site.port)
        story = "".join(f"<p>Paragraph {n} of the tides.</p>" for n in range(3000))
        site.routes |= {
            "/page": page(ARTICLE.format("<p>Twice a day, <b>mostly</b>.</p>")),
            "/long": page(ARTICLE.format(story)),
            "/plain": page("just words\n", "text/plain"),
            "/json": page('{"a": 1}', "application/json"),
            "/gone": page("gone", status=410),
            "/bytes": page(bytes(range(256)), "application/octet-stream"),
            "/html/": page(found),
        }
        base = f"http://127.0.0.1:{site.port}"
        chosen = {"FSAGENT_SEARCH_BASE_URL": base, "FSAGENT_SEARCH_PROVIDER": "duckduckgo"}
        for variable, value in chosen.items():
            before = os.environ.get(variable, "")
            stage.closing.callback(os.environ.__setitem__, variable, before)
            os.environ[variable] = value
        stage.open(name, policy=Policy(allow_hosts=[f"127.0.0.1:{site.port}"]))
        for path in ("page", "long", "plain", "json", "gone", "bytes", "absent"):
            stage.call("webfetch", {"url": f"{base}/{path}", "timeout": 30})
        for form in ("text", "html", "markdown", "pdf"):
            stage.call("webfetch", {"url": f"{base}/page", "format": form})
        stage.call("webfetch", {"url": f"{base}/long", "offset": 50_000})
        stage.call("webfetch", {"url": "http://10.0.0.1/"})
        stage.call("webfetch", {"url": "ftp://example.org/"})
        stage.call("websearch", {"query": "tides", "num_results": 3})
        stage.call("websearch", {"query": ""})


def diagnostics(name: str, stage: Stage) -> None:
    stage.file("good.py", "print(1)\n")
    stage.file("bad.py", TYPED)
    stage.file("words.txt", "no language\n")
    stage.open(name)
    for path in ("good.py", "bad.py", "words.txt", "absent.py", "."):
        stage.call("lsp", {"file_path": path})
    if name == "lines":
        for text in (None, TYPED):
            if text:
                stage.call("write", {"file_path": "good.py", "content": text})
            stage.call("lsp", {"file_path": "good.py", "new": True})


def refactoring(name: str, stage: Stage) -> None:
    stage.file("shop.py", "def price(x):\n    return x\n\n\nprint(price(1))\n")
    stage.file("use.py", "from shop import price\n\nprice(2)\n")
    stage.open(name)
    stage.call("rename", {"file_path": "shop.py", "name": "price", "new_name": "not a name"})
    stage.call("rename", {"file_path": "shop.py", "name": "price", "line": "1", "new_name": "cost"})
    stage.call("rename", {"file_path": "absent.py", "name": "x", "new_name": "y"})


def compact(name: str, stage: Stage) -> None:
    """What its document names besides what a model sees."""
    call = opened(stage, name)
    call("Read", {"file_path": "rows.txt", "offset": 5, "limit": 2})
    call("Read", {"file_path": "notes.md"})
    edit = {"file_path": "notes.md", "old_string": "beta", "new_string": "B"}
    call("Edit", edit, replace_all=True)
    call("Glob", {"pattern": "*", "path": "src"}, type="dir")
    call("Grep", {"pattern": "BETA"}, case_sensitive=False, glob="*.txt")
    call("Grep", {"pattern": "beta"}, output_mode="files_with_matches")
    call("Grep", {"pattern": "beta"}, output_mode="count")
    call("Grep", {"pattern": "return", "path": "src"}, context=1)


def file_ops(name: str, stage: Stage) -> None:
    call = opened(stage, name)
    call("read_file", {"file_path": "rows.txt", "offset": 0, "limit": 2})
    words = {"file_path": "notes.md", "search_string": "beta", "replace_string": "BETA"}
    call("search_replace", words)
    call("search_replace", {**words, "replace_all": False})
    call("search_replace", words)
    call("search_replace", {**words, "search_string": "a", "replace_all": True})
    call("search_replace", {**words, "file_path": "../out/key.txt"})


def filesystem(name: str, stage: Stage) -> None:
    call = opened(stage, name)
    call("read", {"path": "rows.txt", "start_line": 4, "end_line": 6})
    call("read", {"path": "rows.txt", "start_line": 6, "end_line": 4})
    call("read", {"path": "latin.txt", "encoding": "latin-1"})
    call("read", {"path": "latin.txt", "encoding": "no-such"})
    call("write", {"path": "x/y.txt", "content": "a\n"})
    call(
        "write",
        {"path": "x/y.txt", "content": "\xe9\n", "create_dirs": True, "encoding": "latin-1"},
    )
    for count in (1, 2, 0):
        words = {"path": "notes.md", "old_string": "a", "new_string": "A"}
        call("edit", {**words, "count": count})
    for line in (1, 7, 99):
        call("insert", {"path": "notes.md", "line": line, "content": "inserted"})
    call("ls", {"path": ".", "recursive": True, "pattern": "*.txt", "include_hidden": True})
    call("grep", {"pattern": "VALUE", "path": ".", "include": "*.py", "recursive": False})
    call("grep", {"pattern": "value", "case_sensitive": False, "max_results": 1})
    for kind in ("file", "dir", "any"):
        call("find", {"pattern": "*e*", "path": ".", "type": kind, "max_results": 4})
    call("find", {"pattern": "*", "include_hidden": True})
    call("mkdir", {"path": "new/er"})
    call("mkdir", {"path": "new/er"})
    call("mkdir", {"path": "notes.md"})
    call("cp", {"source": "src", "destination": "copy"})
    call("cp", {"source": "notes.md", "destination": "crlf.txt"})
    call("cp", {"source": "notes.md", "destination": "crlf.txt", "overwrite": True})
    call("mv", {"source": "copy", "destination": "copy/inside"})
    call("mv", {"source": "copy", "destination": "moved"})
    call("mv", {"source": "crlf.txt", "destination": "notes.md"})
    call("mv", {"source": "crlf.txt", "destination": "notes.md", "overwrite": True})
    call("rm", {"path": "moved"})
    call("rm", {"path": "moved", "recursive": True})
    call("rm", {"path": "link.md"})
    call("rm", {"path": "."})
    for path in ("notes.md", "src", "away.md", "absent"):
        call("file_stat", {"path": path})


def patching(name: str, stage: Stage) -> None:
    call = opened(stage, name)

    def patch(*lines: str) -> None:
        call("apply_patch", {"input": "\n".join(["*** Begin Patch", *lines, "*** End Patch"])})

    patch("*** Add File: new.py", "+x = 1", "+y = 2")
    patch("*** Add File: new.py", "+z = 3")
    old = "-        return sum(item.price for item in self.items)"
    new = "+        return 0"
    patch("*** Update File: src/app.py", "@@ class Cart:", "     def total(self):", old, new)
    patch("*** Update File: notes.md", "*** Move to: kept/notes.md", "@@", "-alpha", "+ALPHA")
    patch("*** Delete File: crlf.txt")
    patch("*** Delete File: absent.txt")
    patch("*** Update File: rows.txt", "@@", "-no such row", "+x")
    patch("*** Update File: no_end.txt", "@@", "-has no end", "+has none", "*** End of File")
    patch("*** Update File: rows.txt", "@@", "-row 3", "+row three", "*** Delete File: absent.txt")
    patch("*** Update File: ../out/key.txt", "@@", "-beta outside", "+x")
    patch("*** Add File: .env", "+TOKEN=x")
    call("apply_patch", {"input": "no patch at all"})
    call("shell", {"command": ["pwd"], "workdir": "src", "timeout_ms": 20_000})
    call("shell", {"command": ["ls", "we ird"]})
    text = "*** Begin Patch\n*** Add File: by.txt\n+x\n*** End Patch"
    call("shell", {"command": ["apply_patch", text]})
    call("read", {"path": "rows.txt", "offset": 2, "limit": 2})


def editor(name: str, stage: Stage) -> None:
    call = opened(stage, name)

    def do(command: str, path: str = "notes.md", **more: Any) -> None:
        call(EDITOR, {"command": command, "path": path, **more})

    do("view", view_range=[2, 3])
    do("view", view_range=[4, -1])
    do("view", view_range=[9, 2])
    do("view", "src")
    do("create", "made.txt", file_text="made\n")
    do("create", file_text="over what is there\n")
    do("str_replace", "src/app.py", old_str="import os", new_str="import sys")
    do("str_replace", "src/app.py", old_str="import sys")
    do("insert", insert_line=0, insert_text="top\n")
    do("insert", insert_line=99, insert_text="far\n")
    do("insert", insert_line=1)
    do("undo_edit")
    memory = partial(call, "memory")
    memory({"command": "view", "path": "/memories"})
    memory({"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\n"})
    memory({"command": "view", "path": "/memories/a.md", "view_range": [1, 1]})
    memory({"command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "1"})
    memory({"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "x\n"})
    memory({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"})
    memory({"command": "view", "path": "/memories/../notes.md"})
    memory({"command": "view", "path": "/notes.md"})
    memory({"command": "delete", "path": "/memories/b.md"})
    memory({"command": "delete", "path": "/memories"})


def lasting_shell(name: str, stage: Stage) -> None:
    call = opened(stage, name)
    call("bash", {"command": "cd src; X=7"})
    call("bash", {"command": "pwd; echo $X"})
    call("bash", {"command": "exit 3"})
    call("bash", {"command": "pwd; echo $X"})
    call("bash", {"restart": True})
    call("bash", {"command": "pwd", "restart": True})
    call("bash", {"command": "pwd"})


def deepagents(name: str, stage: Stage) -> None:
    call = opened(stage, name)
    call("ls", {"path": "/src"})
    call("ls", {})
    call("read_file", {"file_path": "/rows.txt", "offset": 3, "limit": 2})
    call("write_file", {"file_path": "/made/new.txt", "content": "x\n"})
    words = {"file_path": "/notes.md", "old_string": "beta", "new_string": "BETA"}
    call("edit_file", {**words, "replace_all": False})
    call("edit_file", {**words, "replace_all": True})
    call("glob", {"pattern": "*.py", "path": "/src"})
    call("glob", {"pattern": "/*.md"})
    for mode in ("content", "files_with_matches", "count"):
        call("grep", {"pattern": "a", "path": "/", "glob": "*.md", "output_mode": mode,
                      "max_count": 2})  # fmt: skip
    call("grep", {"pattern": "(item.price"})
    call("delete", {"file_path": "/src/deep"})
    call("delete", {"file_path": "/"})
    call("execute", {"command": "pwd", "timeout": 20})


GENERAL = {
    reading: frozenset(), refusals: frozenset({"rg"}), wrong_arguments: frozenset(),
    readonly_policy: frozenset(), quoting: frozenset(), writing: frozenset(),
    searching: frozenset({"rg"}), media: MEDIA, commands: SHELL,
}  # fmt: skip
NEEDED = {reading: "read", quoting: "edit", writing: "write", searching: "grep", media: "read",
          refusals: "read", commands: "bash"}  # fmt: skip
BOTH = {by_id: frozenset(), jobs: SHELL, web: frozenset({"lxml"}), diagnostics: SERVERS}
SPECIAL = {
    "workspace": BOTH,
    "line_ids": {by_id: frozenset()},
    "lines": {**BOTH, words: frozenset()},
    "compact": {compact: frozenset({"rg"})},
    "file_ops": {file_ops: frozenset()},
    "filesystem": {filesystem: frozenset({"rg"})},
    "openai": {patching: SHELL},
    "anthropic": {editor: frozenset(), lasting_shell: SHELL},
    "deepagents": {deepagents: SHELL | {"rg"}},
    "refactor": {refactoring: SERVERS},
}


def scenarios(name: str) -> Iterator[Scenario]:
    general = {
        play: needs
        for play, needs in GENERAL.items()
        if play not in NEEDED or NEEDED[play] in SPELLINGS[name]
    }
    for play, needs in {**general, **SPECIAL.get(name, {})}.items():
        yield Scenario(f"{name}/session/{play.__name__}", partial(play, name), needs)


def unplayed(records: dict[str, Any], names: tuple[str, ...]) -> set[str]:
    """Every parameter, of a change too, that a tool shows and no recorded call sets."""
    played = set()
    for record in records.values():
        name = record["id"].split("/")[0]
        for step in record["steps"]:
            for tool, arguments in step.get("call", {}).items():
                given = arguments if isinstance(arguments, dict) else {}
                played |= {f"{name} {tool} {parameter}" for parameter in given}
                for one in given.get("changes") or ():
                    played |= {f"{name} {tool} changes {key}" for key in one}
    shown = set()
    for name in names:
        for tool in toolset(name).bind(Workspace(os.devnull)).values():
            for parameter, schema in tool.schema["properties"].items():
                shown.add(f"{name} {tool.name} {parameter}")
                inner = schema.get("items", {}).get("properties", {})
                shown |= {f"{name} {tool.name} {parameter} {key}" for key in inner}
    return shown - played
