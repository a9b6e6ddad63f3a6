"""A quote that began a line when the file was read begins one now."""

import pytest

from fsagent_tools import Workspace, toolset

READ, NOW = 'name = "a"\nversion = "1"\n', 'name = "a"\npython_version = "1"\n'


@pytest.fixture
def compact(root):
    tools = toolset("compact").bind(Workspace(root))

    def call(name, **arguments):
        return tools[name].call({"file_path": "a.txt", **arguments})

    (root / "a.txt").write_text(READ)
    assert call("Read").ok
    (root / "a.txt").write_text(NOW)
    return call


def test_a_quote_whose_line_became_longer_is_refused_with_the_line_as_it_is(root, compact):
    change = {"old_string": 'version = "1"', "new_string": 'version = "2"'}
    for _ in range(2):  # saying it again is no answer
        out = compact("Edit", **change)
        assert out.code == "STRING_NOT_FOUND"
        assert "within a longer one, line 2" in out.text
        assert 'python_version = "1"' in out.text
        assert (root / "a.txt").read_text() == NOW
    whole = {"old_string": 'python_version = "1"', "new_string": 'version = "2"'}
    assert compact("Edit", **whole).ok


def test_an_edit_elsewhere_does_not_make_it_known(root, compact):
    assert compact("Edit", old_string='name = "a"', new_string='name = "b"').ok
    assert not compact("Edit", old_string='version = "1"\n', new_string='version = "2"\n').ok


def test_who_read_the_longer_line_may_quote_a_part_of_it(root, compact):
    assert compact("Read").ok
    assert compact("Edit", old_string='version = "1"', new_string='version = "2"').ok
    assert (root / "a.txt").read_text() == NOW.replace("1", "2")


def test_a_part_of_a_line_is_found_as_before(root, compact):
    assert compact("Edit", old_string='"1"', new_string='"2"').ok


@pytest.mark.parametrize(
    ("name", "read", "edit"),
    [
        ("compact", "Read", "Edit"),
        ("deepagents", "read_file", "edit_file"),
        ("file_ops", "read_file", "edit_file"),
        ("file_ops", "read_file", "search_replace"),
        ("filesystem", "read", "edit"),
    ],
)
@pytest.mark.parametrize("own", [True, False])
def test_a_quote_that_is_within_a_changed_line_now_is_asked_about(root, name, read, edit, own):
    tools = toolset(name).bind(Workspace(root))
    (root / "a.txt").write_text(READ)
    assert tools[read].call({"path": "a.txt"}).ok

    def change(old, new):
        return tools[edit].call({"path": "a.txt", "old_string": old, "new_string": new})

    if own:
        assert change('version = "1"', 'python_version = "1"').ok
    (root / "a.txt").write_text(NOW)
    out = change('version = "1"', 'version = "2"')
    assert "within a longer one, line 2" in out.text
    assert (root / "a.txt").read_text() == NOW
    assert change('python_version = "1"', 'python_version = "2"').ok


def test_a_host_replaces_the_text_wherever_it_is(root):
    workspace = Workspace(root)
    (root / "a.txt").write_text(READ)
    for _ in range(2):
        assert workspace.edit_text("a.txt", "version", "python_version").replacements == 1
    assert (root / "a.txt").read_text().endswith('python_python_version = "1"\n')
