"""What tools write while commands begin, run and end is theirs, and no change of the commands."""

from fsagent_tools.history import commands
from fsagent_tools.history.recorder import JournalWriter


def test_a_write_while_a_command_begins_is_not_taken_for_the_commands(workspace, root, monkeypatch):
    def look(tree):
        found = seen(tree)
        if not (root / "mine").exists():
            workspace.write_bytes("mine", b"x")
        return found

    seen = commands.look
    monkeypatch.setattr(commands, "look", look)
    workspace.run("echo x > theirs")
    told = [[change.path for change in step.changes] for step in workspace.history.steps()]
    assert told == [["mine"], ["theirs"]]


def test_a_write_while_running_commands_are_looked_at_is_not_taken_for_theirs(
    workspace, root, monkeypatch
):
    def look(tree):
        found = seen(tree)
        if writing.pop():
            workspace.write_bytes("mine", b"x")
        return found

    seen, writing = commands.look, [False, True, False]
    monkeypatch.setattr(commands, "look", look)
    after = workspace.services.history.commands.before()
    workspace.services.history.commands.catch_up()
    (root / "theirs").write_text("x")
    after()
    told = [[change.path for change in step.changes] for step in workspace.history.steps()]
    assert told == [["mine"], ["theirs"]]


def test_a_write_while_the_last_command_ends_is_written(workspace, root, monkeypatch):
    turns = [{}]
    ending = property(lambda writer: turns.pop() if turns else None, lambda writer, value: None)
    monkeypatch.setattr(JournalWriter, "written", ending, raising=False)
    workspace.write_bytes("a", b"x")
    workspace.undo()
    assert not (root / "a").exists()
