"""The program that an agent of Harbor runs in a container, here beside the tests."""

import json
import subprocess
import sys

from benchmark.agent import inside
from benchmark.calls.form import Call
from benchmark.calls.importers import imported


def test_it_works_in_its_directory_and_keeps_every_call(tmp_path):
    path, out, script = (tmp_path / name for name in ("a.txt", "out.json", "turns.json"))
    path.write_text("one\ntwo\n")
    turns = [
        [["Read", {"file_path": str(path)}]],
        [["Edit", {"file_path": str(path), "old_string": "two", "new_string": "three"}]],
        "Done.",
    ]
    script.write_text(json.dumps(turns))
    words = ["--model", script, "--toolset", "compact", "--out", out, "Make it three."]
    subprocess.run([sys.executable, "-W", "ignore", inside.__file__, *words], check=True)
    assert path.read_text() == "one\nthree\n"
    kept = json.loads(out.read_text())
    assert [step["source"] for step in kept["steps"]] == ["user", "agent", "agent", "agent"]
    assert [step["step_id"] for step in kept["steps"]] == [1, 2, 3, 4]
    (call,) = (one for one in imported("atif", out) if isinstance(one, Call))
    assert (call.old, call.new) == ("two", "three")
