"""What an installed wheel must be able to do; run by its interpreter, the sources out of reach."""

import importlib
import importlib.util
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import fsagent_tools
from fsagent_tools import Workspace, toolset
from fsagent_tools.cli import main

EXTRAS = [name for name in sys.argv[1].split(",") if name]


def core(root: Path) -> None:
    (root / "a.py").write_text("x = 1\n", encoding="utf-8")
    tools = toolset("workspace").bind(Workspace(root))
    line_id = tools["read"].call({"file_path": "a.py"}).text[5:11]
    change = {"line_id": line_id, "new_content": "x = 2"}
    edited = tools["edit_lines"].call({"file_path": "a.py", "changes": [change]})
    assert edited.ok, edited.text
    assert (root / "a.py").read_text(encoding="utf-8") == "x = 2\n"
    assert tools["bash"].call({"command": "echo $((6 * 7))"}).text.strip() == "42"
    assert main(["read", "a.py", "--root", str(root)]) == 0


def frameworks() -> None:
    """A framework is there if its extra was asked for, and only then."""
    for framework, extra in (("langchain_core", "langchain"), ("llama_index", "llamaindex")):
        there = importlib.util.find_spec(framework) is not None
        assert there == (extra in EXTRAS), f"{framework}: {there}"


def adapters(root: Path) -> None:
    for extra in {"langchain", "llamaindex"} & {*EXTRAS}:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the framework's own
            adapter = importlib.import_module(f"fsagent_tools_{extra}")
        tools = {getattr(t, "name", None) or t.metadata.name: t for t in adapter.get_tools(root)}
        read = tools["read"]
        if extra == "langchain":
            assert "x = 2" in read.invoke({"file_path": "a.py"})
        else:
            assert "x = 2" in read.call(file_path="a.py").content


def extras(root: Path) -> None:
    if "lint" in EXTRAS:
        (root / "a.yaml").write_text("a: [1\n", encoding="utf-8")
        workspace = Workspace(root, lint="reject")
        refused = toolset("workspace").bind(workspace)["write"]
        assert not refused.call({"file_path": "b.yaml", "content": "a: [1\n"}).ok
    if "config" in EXTRAS:
        assert main(["config", "show", "--root", str(root)]) == 0


if __name__ == "__main__":
    home = Path(fsagent_tools.__file__).resolve()
    assert home.is_relative_to(Path(sys.prefix).resolve()), home
    with TemporaryDirectory() as temporary:
        frameworks()
        core(Path(temporary))
        adapters(Path(temporary))
        extras(Path(temporary))
    print(f"fsagent-tools {fsagent_tools.__version__} works on Python {sys.version.split()[0]}.")
