"""A directory that gives way to a link: what the link leads to is not what was there."""

import pytest

from tests.history.conftest import tree


@pytest.mark.parametrize("target", ["../outside", "away"])
def test_what_a_command_put_a_link_in_the_place_of_comes_back(workspace, root, tmp_path, target):
    for folder, text in ((root / "src", "mine\n"), (tmp_path / "outside", "theirs\n")):
        folder.mkdir()
        (folder / "a.py").write_text(text)
        (folder / "b.py").write_text(text)
    before, elsewhere = tree(root), tree(tmp_path / "outside")
    workspace.run(f"mv src away; rm away/b.py; ln -s {target} src")
    (step,) = workspace.history
    assert {(change.path, change.verb) for change in step.changes} == {
        ("away", "created"),
        ("away/a.py", "created"),
        ("src", "changed"),
        ("src/a.py", "removed"),
        ("src/b.py", "removed"),
    }
    workspace.undo()
    assert (tree(root), tree(tmp_path / "outside")) == (before, elsewhere)
    workspace.redo()
    assert (root / "src").is_symlink()
    assert tree(tmp_path / "outside") == elsewhere
