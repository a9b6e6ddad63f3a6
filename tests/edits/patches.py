"""Patches in every form that the grammar allows: what was there, the patch, what is there then."""

from itertools import product
from typing import NamedTuple

Files = dict[str, bytes]
LINES = ("import os", "", "def first():", "    one = 1", "    return one", "",
         "def second():", "    two = 2", "    return two", "", "LAST = 3")  # fmt: skip


class PatchCase(NamedTuple):
    """`after`: the files then, None where the patch is refused and `says` a part of the refusal.

    codex: what the published program makes of it where that differs, "" where it is the same.
    """

    name: str
    before: Files
    patch: str
    after: Files | None = None
    says: str = ""
    codex: str = ""


def enveloped(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def _text(lines: tuple[str, ...] | list[str], newline: str, *, ended: bool) -> bytes:
    return (newline.join(lines) + newline * ended).encode()


def _changed(start: int, stop: int, *new: str) -> list[str]:
    return [*LINES[:start], *new, *LINES[stop:]]


HUNKS: dict[str, tuple[list[str], list[str]]] = {
    "replaced": (
        [" def first():", "-    one = 1", "+    one = 10", "     return one"],
        _changed(3, 4, "    one = 10"),
    ),
    "replaced-without-context": (["-    two = 2", "+    two = 20"], _changed(7, 8, "    two = 20")),
    "inserted": (
        [" def second():", "+    more = 0", "     two = 2"],
        _changed(7, 7, "    more = 0"),
    ),
    "inserted-below": (["     return two", "+    # end"], _changed(9, 9, "    # end")),
    "deleted": ([" def first():", "-    one = 1"], _changed(3, 4)),
    "deleted-alone": (["-import os"], _changed(0, 1)),
    "over-a-blank-line": (["     return one", "", "-def second():", "+def other():"],
                          _changed(6, 7, "def other():")),
    "a-blank-line-with-its-mark": (["     return one", " ", "-def second():", "+def other():"],
                                   _changed(6, 7, "def other():")),
    "blank-line-added": (["     one = 1", "+", "     return one"], _changed(4, 4, "")),
    "blank-line-last": (["     return one", "+    # one", "+"],
                        _changed(5, 5, "    # one", "")),
    "blank-line-alone": (["     return one", "+"], _changed(5, 5, "")),
    "replaced-by-two": (["-    one = 1", "+    one = 10", "+"], _changed(3, 4, "    one = 10", "")),
    "blank-lines-last": (["     return one", "+", "+", "+"],
                         _changed(5, 5, "", "", "")),
    "last-line-deleted": (["-LAST = 3"], _changed(10, 11)),
    "last-line": (["-LAST = 3", "+LAST = 4"], _changed(10, 11, "LAST = 4")),
    "below-the-last-line": ([" LAST = 3", "+MORE = 4"], _changed(11, 11, "MORE = 4")),
    "first-lines": (["+import re", " import os"], _changed(0, 0, "import re")),
}  # fmt: skip
HEADS = {"bare": ["@@"], "none": [], "unknown-anchor": ["@@ class Elsewhere:"]}
FINAL = "a final newline is added"


def _every_hunk() -> list[PatchCase]:
    cases = []
    for (name, (hunk, lines)), newline, ended in product(
        HUNKS.items(), ("\n", "\r\n"), (True, False)
    ):
        label = f"{name}-{'lf' if newline == chr(10) else 'crlf'}-{'ended' if ended else 'open'}"
        before, after = _text(LINES, newline, ended=ended), _text(lines, newline, ended=ended)
        patch = enveloped("*** Update File: a.py", "@@", *hunk)
        codex = "" if ended else FINAL
        cases.append(PatchCase(label, {"a.py": before}, patch, {"a.py": after}, codex=codex))
    return cases


def _forms() -> list[PatchCase]:
    """One change in every form of a patch around it."""
    hunk, lines = HUNKS["replaced"]
    before, after = ({"a.py": _text(x, "\n", ended=True)} for x in (LINES, lines))
    plain = enveloped("*** Update File: a.py", "@@", *hunk)
    forms = {
        "as-it-is": plain,
        "final-newline": plain + "\n",
        "blank-lines-around": f"\n\n{plain}\n\n",
        "crlf-in-the-patch": plain.replace("\n", "\r\n"),
        "blanks-behind-marks": plain.replace("Patch", "Patch  "),
        "here-document": f"<<EOF\n{plain}\nEOF",
        "here-document-single-quotes": f"<<'EOF'\n{plain}\nEOF\n",
        "here-document-double-quotes": f'<<"EOF"\n{plain}\nEOF',
        "no-head-before-the-first-part": enveloped("*** Update File: a.py", *hunk),
        "blank-line-before-the-end": enveloped("*** Update File: a.py", "@@", *hunk, ""),
    }
    wrapped = {
        "command-with-here-document": f"apply_patch <<'PATCH'\n{plain}\nPATCH",
        "fenced": f"```patch\n{plain}\n```",
    }
    cases = [PatchCase(name, before, patch, after) for name, patch in forms.items()]
    cases += [
        PatchCase(name, before, patch, after, codex="no patch for it")
        for name, patch in wrapped.items()
    ]
    anchor = enveloped("*** Update File: a.py", "@@ class Elsewhere:", *hunk)
    blanks = plain.replace("a.py", " a.py ")
    cases.append(
        PatchCase("path-with-blanks", before, blanks, after, codex="blanks are the path's")
    )
    says = "'@@ class Elsewhere:' is no line of the file"
    cases.append(PatchCase("anchor-that-is-nowhere", before, anchor, None, says=says))
    numbers = enveloped("*** Update File: a.py", "@@ -3,3 +3,3 @@", *hunk)
    cases.append(PatchCase("numbers-of-a-diff", before, numbers, after, codex="anchor missing"))
    return cases


TWINS = (
    b"class A:\n    def run(self):\n        go()\n\n\nclass B:\n    def run(self):\n        go()\n"
)
B_CHANGED = TWINS[:-5] + b"stop()\n"
A_CHANGED = TWINS.replace(b"go()", b"stop()", 1)
GO = ["-        go()", "+        stop()"]


def _update(
    name: str, before: bytes, body: list[str], after: bytes | None, **more: str
) -> PatchCase:
    patch = enveloped("*** Update File: a.py", *body)
    return PatchCase(
        name, {"a.py": before}, patch, after if after is None else {"a.py": after}, **more
    )


def _anchored() -> list[PatchCase]:
    stacked = "several anchors are no form of its parser"
    first = "the first place is taken"
    return [
        _update("anchor-of-the-second", TWINS, ["@@ class B:", *GO], B_CHANGED),
        _update("anchor-of-the-first", TWINS, ["@@ class A:", *GO], A_CHANGED),
        _update("stacked-anchors", TWINS, ["@@ class B:", "@@     def run(self):", *GO],
                B_CHANGED, codex=stacked),
        _update("stacked-anchors-flat", TWINS, ["@@ class A:", "@@ def run(self):", *GO],
                A_CHANGED, codex=stacked),
        _update("anchor-begun", TWINS, ["@@ class B", *GO], B_CHANGED, codex="anchor missing"),
        _update("anchor-that-fits-twice", TWINS, ["@@ def run(self):", *GO], None,
                says="fits 2 places", codex=first),
        _update("anchor-of-another-place", TWINS.replace(b"go()", b"run()", 1),
                ["@@ class A:", *GO], None, says="which is not within '@@ class A:'"),
        _update("no-anchor", TWINS, ["@@", *GO], None, says="fits 2 places", codex=first),
        _update("in-order", TWINS, ["@@ class B:", "-    def run(self):", "+    def walk(self):",
                                    "@@", *GO],
                B_CHANGED.replace(b"class B:\n    def run", b"class B:\n    def walk")),
        _update("as-many-parts-as-places", TWINS, ["@@", *GO, "@@", *GO],
                TWINS.replace(b"go()", b"stop()")),
        _update("twins-one-with-an-anchor", TWINS,
                ["@@ class A:", "-    def run(self):", "+    def walk(self):", "@@", *GO,
                 "@@ class B:", *GO],
                TWINS.replace(b"go()", b"stop()").replace(b"run", b"walk", 1)),
        _update("fewer-parts-than-places", TWINS + TWINS,
                ["@@", *GO, "@@", *GO], None, says="fits 4 places", codex=first),
        _update("at-the-end", TWINS, ["@@", *GO, "*** End of File"], B_CHANGED),
        _update("both", TWINS, ["@@ class A:", *GO, "@@ class B:", *GO],
                TWINS.replace(b"go()", b"stop()")),
        _update("out-of-order", TWINS.replace(b"A:\n    def run", b"A:\n    def fly"),
                ["@@", "-class B:", "+class C:", "@@", "-    def fly(self):",
                 "+    def sit(self):"],
                TWINS.replace(b"A:\n    def run", b"A:\n    def sit").replace(b"B:", b"C:"),
                codex="parts come in order"),
        _update("braces", b"int f()\n{\n    go();\n}\n\nint g()\n{\n    go();\n}\n",
                ["@@ int g()", "-    go();", "+    stop();"],
                b"int f()\n{\n    go();\n}\n\nint g()\n{\n    stop();\n}\n"),
    ]  # fmt: skip


def _placed() -> list[PatchCase]:
    text = b"alpha = 1\n  beta = 2\nmax_beta = 2\ngamma = 3\n"
    similar = "it compares blanks only"
    return [
        _update("whole-lines-only", b"max = 1\n", ["@@", "-x = 1", "+x = 2"], None, says="not in"),
        _update("part-of-a-line", text, ["@@", "-eta = 2", "+eta = 3"], None, says="not in"),
        _update("depth-of-the-file", text, ["@@", "-beta = 2", "+beta = 4"],
                text.replace(b"  beta = 2", b"  beta = 4"), codex="the depth of the patch"),
        _update("trailing-blanks", b"one  \ntwo\n", ["@@", " one", "-two", "+2"], b"one  \n2\n"),
        _update("misspelt", b"the quick brown fox jumps\nend\n",
                ["@@", " the quick brwon fox jumps", "-end", "+END"],
                b"the quick brown fox jumps\nEND\n", codex=similar),
        _update("absent", text, ["@@", "-delta = 9", "+delta = 8"], None, says="not in the file"),
        _update("repeated-neighbour", b"a = 1\nb = 2\nc = 3\n",
                ["@@", " a = 1", "+b = 2"], None, says="repeats the line",
                codex="the line stands twice"),
        _update("only-new-lines", b"a\nb\n", ["@@", "+c"], None, says="new lines only",
                codex="appended"),
        _update("only-new-lines-with-an-anchor", TWINS, ["@@ class A:", "+    x = 1"], None,
                says="new lines only", codex="appended"),
        _update("appended", b"a = 1\nb = 2\n", ["@@", "+c = 3", "*** End of File"],
                b"a = 1\nb = 2\nc = 3\n"),
        _update("into-an-empty-file", b"", ["@@", "+c = 3"], b"c = 3\n"),
        _update("two-parts", b"a = 1\nb = 2\nc = 3\n", ["@@", "-a = 1", "+a = 9", "@@", "-c = 3",
                "+c = 9"], b"a = 9\nb = 2\nc = 9\n"),
        _update("three-parts-that-grow", b"a = 1\nb = 2\nc = 3\n",
                ["@@", " a = 1", "+x = 0", "@@", "-b = 2", "@@", " c = 3", "+y = 0"],
                b"a = 1\nx = 0\nc = 3\ny = 0\n"),
        _update("emptied", b"a = 1\n", ["@@", "-a = 1"], b""),
        _update("second-part-misses", b"a = 1\nb = 2\n", ["@@", "-a = 1", "+a = 9", "@@", "-z = 3",
                "+z = 9"], None, says="a.py, part 2"),
        _update("marks-in-the-text", b"*** End Patch\n@@ x\n", ["@@", "-*** End Patch", "+- x"],
                b"- x\n@@ x\n"),
        _update("wide-letters", "\u00fc = 1\n".encode(), ["@@", "-\u00fc = 1", "+\u00fc = 2"],
                "\u00fc = 2\n".encode()),
        _update("byte-order-mark", b"\xef\xbb\xbfa = 1\nb = 2\n", ["@@", "-a = 1", "+a = 3"],
                b"\xef\xbb\xbfa = 3\nb = 2\n", codex="the mark is part of the line"),
    ]  # fmt: skip


def _files() -> list[PatchCase]:
    two = {"a.py": b"a = 1\n", "b.py": b"b = 1\n"}
    change = ["*** Update File: a.py", "@@", "-a = 1", "+a = 2"]
    over = "the file is replaced"
    return [
        PatchCase("add", {}, enveloped("*** Add File: n.txt", "+one", "+", "+two"),
                  {"n.txt": b"one\n\ntwo\n"}),
        PatchCase("add-below", {}, enveloped("*** Add File: x/y/n.txt", "+one"),
                  {"x/y/n.txt": b"one\n"}),
        PatchCase("add-empty", {}, enveloped("*** Add File: n.txt"), {"n.txt": b""}),
        PatchCase("add-there", two, enveloped("*** Add File: a.py", "+x"), says="already exists",
                  codex=over),
        PatchCase("delete", two, enveloped("*** Delete File: b.py"), {"a.py": b"a = 1\n"}),
        PatchCase("delete-absent", two, enveloped("*** Delete File: c.py"), says="does not exist"),
        PatchCase("delete-binary", {"x.bin": b"\0\1\2"}, enveloped("*** Delete File: x.bin"), {}),
        PatchCase("update-absent", two, enveloped("*** Update File: c.py", "@@", "-a", "+b"),
                  says="does not exist"),
        PatchCase("move", two, enveloped("*** Update File: a.py", "*** Move to: d/c.py", "@@",
                  "-a = 1", "+a = 2"), {"b.py": b"b = 1\n", "d/c.py": b"a = 2\n"}),
        PatchCase("move-only", two, enveloped("*** Update File: a.py", "*** Move to: c.py"),
                  {"b.py": b"b = 1\n", "c.py": b"a = 1\n"}, codex="a move needs a change"),
        PatchCase("move-onto", two, enveloped("*** Update File: a.py", "*** Move to: b.py", "@@",
                  "-a = 1", "+a = 2"), says="already exists", codex=over),
        PatchCase("rewritten", two, enveloped("*** Delete File: a.py", "*** Add File: a.py", "+x"),
                  {"a.py": b"x\n", "b.py": b"b = 1\n"}),
        PatchCase("moved-up", two, enveloped("*** Update File: b.py", "*** Move to: c.py",
                  "*** Update File: a.py", "*** Move to: b.py"),
                  {"b.py": b"a = 1\n", "c.py": b"b = 1\n"}, codex="a move needs a change"),
        PatchCase("all-kinds", two, enveloped("*** Add File: n.txt", "+n", *change,
                  "*** Delete File: b.py"), {"a.py": b"a = 2\n", "n.txt": b"n\n"}),
        PatchCase("blank-lines-between-files", two, enveloped(*change, "", "*** Delete File: b.py"),
                  {"a.py": b"a = 2\n"}),
        PatchCase("twice-the-same-file", two, enveloped(*change, "*** Update File: a.py", "@@",
                  "-a = 2", "+a = 3"), {"a.py": b"a = 3\n", "b.py": b"b = 1\n"}),
        PatchCase("later-file-misses", two, enveloped(*change, "*** Update File: b.py", "@@",
                  "-z = 1", "+z = 2"), says="b.py", codex="the first file is changed"),
        PatchCase("later-file-absent", two, enveloped(*change, "*** Delete File: c.py"),
                  says="does not exist", codex="the first file is changed"),
        PatchCase("nothing-changes", two, enveloped("*** Update File: a.py", "@@", " a = 1"),
                  says="its old and new lines are the same", codex="it counts as done"),
    ]  # fmt: skip


def _malformed() -> list[PatchCase]:
    two = {"a.py": b"a = 1\n"}
    bodies: dict[str, tuple[str, str]] = {
        "empty": ("", "does not begin"),
        "no-begin": ("*** Update File: a.py\n@@\n-a = 1\n*** End Patch", "does not begin"),
        "no-end": ("*** Begin Patch\n*** Update File: a.py\n@@\n-a = 1", "does not end"),
        "no-file": (enveloped(), "no file in it"),
        "no-path": (enveloped("*** Delete File: "), "begins with"),
        "unknown-head": (enveloped("*** Change File: a.py", "+x"), "begins with"),
        "no-mark": (enveloped("*** Update File: a.py", "@@", "a = 1"), "+, - or a blank"),
        "no-mark-later": (
            enveloped("*** Update File: a.py", "@@", "-a = 1", "b = 2"), "+, - or a blank",
        ),
        "no-part": (enveloped("*** Update File: a.py"), "not how"),
        "head-alone": (enveloped("*** Update File: a.py", "@@"), "+, - or a blank"),
        "unmarked-new-file": (enveloped("*** Add File: n.txt", "one"), "begins with"),
        "unified-diff": ("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2", "does not begin"),
        "text-after-delete": (enveloped("*** Delete File: a.py", "-a = 1"), "begins with"),
        "end-of-file-alone": (
            enveloped("*** Update File: a.py", "@@", "*** End of File"), "+, - or a blank",
        ),
    }  # fmt: skip
    return [PatchCase(name, two, patch, says=says) for name, (patch, says) in bodies.items()]


CASES = [*_every_hunk(), *_forms(), *_anchored(), *_placed(), *_files(), *_malformed()]
