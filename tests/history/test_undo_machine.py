"""Random tools, commands, changes of others, undo, redo and restarts: the tree is the model's."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fsagent_tools import Workspace, errors, identified
from tests.history.conftest import tree

NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/c", "d", "d/e", "f", "x.log", "l"])
DATA = st.sampled_from([b"", b"one\n", b"two\nlines\n", b"\0\1binary" * 40, b"long\n" * 2000])
COMMANDS = st.sampled_from(
    [
        "echo more >> {0}",
        "printf x > {0}",
        "rm -rf {0}",
        "mv {0} {1}",
        "mkdir -p {0}",
        "ln -s {1} {0}",
        "chmod 700 {0}",
        "cp -r {0} {1}",
        "rm -f {0}; echo new > {0}",
        "touch {0}",
        "rm -f .gitignore",
        "echo '*.log' > .gitignore",
    ]
)


class Undoing(RuleBasedStateMachine):
    """past: the trees before each step in effect. marks: checkpoints with their tree and past."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="fsagent-undo-"))
        self.state = os.environ["XDG_STATE_HOME"]
        os.environ["XDG_STATE_HOME"] = str(self.folder / "state")
        self.root = self.folder / "ws"
        self.root.mkdir()
        (self.root / ".gitignore").write_text("*.log\n")
        (self.root / "theirs.log").write_text("theirs\n")
        (self.root / "f").write_text("first\n")
        (self.root / "f").chmod(0o640)
        self.workspace = Workspace(self.root)
        self.past, self.undone, self.marks, self.theirs = [], [], [], 0
        self.now = self.seen()

    def teardown(self):
        self.workspace.close()
        os.environ["XDG_STATE_HOME"] = self.state
        shutil.rmtree(self.folder)

    def seen(self):
        return {p: what for p, what in tree(self.root).items() if not p.startswith("theirs")}

    def steps(self):
        return sum(step.kind == "change" for step in self.workspace.history)

    def act(self, work):
        """One step, if the history has one more of them."""
        with identified(session="s"):
            before = self.steps()
            try:
                work()
            except errors.ToolError:
                assert self.seen() == self.now
            made = self.steps() - before
        assert made in (0, 1)
        after = self.seen()
        ignored = {p for p in {*after, *self.now} if p.endswith(".log")}
        assert made or all(after.get(p) == self.now.get(p) for p in {*after, *self.now} - ignored)
        if made:
            self.past.append(self.now)
            self.undone.clear()
        self.now = after

    @rule(name=NAMES, data=DATA)
    def write(self, name, data):
        self.act(lambda: self.workspace.write_bytes(name, data))

    @rule(name=NAMES)
    def remove(self, name):
        self.act(lambda: self.workspace.remove(name, recursive=True))

    @rule(name=NAMES, other=NAMES, over=st.booleans())
    def move(self, name, other, over):
        self.act(lambda: self.workspace.move(name, other, over))

    @rule(name=NAMES, other=NAMES, over=st.booleans())
    def copy(self, name, other, over):
        self.act(lambda: self.workspace.copy(name, other, over))

    @rule(name=NAMES)
    def make(self, name):
        self.act(lambda: self.workspace.files.make_directory(name))

    @rule(
        command=COMMANDS,
        name=NAMES.filter(lambda n: n != "x.log"),
        other=NAMES.filter(lambda n: n != "x.log"),
    )
    def command(self, command, name, other):
        # what is ignored is not covered: no command here touches it
        if not any(path.endswith(".log") for path in (*self.now, name, other)):
            self.act(lambda: self.workspace.run(command.format(name, other)))

    @rule(data=DATA)
    def others(self, data):
        (self.root / "theirs").mkdir(exist_ok=True)
        self.theirs += 1
        (self.root / "theirs" / str(self.theirs % 3)).write_bytes(data)

    @rule()
    def restart(self):
        """As after a crash: nothing is closed, and another workspace goes on."""
        self.workspace.services.jobs.close()
        self.workspace = Workspace(self.root)

    @precondition(lambda self: self.past)
    @rule(count=st.integers(1, 3))
    def undo(self, count):
        count = min(count, len(self.past))
        with identified(session="s"):
            self.workspace.undo(count)
        self.undone.append((self.now, [*self.past]))
        self.now = self.past[-count]
        del self.past[-count:]

    @precondition(lambda self: self.undone)
    @rule()
    def redo(self):
        with identified(session="s"):
            self.workspace.redo()
        self.now, self.past = self.undone.pop()

    @rule()
    def mark(self):
        with identified(session="s"):
            self.marks.append((self.workspace.checkpoint(), self.now, [*self.past]))

    @precondition(lambda self: self.marks)
    @rule(data=st.data())
    def back_to(self, data):
        mark, tree_then, past = data.draw(st.sampled_from(self.marks))
        with identified(session="s"):
            done = self.workspace.undo(to=mark)
        if done.steps:  # else nothing lies between, and there is no undo to take back
            self.undone.append((self.now, [*self.past]))
        self.now, self.past = tree_then, [*past]

    @invariant()
    def the_tree_is_the_models(self):
        assert self.seen() == self.now

    @invariant()
    def what_was_hidden_is_there(self):
        assert (self.root / "theirs.log").read_text() == "theirs\n"


Undoing.TestCase.settings = settings(max_examples=25, stateful_step_count=15)
TestUndoing = Undoing.TestCase
