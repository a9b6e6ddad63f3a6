"""Which of the adapters' tests run with the lowest versions is found out, not listed by hand."""

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[1]


@pytest.fixture
def scripts(monkeypatch):
    """They are modules while a test runs; `package` is a name that other tests use, too."""
    before = {*sys.modules}
    monkeypatch.syspath_prepend(ROOT / "scripts")
    yield
    for name in {*sys.modules} - before:
        if str(ROOT / "scripts") in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def needs(scripts, tmp_path):
    """What `test_it.py` with this text needs, beside files with those texts."""
    import fitting

    def asked(text, **beside):
        for name, source in {"test_it": text, **beside}.items():
            (tmp_path / f"{name}.py").write_text(source)
        suite = fitting.Suite(tmp_path, (tmp_path,), {"serve": "server.command"})
        return suite.needs(tmp_path / "test_it.py")

    return asked


@pytest.mark.parametrize(
    "text",
    [
        "import ray",
        "import os, ray.util",
        "from ray import init",
        "from ray.util import state as s",
        "def test_it():\n    if True:\n        import ray",
        'PROGRAM = """\n    import os\n    from ray import init\n"""',
        'run("-c", f"import os; import ray; {x}")',
    ],
)
def test_an_import_in_any_place_is_a_need(needs, text):
    assert "ray" in needs(text)


def test_what_skips_itself_is_none(needs):
    assert "ray" not in needs('ray = pytest.importorskip("ray")')


@pytest.mark.parametrize("text", ["import aid", "from aid import x", 'run(here / "aid.py")'])
def test_what_a_helper_imports_is_a_need_of_those_who_use_it(needs, text):
    helpers = {"aid": "import more", "more": "import aid, ray"}
    assert needs(text, **helpers) == {"ray"}
    assert needs("import os", **helpers) == {"os"}


def test_what_a_fixture_imports_is_a_need_of_those_who_ask_for_it(needs):
    conftest = "import json\ndef nodes():\n    import ray\ndef session(nodes): ...\n"
    assert needs("def test_it(session): ...", conftest=conftest) == {"json", "ray"}
    assert needs("def test_it(): ...", conftest=conftest) == {"json"}


def test_a_command_that_a_distribution_brings_is_a_need(needs):
    assert needs('run("fsagent", "serve")') == {"server"}


def test_the_adapters_own_tests_run_with_the_lowest_versions_and_no_others(scripts):
    import matrix

    left_out = {path.name: names for path, names in matrix.left_out().items()}
    assert "ray" in left_out["test_ray.py"]
    assert "deepagents" in left_out["test_deepagents.py"]
    assert "langchain_openai" in left_out["test_pictures.py"]
    assert not left_out.keys() & {
        "test_langchain.py",
        "test_llamaindex.py",
        "test_many.py",
        "test_mcp.py",
        "test_serve.py",
        "test_mcp_node.py",
    }
