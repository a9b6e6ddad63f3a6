"""How often an edit by text does something else than was meant, when models slip as they do."""

import random
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from fsagent_tools import Workspace, toolset
from tests.conformance.rows import rows
from tests.conformance.test_matching import with_typo
from tests.conformance.test_silent_edits import FAST

pytestmark = pytest.mark.slow
WEIGHTS = {  # of 100 calls; one line too far up or down is a slip that quotes do not know
    "clean": 81, "changed elsewhere meanwhile": 6, "target changed": 0.7, "came between": 0.3,
    "prefixes pasted": 0.5, "repeats the line below": 2, "repeats the line above": 1,
    "old text drifted": 1, "both drifted": 1, "trailing blanks": 0.7, "not unique": 2,
    "CRLF file": 1, "misspelt": 1.5, "final newline": 1, "elision": 0.3,
}  # fmt: skip
TOOLS = {  # toolset, tool that reads, its path, tool that edits; least and most of 100 calls
    "compact": ("Read", "file_path", "Edit", 90, 2),
    "filesystem": ("read", "path", "edit", 90, 2),
    "file_ops": ("read_file", "file_path", "edit_file", 85, 2),  # takes the exact text alone
}


class Sent:
    """One hunk of a commit as it is sent, and what a slip makes of it; `meant` None: a refusal."""

    def __init__(self, text, hunk, old, new):
        self.text, self.old, self.new = text, old, new
        self.shown = text
        self.meant = self.text.replace(self.old, self.new)
        at = self.text.index(self.old)
        self.above = self.text[:at].split("\n")[-2:-1]
        end = at + len(self.old) + (not self.old.endswith("\n"))
        self.below = self.text[end:].split("\n")[:1]
        self.end = "\n" * self.old.endswith("\n")
        self.bare = hunk["old"].removesuffix("\n")
        self.dice = random.Random(self.old)

    def slip(self, kind):  # noqa: C901  # one case for each slip
        """Whether this slip can happen here."""
        lines = self.old.split("\n")
        match kind:
            case "clean":
                return True
            case "changed elsewhere meanwhile":
                self.text, self.meant = f"// new\n\n{self.text}", f"// new\n\n{self.meant}"
            case "target changed":
                filled = [n for n, line in enumerate(lines) if line.strip()]
                place = self.dice.choice(filled)
                lines[place] = lines[place].replace(lines[place].strip()[:2], "changed", 1)
                self.text, self.meant = self.text.replace(self.old, "\n".join(lines)), None
            case "came between" if sum(map(bool, map(str.strip, lines))) > 1:
                there = [lines[0], "// came", *lines[1:]]
                self.text, self.meant = self.text.replace(self.old, "\n".join(there)), None
            case "prefixes pasted":
                self.old, self.new = (
                    "\n".join(f"{n:6}\t{x}" for n, x in enumerate(t.split("\n"), 40))
                    for t in (self.old, self.new)
                )
            case "repeats the line below" if self.new and "".join(self.below).strip():
                self.new = f"{self.new.removesuffix(self.end)}\n{self.below[0]}{self.end}"
            case "repeats the line above" if self.new and "".join(self.above).strip():
                self.new = f"{self.above[0]}\n{self.new}"
            case "old text drifted" | "both drifted":
                return self.drift(both=kind == "both drifted")
            case "trailing blanks":
                self.old = "\n".join(line + "  " * bool(line.strip()) for line in lines)
            case "not unique" if self.text.count(self.bare) > 1 and self.bare.strip():
                self.old, self.new, self.meant = self.bare, "CHANGED", None
            case "CRLF file" if "\r" not in self.text:
                self.text, self.meant = (t.replace("\n", "\r\n") for t in (self.text, self.meant))
            case "misspelt":
                sent = with_typo(self.old, self.new)
                if sent == (self.old, self.new):
                    return False
                self.old, self.new = sent
            case "final newline" if self.new:
                self.new += "\n"
            case "elision" if len(self.new.split("\n")) > 4:
                new = self.new.split("\n")
                self.new = "\n".join([new[0], "    # ... existing code ...", new[-1]])
            case _:
                return False
        return True

    def drift(self, *, both):
        """Every line, or the first, four columns to the left, or one to the right."""
        step = self.dice.choice([-4, -4, 1])
        texts = [self.old, self.new] if both else [self.old]
        filled = [line for text in texts for line in text.split("\n") if line.strip()]
        if step < 0 and not all(line.startswith("    ") for line in filled):
            return False
        moved = [
            "\n".join((x[4:] if step < 0 else f" {x}") if x.strip() else x for x in t.split("\n"))
            for t in texts
        ]
        self.old, self.new = [*moved, self.new][:2]
        return True


def hunks():
    """Every hunk twice: with its last line ending, and without, as models send it more often."""
    for row in rows("real_edits"):
        for hunk in row["hunks"]:
            pair = hunk["old_ctx"], hunk["new_ctx"]
            for old, new in (pair, [text.removesuffix("\n") for text in pair]):
                if old != new and row["before"].count(old) == 1:
                    yield row["path"], Sent(row["before"], hunk, old, new)


class Model:
    """Reads a file and edits it by the tools of one toolset."""

    def __init__(self, name, root):
        self.read, self.key, self.edit, *_ = TOOLS[name]
        self.workspace = Workspace(root)
        self.tools = toolset(name).bind(self.workspace)
        self.root, self.count = Path(root), 0

    def result(self, sent, suffix):
        """The file is changed by others between the read and the edit."""
        self.count += 1
        path = self.root / f"{self.count}{suffix}"
        path.write_bytes(sent.shown.encode())
        file = {self.key: path.name}
        assert self.tools[self.read].call(file).ok
        path.write_bytes(sent.text.encode())
        out = self.tools[self.edit].call({**file, "old_string": sent.old, "new_string": sent.new})
        after = path.read_bytes().decode()
        path.unlink()
        if not out.ok:
            assert after == sent.text
            return "refused"
        told = "occurrences (line" in out.text  # it says which of several it took
        return "applied" if after == sent.meant or (told and sent.meant is None) else "corrupted"


@pytest.mark.parametrize("name", TOOLS)
def test_the_share_of_silent_wrong_text_edits_stays_small(name, capsys):
    shares = dict.fromkeys(("applied", "refused", "corrupted"), 0.0)
    table = []
    with tempfile.TemporaryDirectory(dir=FAST) as root:
        model = Model(name, root)
        for kind, weight in WEIGHTS.items():
            counts = Counter()
            for path, sent in hunks():
                if sent.slip(kind):
                    counts[model.result(sent, Path(path).suffix)] += 1
            for share in shares:
                shares[share] += weight * counts[share] / counts.total()
            table.append(f"{kind:32} {dict(counts)}")
        model.workspace.close()
    with capsys.disabled():
        print("\n" + "\n".join([name, *table]))  # noqa: T201
        print({share: round(part, 2) for share, part in shares.items()})  # noqa: T201
    *_, least, most = TOOLS[name]
    assert shares["corrupted"] <= most
    assert shares["applied"] >= least
