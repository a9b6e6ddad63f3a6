"""A path from "/" that leads out is refused with what it means beneath the root."""

import pytest

from fsagent_tools import Policy, Workspace, errors
from fsagent_tools.files.local import LocalFiles


@pytest.fixture
def place(tmp_path):
    root = tmp_path / "own"
    root.mkdir()
    (root / "sub").mkdir()
    (root / "sub" / "x.py").write_text("x = 1\n")
    (root / "secret").write_text("s")
    (root / "out").symlink_to("/etc")
    return root


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/sub/x.py", "sub/x.py"),
        ("//sub/x.py", "sub/x.py"),
        ("/sub", "sub"),
        ("/sub/", "sub/"),
        ("/", "."),
    ],
)
def test_what_is_beneath_the_root_is_named(path, meant, by_hand, place):
    with pytest.raises(errors.OutsideWorkspace) as refused:
        LocalFiles(place, Policy(), walk=by_hand).open(path)
    hint = f"Did you mean {meant}? Use a path relative to the workspace root."
    assert refused.value.hint == hint


@pytest.mark.parametrize("path", ["/sub/none", "/secret", "/out/passwd", "/etc/passwd", "../x"])
def test_nothing_is_told_of_what_is_not_there_or_closed(path, place):
    with pytest.raises(errors.OutsideWorkspace) as refused:
        LocalFiles(place, Policy(denied_paths=["secret"])).open(path)
    assert refused.value.hint == "Use a path relative to the workspace root."


def test_every_verb_says_so(place):
    workspace = Workspace(place)
    for verb in (
        lambda: workspace.read_text("/sub/x.py"),
        lambda: workspace.write_bytes("/sub/x.py", b""),
        lambda: workspace.list("/sub"),
        lambda: workspace.remove("/sub", True),
        lambda: workspace.move("sub", "/sub/x.py"),
    ):
        with pytest.raises(errors.OutsideWorkspace, match="Did you mean sub"):
            verb()
    assert (place / "sub/x.py").read_text() == "x = 1\n"
