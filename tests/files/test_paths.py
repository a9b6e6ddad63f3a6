import os
import socket
import threading

import pytest

from fsagent_tools import Policy, errors
from fsagent_tools.files.local import LocalFiles
from tests.conftest import no_new_descriptor


def read(door, path):
    with door.open(path) as file:
        return file.read()


def write(door, path, data=b"new", **options):
    with door.lock(path, **options) as target:
        return target.write(data, expect=target.version)


def test_every_spelling_of_a_file_inside_works(door, root):
    (root / "a..b.txt").write_text("dots")
    (root / "[...slug]").write_text("slug")
    assert read(door, "a.txt") == read(door, "./a.txt") == read(door, "sub/../a.txt") == b"alpha\n"
    assert read(door, str(root / "a.txt")) == read(door, f"{root}//sub/./../a.txt") == b"alpha\n"
    assert read(door, "a..b.txt") == b"dots"
    assert read(door, "[...slug]") == b"slug"


def test_a_root_reached_through_a_link_works_in_both_spellings(opens, root):
    link = root.parent / "link"
    link.symlink_to(root)
    door = opens(at=link)
    assert read(door, str(link / "a.txt")) == read(door, str(root / "a.txt")) == b"alpha\n"
    with door.open(str(link / "sub/b.txt")) as file:
        assert file.place.relative == "sub/b.txt"
        assert file.place.absolute == str(root / "sub/b.txt")


@pytest.mark.parametrize(
    "path",
    ["../out/secret.txt", "sub/../../out/secret.txt", "/etc/passwd", "/", "/../a.txt", "..",
     "link", "link/", "dirlink/secret.txt", "dangling", "sub/up/out/secret.txt",
     "/proc/self/environ", "chain/secret.txt", "nodir/f"],
)  # fmt: skip
def test_nothing_outside_is_read_or_written(door, root, path):
    out = root.parent / "out"
    (root / "link").symlink_to(out / "secret.txt")
    (root / "dirlink").symlink_to("../out")
    (root / "dangling").symlink_to(out / "not-yet")
    (root / "nodir").symlink_to(out / "nodir")
    (root / "sub" / "up").symlink_to("../..")
    (root / "chain").symlink_to("dirlink")
    with pytest.raises(errors.OutsideWorkspace, match="relative to the workspace root"):
        read(door, path)
    with pytest.raises(errors.OutsideWorkspace):
        write(door, path, create_dirs=True)
    with pytest.raises(errors.OutsideWorkspace):
        door.make_directory(path)
    with pytest.raises(errors.OutsideWorkspace):
        door.place(path)


def test_a_sibling_with_the_roots_name_as_prefix_is_outside(door, root):
    sibling = root.parent / "ws_evil"
    sibling.mkdir()
    with pytest.raises(errors.OutsideWorkspace):
        write(door, f"{sibling}/x")


def test_links_that_stay_inside_are_followed(door, root):
    (root / "rel").symlink_to("sub/b.txt")
    (root / "abs").symlink_to(root / "sub" / "b.txt")
    (root / "dir").symlink_to("sub/deep")
    assert read(door, "rel") == read(door, "abs") == read(door, "dir/../b.txt") == b"beta\n"
    assert door.place("abs").relative == "sub/b.txt"
    write(door, "abs", b"changed")
    assert (root / "abs").is_symlink()
    assert (root / "sub" / "b.txt").read_bytes() == b"changed"


def test_a_dangling_link_inside_is_written_where_it_points(door, root):
    (root / "dangling").symlink_to("sub/new.txt")
    write(door, "dangling", b"x")
    assert (root / "sub" / "new.txt").read_bytes() == b"x"
    assert (root / "dangling").is_symlink()


@pytest.mark.parametrize(
    ("path", "error"),
    [("", "INVALID_PATH"), (" ", "INVALID_PATH"), ("a\0b", "INVALID_PATH"),
     ("\ud800.txt", "INVALID_PATH"), ("n" * 256, "INVALID_PATH"), ("d/" * 2500, "INVALID_PATH"),
     ("loop", "LINK_LOOP"), ("loop/x", "LINK_LOOP"), ("sub", "NOT_A_FILE"), (".", "NOT_A_FILE"),
     ("fifo", "NOT_A_FILE"), ("socket", "NOT_A_FILE"), ("a.txt/x", "NOT_A_DIRECTORY"),
     ("~/x", "FILE_NOT_FOUND"), ("nope", "FILE_NOT_FOUND"), ("nope/../a.txt", "FILE_NOT_FOUND")],
)  # fmt: skip
def test_what_is_no_readable_file_is_refused_with_its_own_code(door, root, path, error):
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(root)
        server.bind("socket")
        os.chdir(here)
    with pytest.raises(errors.ToolError) as refused:
        read(door, path)
    assert refused.value.code == error
    assert refused.value.hint or error == "FILE_NOT_FOUND"
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("path", ["fifo", "sub", ".", "a.txt/", "new/", "sub/.", "a.txt/x", "loop"])
def test_what_is_no_writable_file_is_refused(door, root, path):
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "fifo")
    with pytest.raises((errors.NotAFile, errors.NotADirectory, errors.LinkLoop)):
        write(door, path)
    assert sorted(os.listdir(root)) == ["a.txt", "fifo", "loop", "sub"]


def test_a_missing_name_gets_the_most_similar_real_ones(door):
    with pytest.raises(errors.Missing, match=r"sub/bb.txt does not exist. Did you mean sub/b.txt"):
        read(door, "sub/bb.txt")
    with pytest.raises(errors.Missing, match=r"Did you mean a.txt"):
        write(door, "a.tx/new")


@pytest.mark.parametrize("path", ["caf\\xe9.txt", "caf\udce9.txt"])
def test_a_name_that_is_not_utf_8_is_told_with_the_way_out(door, root, path):
    (root / "caf\udce9.txt").write_text("x")
    with pytest.raises(errors.InvalidPath) as refused:
        door.open(path)
    assert str(refused.value).startswith("The name caf\\xe9.txt is not UTF-8")
    assert "$'caf\\xe9.txt'" in str(refused.value)


def test_suggestions_never_name_a_denied_file(opens, root):
    (root / ".env").write_text("KEY")
    with pytest.raises(errors.Missing) as refused:
        read(opens(Policy(denied_paths=(".env",))), ".envv")
    assert "mean" not in refused.value.hint


def test_the_policy_sees_the_opened_object_not_the_spelling(opens, root):
    (root / ".env").write_text("KEY")
    (root / "innocent").symlink_to(".env")
    door = opens(Policy(denied_paths=(".env", "sub/*")))
    for path in ("innocent", ".env", "sub/../.env", str(root / ".env"), "sub/b.txt"):
        with pytest.raises(errors.PathDenied):
            read(door, path)
        with pytest.raises(errors.PathDenied):
            write(door, path)
    with pytest.raises(errors.PathDenied):
        write(door, "sub/new/x.txt", create_dirs=True)
    assert not (root / "sub/new").exists()


def test_a_name_that_ends_like_a_deleted_file_is_matched_as_it_is(opens, root):
    (root / "x (deleted)").write_text("here")
    assert read(opens(), "x (deleted)") == b"here"
    with pytest.raises(errors.PathDenied):
        read(opens(Policy(denied_paths=("x (deleted)",))), "x (deleted)")


def test_an_absolute_allowed_path_opens_a_further_root(opens, root):
    more = root.parent / "more"
    more.mkdir()
    (more / "m.txt").write_text("more")
    (root / "link").symlink_to(more / "m.txt")
    door = opens(Policy(allowed_paths=(f"{root}/*", f"{more}/*")))
    assert read(door, str(more / "m.txt")) == read(door, "../more/m.txt") == b"more"
    assert read(door, "link") == b"more"
    assert door.place("link").relative == str(more / "m.txt")
    write(door, str(more / "n.txt"), b"n")
    assert (more / "n.txt").read_bytes() == b"n"
    with pytest.raises(errors.OutsideWorkspace):
        read(door, f"{more}/../out/secret.txt")
    with pytest.raises(errors.Denied):
        door.remove(str(more), recursive=True)


def test_a_file_above_the_size_limit_is_neither_read_nor_written(opens, root):
    door = opens(Policy(max_file_size=10))
    (root / "big").write_bytes(b"x" * 11)
    with pytest.raises(errors.TooLarge):
        read(door, "big")
    with pytest.raises(errors.TooLarge):
        write(door, "a.txt", b"x" * 11)
    assert (root / "a.txt").read_text() == "alpha\n"


def test_stat_describes_the_link_and_what_it_leads_to(door, root):
    (root / "link").symlink_to("sub")
    (root / "gone").symlink_to("nowhere")
    (root / "leak").symlink_to("../out/secret.txt")
    status = door.stat("link")
    assert (status.kind, status.target, status.target_kind) == ("link", "sub", "directory")
    assert status.is_symlink
    assert door.stat("gone").target_kind is door.stat("leak").target_kind is None
    plain = door.stat("a.txt")
    assert (plain.kind, plain.size, plain.place.relative) == ("file", 6, "a.txt")
    assert plain.mtime_ns == (root / "a.txt").stat().st_mtime_ns
    assert door.stat(".").kind == "directory"


def test_constructing_a_door_does_no_io_and_a_missing_root_says_so(tmp_path):
    door = LocalFiles(tmp_path / "nowhere", Policy())
    with pytest.raises(errors.Missing, match="nowhere"):
        read(door, "a")


def test_threads_share_one_lazily_opened_root(opens):
    door, seen = opens(), []
    threads = [threading.Thread(target=lambda: seen.append(read(door, "a.txt"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [b"alpha\n"] * 8


def test_no_descriptor_stays_open(door, root):
    (root / "link").symlink_to("sub/b.txt")
    read(door, "a.txt")
    with no_new_descriptor():
        for path in ("a.txt", "link", "nope", "../x", "sub", "a.txt/x", "sub/deep/../b.txt"):
            for use in (read, write, LocalFiles.stat, LocalFiles.place, LocalFiles.make_directory):
                try:
                    use(door, path)
                except errors.ToolError:
                    continue


def test_without_proc_the_walk_itself_knows_where_it_is(opens, root, monkeypatch):
    for module in ("resolve",):
        monkeypatch.setattr(f"fsagent_tools.files.{module}.path_of", lambda fd: None)
    (root / "link").symlink_to(root / "sub")
    door = opens(Policy(denied_paths=("sub/deep*",)))
    assert read(door, "link/../sub/b.txt") == b"beta\n"
    assert door.place("link/b.txt").relative == "sub/b.txt"
    with pytest.raises(errors.PathDenied):
        write(door, "link/deep/x")
    with pytest.raises(errors.OutsideWorkspace):
        read(door, "../out/secret.txt")


def test_a_root_renamed_while_open_stays_the_root(door, root):
    assert read(door, "a.txt") == b"alpha\n"
    moved = root.rename(root.parent / "renamed")
    try:
        write(door, "sub/b.txt", b"there")
        assert door.place("sub/b.txt").relative == "sub/b.txt"
        assert (moved / "sub/b.txt").read_bytes() == b"there"
    finally:
        moved.rename(root)


def test_a_closed_or_forgotten_door_leaves_no_descriptor(root):
    with no_new_descriptor():
        for _ in range(5):
            door = LocalFiles(root, Policy())
            read(door, "a.txt")
        door.close()
        assert read(door, "a.txt") == b"alpha\n"
        del door


@pytest.mark.parametrize("up", ["../", "..", ".././"])
def test_a_link_that_ends_in_a_slash_stands_for_where_it_leads_also_on_the_way_out(door, root, up):
    (root / "sub" / "up").symlink_to(up)
    (root / "escape").symlink_to("sub/up/../out")
    for path in ("escape", "escape/x.txt", "escape/new/x.txt"):
        with (
            pytest.raises(errors.OutsideWorkspace),
            door.lock(path, create_dirs=True) as target,
        ):
            target.write(b"x", expect=target.version)
    with pytest.raises(errors.OutsideWorkspace):
        door.make_directory("escape")
    assert sorted(os.listdir(root)) == ["a.txt", "escape", "sub"]
