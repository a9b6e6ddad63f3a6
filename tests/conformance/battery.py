"""Interprets the rows of battery.jsonl: makes the setup and the call, checks what is expected."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from fsagent_tools import TOOLSETS, Outcome, Policy, Tool, ToolError, Workspace
from fsagent_tools.types import Entry, Shape
from tests.conformance.rows import rows
from tests.conftest import PATIENCE, unmount

ROWS = rows("battery")

# The document's classes of refusals in our codes.
DENIED = {
    "PATH_OUTSIDE_WORKSPACE", "PATH_DENIED", "PERMISSION_DENIED", "ACTION_NOT_ALLOWED", "READONLY"
}  # fmt: skip
INVALID = {"VALIDATION_ERROR", "INVALID_PATH", "INVALID_CHANGE", "INVALID_REGEX", "INVALID_GLOB"}
CODES = {
    "PATH_OUTSIDE": {"PATH_OUTSIDE_WORKSPACE"},
    "DENIED": DENIED,
    "READONLY": {"READONLY"},
    "ACTION_DISABLED": {"ACTION_NOT_ALLOWED", "READONLY"},
    "NOT_FOUND": {"FILE_NOT_FOUND"},
    "NOT_FILE": {"NOT_A_FILE"},
    "IS_DIR": {"NOT_A_FILE"},
    "NOT_DIR": {"NOT_A_DIRECTORY"},
    "EXISTS": {"ALREADY_EXISTS"},
    "NOT_EMPTY": {"ALREADY_EXISTS", "VALIDATION_ERROR"},
    "INVALID_ARG": INVALID,
    "NAME_TOO_LONG": {"INVALID_PATH"},
    "OUT_OF_RANGE": {"VALIDATION_ERROR"},
    "JSON_INVALID": {"VALIDATION_ERROR"},
    "UNKNOWN_ACTION": {"CONFIG_INVALID"},
    "CONFIG_INVALID": {"CONFIG_INVALID"},
    "TOO_LARGE": {"FILE_TOO_LARGE", "VALIDATION_ERROR"},
    "ENCODING": {"ENCODING_ERROR", "BINARY_FILE"},
    "BINARY": {"BINARY_FILE"},
    "STALE": {"STALE_LINE_IDS", "FILE_CHANGED", "NO_LINE_INDEX"},
    "NO_MATCH": {"STRING_NOT_FOUND", "UNKNOWN_LINE_ID"},
    "NO_CHANGE": {"INVALID_CHANGE", "VALIDATION_ERROR"},
    "AMBIGUOUS": {"MULTIPLE_MATCHES"},
    "REGEX_INVALID": {"INVALID_REGEX"},
    "LOOP": {"LINK_LOOP"},
    "TIMEOUT": {"TIMEOUT"},
    "BUSY": {"TIMEOUT", "FILE_CHANGED", "FILE_WRITE_ERROR"},
    "IO_ERROR": {"FILE_WRITE_ERROR", "FILE_READ_ERROR", "PERMISSION_DENIED", "FILE_EDIT_ERROR"},
    "NOT_READ": {"FILE_NOT_READ"},
    "NO_SPACE": {"FILE_WRITE_ERROR"},
    "UNSAFE_URL": {"UNSAFE_URL"},
    "NETWORK": {"NETWORK_ERROR"},
    "TOO_MANY_REDIRECTS": {"NETWORK_ERROR"},
    "UNSUPPORTED": {"VALIDATION_ERROR", "MISSING_DEPENDENCY"},
}
DOCUMENTED = ("edit", "insert")  # whichever toolset has them
SIZES = {"k": 2**10, "M": 2**20, "G": 2**30}
CHANGES = ("external_write", "external_delete", "hold_lock")
DOABLE = ("parallel", "sequence", "repeat", "action", "raw", *CHANGES)
LITTER = (".fsagent-tmp-", ".fsagent-recovery-")


class Unsupported(Exception):
    """What this machine, these tools or this harness cannot do; the reason to skip a row."""


class Case:
    """One row on a fresh directory; `close` undoes what outlives it."""

    def __init__(self, row, tmp, toolset=""):
        self.row, self.tmp, self.toolset = row, tmp, toolset
        self.root, self.out = tmp / "ws", tmp / "out"
        self.root.mkdir()
        self.out.mkdir()
        self.policy, self.workspace, self.outcomes, self.seconds = {}, None, [], 0.0
        self.ids, self.opened = {}, self.root
        self.closing = ExitStack()
        self.expect = row["expect"]

    def run(self):
        for step in self.row["setup"]:
            self.make(step)
        self.before, self.outside = snapshot(self.root), snapshot(self.out)
        started = time.monotonic()
        try:
            policy = Policy(**self.filled(self.policy))
        except ToolError as error:
            self.outcomes = [Outcome.refused(error, Shape())]
        else:
            self.workspace = Workspace(self.opened, policy=policy)
            self.closing.callback(self.workspace.close)
            self.perform(self.row["call"])
        self.seconds = time.monotonic() - started

    def close(self):
        self.closing.close()

    # Setup ---------------------------------------------------------------------------------------

    def filled(self, value):
        """Placeholders and repetitions replaced, at any depth."""
        if isinstance(value, dict) and "repeat" in value:
            text, count = value["repeat"]
            then, times = value.get("then_repeat", (value.get("then", ""), 1))
            return self.filled(text) * count + then * times
        if isinstance(value, dict) and "repeat_obj" in value:
            item, count = value["repeat_obj"]
            return [self.filled(item)] * count
        if isinstance(value, dict) and "other_same_size" in value:
            return "z" * (self.root / "f.txt").stat().st_size
        if isinstance(value, dict):
            return {key: self.filled(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.filled(inner) for inner in value]
        if not isinstance(value, str):
            return value
        value = value.replace("$OUTNAME", self.out.name).replace("$OUT", str(self.out))
        value = value.replace("$WSNAME", self.root.name).replace("$WS_LINK", f"{self.tmp}/ws_link")
        value = value.replace("$WS", str(self.root)).replace("$N255", "n" * 255)
        return re.sub(r"\$ID\(([^,]+),(\d+)\)", lambda m: self.line_id(m[1], int(m[2])), value)

    def line_id(self, path, number):
        """What a session that read the file before was shown; it knows older IDs, too."""
        if path not in self.ids:
            self.note_ids(path, self.tool("read").call({"file_path": path}))
        return self.ids[path][number - 1]

    def note_ids(self, path, out):
        self.ids[path] = re.findall(r"^\[LID:(\w{6})\]", out.text, re.M)

    def make(self, step):
        kind = next(key for key in step if key not in ("text", "hex", "mode", "then", "body"))
        maker = getattr(self, f"make_{kind}", None)
        if maker is None:
            raise Unsupported(f"no setup step {kind!r} here")
        maker(step[kind], step)

    def make_file(self, path, step):
        self.put(self.root / path, step)

    def make_outside_file(self, path, step):
        self.put(self.out / path, step)

    def put(self, path, step):
        path.parent.mkdir(parents=True, exist_ok=True)
        if "hex" in step:
            raw = bytes.fromhex(step["hex"])
        elif "repeat" in step:
            text, count = step["repeat"]
            raw = (text * count).encode()
        elif "size" in step:
            raw = b"old " * (int(step["size"][:-1]) * SIZES[step["size"][-1]] // 4)
        else:
            raw = step.get("text", "").encode()
        path.write_bytes(raw)
        if "mode" in step:
            path.chmod(int(step["mode"], 8))

    def make_dir(self, path, _):
        (self.root / path).mkdir(parents=True, exist_ok=True)

    def make_symlink(self, pair, _):
        target, name = pair
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).symlink_to(self.filled(target))

    def make_hardlink(self, pair, _):
        os.link(self.root / pair[0], self.root / pair[1])

    def make_fifo(self, path, _):
        os.mkfifo(self.root / path)

    def make_unix_socket(self, path, _):
        server = socket.socket(socket.AF_UNIX)
        self.closing.callback(server.close)
        here = Path.cwd()
        os.chdir(self.root)  # the path of a socket is at most 108 bytes
        try:
            server.bind(path)
        finally:
            os.chdir(here)

    def make_policy(self, values, _):
        self.policy |= values

    def make_env(self, values, _):
        for key, value in values.items():
            before = os.environ.get(key)
            os.environ[key] = self.filled(value)
            undo = os.environ.pop if before is None else os.environ.__setitem__
            self.closing.callback(undo, key, before)

    def make_platform(self, names, _):
        if not any(sys.platform.startswith(name[:3]) for name in names):
            raise Unsupported(f"only on {', '.join(names)}")

    def make_mkdir_sibling(self, path, _):
        Path(self.filled(path)).mkdir()

    def make_name255(self, letter, _):
        (self.root / (letter * 255)).write_text("long name")

    def make_workspace_is_symlink(self, _, __):
        self.opened = self.tmp / "ws_link"
        self.opened.symlink_to(self.root)

    def make_workspace_missing(self, _, __):
        self.root.rmdir()

    def make_deep_links(self, count, _):
        (self.root / "l0").write_text("end\n")
        for n in range(1, count + 1):
            (self.root / f"l{n}").symlink_to(f"l{n - 1}")

    def make_pathmax_escape(self, name, _):
        """A chain of long directory names and links whose expansion is longer than PATH_MAX."""
        here, long = os.open(self.root, os.O_RDONLY), "d" * 247
        path = ""
        for letter in "abcdefghijklmnop":
            os.mkdir(long, dir_fd=here)
            os.symlink(long, letter, dir_fd=here)
            inner = os.open(long, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here, path = inner, f"{path}{letter}/"
        up = "../" * 16
        os.symlink(up, "l" * 254, dir_fd=here)
        os.close(here)
        (self.root / name).symlink_to(f"{path}{'l' * 254}/../{self.out.name}")

    def make_sparse_file(self, pair, _):
        with open(self.root / pair[0], "wb") as file:
            file.truncate(pair[1])

    def make_growing_file(self, path, _):
        stop = threading.Event()

        def grow():
            with open(self.root / path, "ab", buffering=0) as file:
                while not stop.is_set() and file.tell() < 1 << 28:
                    file.write(b"one more line of a log\n" * 1000)

        (self.root / path).write_text("first\n")
        thread = threading.Thread(target=grow)
        thread.start()
        self.closing.callback(lambda: (stop.set(), thread.join()))

    def make_tmpfs(self, size, _):
        self.needs_root()
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", self.root], check=True
        )
        self.closing.callback(unmount, self.root)

    def make_bind_mounted_file(self, path, _):
        self.needs_root()
        (self.tmp / "mounted").write_text("old\n")
        (self.root / path).write_text("")
        mount = ["mount", "--bind", self.tmp / "mounted", self.root / path]
        if subprocess.run(mount, check=False).returncode:
            raise Unsupported("no bind mounts here")
        self.closing.callback(unmount, self.root / path)

    def make_immutable(self, path, _):
        self.needs_root()
        (self.root / path).write_text("old\n")
        if subprocess.run(["chattr", "+i", self.root / path], capture_output=True).returncode:
            raise Unsupported("no immutable files here")
        self.closing.callback(subprocess.run, ["chattr", "-i", self.root / path], check=True)

    def make_needs(self, what, _):
        if what == "root":
            self.needs_root()

    def needs_root(self):
        if os.getuid():
            raise Unsupported("needs root")

    def make_leftover_temp_of_dead_run(self, _, __):
        dead = subprocess.Popen(["true"])
        dead.wait()
        (self.root / f".fsagent-tmp-{dead.pid}-0011223344556677").write_text("half")

    def make_clock_jump(self, seconds, _):
        real = time.time_ns
        time.time_ns = lambda: real() + seconds * 10**9
        self.closing.callback(setattr, time, "time_ns", real)

    def make_short_writes(self, _, __):
        real = os.write
        os.write = lambda fd, data: real(fd, data[:1000])
        self.closing.callback(setattr, os, "write", real)

    def make_swap_process(self, step, _):
        first, second, how = step
        if how != "RENAME_EXCHANGE":
            raise Unsupported("the door's own tests make this race")
        script = (
            "import ctypes,sys\nc=ctypes.CDLL(None)\na,b=[x.encode() for x in sys.argv[1:]]\n"
            "while c.renameat2(-100,a,-100,b,2)==0: pass\n"
        )
        link = self.root / "link"  # a directory and a link to outside change places
        link.symlink_to(self.filled(second))
        swapper = subprocess.Popen([sys.executable, "-c", script, self.root / first, link])
        self.closing.callback(lambda: (swapper.kill(), swapper.wait()))

    # Calls ---------------------------------------------------------------------------------------

    def tool(self, action, args=()):
        """The tool for a document's action: of the default toolset, else of the first that fits."""
        name = "edit_lines" if action == "edit" and "changes" in args else action
        if self.toolset:
            return self.tool_of_its_toolset(name)
        sets = sorted(TOOLSETS.values(), key=lambda toolset: toolset.name != "workspace")
        for toolset in sets:
            for entry in toolset.entries:
                names = (entry.shown_name, entry.action.name)
                if name in names and name not in DOCUMENTED:
                    return self.bound(toolset, entry.shown_name)
        if name in DOCUMENTED:
            return Tool(Entry(name, rename={"file_path": "path"}), self.workspace)
        try:
            return TOOLSETS["workspace"].only(action)
        except ToolError as error:
            return Refuses(error)

    def tool_of_its_toolset(self, name):
        for entry in TOOLSETS[self.toolset].entries:
            if entry.action.name == name:
                return self.bound(TOOLSETS[self.toolset], entry.shown_name)
        raise Unsupported(f"{self.toolset} has no {name}")

    def bound(self, toolset, name):
        try:
            return toolset.bind(self.workspace)[name]
        except ToolError as error:  # a policy that names actions which do not exist
            return Refuses(error)

    def perform(self, call):
        for kind in DOABLE:
            if kind in call:
                getattr(self, f"do_{kind}")(**call)
                return
        raise Unsupported(f"another test does this: {', '.join(call)}")

    def do_parallel(self, **call):
        raise Unsupported(f"another test does this: {', '.join(call)}")

    def do_sequence(self, sequence):
        for step in sequence:
            self.perform(step)

    def do_repeat(self, repeat, call):
        for _ in range(min(repeat, 2000)):
            self.perform(call)

    def do_action(self, action, args):
        self.outcomes.append(self.tool(action, args).call(self.filled(args)))
        if action == "read" and self.outcomes[-1].ok:
            self.note_ids(args["file_path"], self.outcomes[-1])

    def do_external_write(self, external_write):
        (self.root / external_write[0]).write_text(external_write[1])

    def do_external_delete(self, external_delete):
        (self.root / external_delete).unlink()
        self.before.pop(external_delete)

    def do_raw(self, raw):
        """The text of one call, as a thin server would take it apart."""
        try:
            call, text = json.loads(raw), raw
            text = text[text.index('"args":') + 7 : text.rindex("}")]
        except ValueError:
            self.outcomes.append(self.tool("read").call(raw))
            return
        self.outcomes.append(self.tool(call["action"], call["args"]).call(text))

    def do_hold_lock(self, hold_lock, seconds):
        script = (
            "import fcntl,os,sys,time\nfd=os.open(sys.argv[1],os.O_RDONLY)\n"
            "fcntl.flock(fd,fcntl.LOCK_EX)\nprint('held',flush=True)\ntime.sleep(int(sys.argv[2]))\n"
        )
        holder = subprocess.Popen(
            [sys.executable, "-c", script, (self.root / hold_lock).parent, str(seconds)],
            stdout=subprocess.PIPE,
        )
        holder.stdout.readline()
        self.closing.callback(lambda: (holder.kill(), holder.communicate()))

    # Checks --------------------------------------------------------------------------------------

    def check(self):
        for name in self.expect:
            getattr(self, f"check_{name}", lambda _: None)(self.expect[name])
        self.check_always()

    def check_always(self):
        for out in self.outcomes:
            json.dumps(out.to_dict())
            assert out.text
            if not out.ok:
                assert out.code in {code for codes in CODES.values() for code in codes} | {"ERROR"}
                assert len(out.text) > 15, f"no next step: {out.text}"
                assert len(out.text) < 20_000
        now = snapshot(self.root)
        made = [name for name in now if name.startswith(LITTER) or "/.fsagent-" in name]
        assert not made, f"litter: {made}"
        assert snapshot(self.out) == self.outside, "something outside changed"

    @property
    def last(self):
        return self.outcomes[-1]

    def check_status(self, status):
        assert status == "either" or self.last.ok == (status == "ok"), self.last

    def check_code_any(self, classes):
        if not self.last.ok:
            shape = self.last.shape  # a toolset's document may have other words
            fitting = {
                shape.codes.get(code, shape.otherwise or code)
                for name in classes
                for code in CODES[name]
            }
            assert self.last.code in fitting, f"{self.last.code} not in {fitting}: {self.last.text}"

    def check_unchanged(self, _):
        assert strip_cache(snapshot(self.root)) == self.before

    def check_contains(self, texts):
        for text in texts:
            assert self.filled(text) in self.last.text

    def check_not_contains(self, texts):
        for text in texts:
            assert text not in self.last.text
            assert text not in json.dumps(self.last.to_dict())

    def check_never_contains(self, texts):
        for out in self.outcomes:
            assert not any(text in out.text for text in texts)

    def check_file_hex(self, files):
        for path, raw in files.items():
            assert (self.root / path).read_bytes().hex() == raw

    def check_file_hex_any(self, files):
        for path, raws in files.items():
            assert (self.root / path).read_bytes().hex() in raws

    def check_starts_hex(self, files):
        for path, raw in files.items():
            assert (self.root / path).read_bytes().hex().startswith(raw)

    def check_file_equals(self, files):
        for path, text in files.items():
            assert (self.root / self.filled(path)).read_bytes().decode() == text

    def check_file_any(self, files):
        for path, texts in files.items():
            assert (self.root / path).read_bytes().decode() in texts

    def check_file_size(self, files):
        for path, size in files.items():
            assert (self.root / path).stat().st_size == size

    def check_mode(self, files):
        for path, mode in files.items():
            assert (self.root / path).stat().st_mode & 0o7777 == int(mode, 8)

    def check_is_symlink(self, paths):
        assert all((self.root / path).is_symlink() for path in paths)

    def check_absent(self, paths):
        assert not [path for path in paths if os.path.lexists(self.root / path)]

    def check_present(self, paths):
        assert all(os.path.lexists(self.root / path) for path in paths)

    def check_max_seconds(self, seconds):
        assert self.seconds < seconds + PATIENCE  # tells a hang, not how fast the machine is

    def check_max_output_chars(self, count):
        assert len(self.last.text) <= count

    def check_max_message_chars(self, count):
        assert self.last.ok or len(self.last.text) <= count

    def check_max_matches(self, count):
        assert len(self.last.text.splitlines()) <= count

    def check_truncated(self, value):
        assert self.last.data["truncated"] == value


class Refuses:
    """A tool that is not there answers like `execute` does."""

    def __init__(self, error):
        self.error = error

    def call(self, _):
        return Outcome.refused(self.error, Shape())


def snapshot(folder):
    """Every entry below a folder: kind, mode and content (of small files)."""
    found = {}
    with suppress(FileNotFoundError):
        for path, dirs, files in os.walk(folder):
            for name in dirs + files:
                entry = Path(path, name)
                with suppress(OSError):  # deeper than a path can name
                    found[str(entry.relative_to(folder))] = state(entry)
    return found


def state(entry):
    status = entry.lstat()
    if entry.is_symlink():
        return status.st_mode, os.readlink(entry)
    if not entry.is_file():
        return status.st_mode, ""
    return status.st_mode, entry.read_bytes() if status.st_size < 1 << 21 else status.st_size


def strip_cache(entries):
    """Without the line indexes, which a read may make where the policy lets it."""
    return {k: v for k, v in entries.items() if k != ".ai" and not k.startswith(".ai/")}
