"""The reader of imports is itself tested: a rule that half sees is worse than none."""

import pytest

from tests.imports import Import, Package


@pytest.fixture
def package(tmp_path):
    """A package `house` with `low`, and a room `high` of two files."""
    for name in ("__init__", "low", "high/__init__", "high/one", "high/two"):
        path = tmp_path / "house" / f"{name}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.touch()
    return Package(tmp_path / "house")


@pytest.mark.parametrize(
    "source",
    [
        "from house.high.one import x",
        "from house.high import one",
        "import house.high.one",
        "import house.high.one as x",
        "import os, house.high.one",
        "from importlib import import_module\nimport_module('house.high.one')",
        "import importlib\nimportlib.import_module('house.high.one')",
        "from importlib import import_module as load\nload('house.high.one')",
        "import importlib\nload = importlib.import_module\nload('house.high.one')",
        "__import__('house.high.one')",
        "import builtins\nbuiltins.__import__('house.high.one')",
        "from .high import one",
        "from .high.one import x",
        "if True:\n    from house.high.one import x",
        "try:\n    import house.high.one\nexcept ImportError:\n    pass",
        "class A:\n    from house.high.one import x",
    ],
)
def test_an_import_is_seen_in_every_spelling(package, source):
    (found,) = package.imports("house.low", source)
    assert (found.target, found.typing, found.hidden) == ("house.high.one", False, False)


@pytest.mark.parametrize(
    "source",
    [
        "from house.high.one import x",
        "from house.high import one",
        "import house.high.one",
        "from importlib import import_module\n    import_module('house.high.one').x()",
        "return __import__('house.high.one')",
        "return lambda: __import__('house.high.one')",
        "if x:\n        for y in z:\n            from .high import one",
    ],
)
@pytest.mark.parametrize("head", ["def f():", "async def f():", "class A:\n  def f(self):"])
def test_an_import_inside_a_function_is_hidden(package, source, head):
    (found,) = package.imports("house.low", f"{head}\n    {source}")
    assert (found.target, found.hidden) == ("house.high.one", True)


@pytest.mark.parametrize("test", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_an_import_for_types_is_told_apart(package, test):
    source = f"if {test}:\n    from house.high import one\nelse:\n    import house.high.two"
    one, two = package.imports("house.low", source)
    assert (one.target, one.typing) == ("house.high.one", True)
    assert (two.target, two.typing) == ("house.high.two", False)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("import_module(f'{__name__}.{x}')", "house.high.*"),
        ("import_module(f'house.{x}')", "house."),
        ("import_module('.one', __package__)", "house.high.one"),
        ("import_module(x)", ""),
        ("from . import one", "house.high.one"),
        ("from .. import low", "house.low"),
        ("from ..low import x", "house.low"),
        ("from house import something", "house"),
    ],
)
def test_what_is_worked_out_at_run_time_is_not_overlooked(package, source, target):
    assert [one.target for one in package.imports("house.high", source)] == [target]


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "from household import x",
        "import_module('os')",
        "f('house.low')",
        "'house.low'",
    ],
)
def test_what_is_not_ours_is_left_out(package, source):
    assert package.imports("house.low", source) == []


def test_a_file_is_read_from_disk_with_its_lines(package):
    package.files["house.high.one"].write_text("import os\n\nfrom house import low\n")
    assert package.imports("house.high.one") == [Import(3, "house.low")]
    assert package.room("house.high.one") == package.room("house.high") == "high"
    assert package.room("house") == ""
