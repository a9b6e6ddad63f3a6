"""A store of a host's own: guarded without its doing, as the page about files shows one."""

import re
from pathlib import Path
from typing import Any

import pytest

from fsagent_tools import Policy, Workspace, errors, toolset
from tests.files.conformance.files import FilesConformance

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "files.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
EXAMPLE = next(text for text in BLOCKS if "class Bucket(Store)" in text)
NAMES: dict[str, Any] = {}
exec(EXAMPLE.partition("\nbucket = ")[0], NAMES)
Bucket = NAMES["Bucket"]


class TestBucket(FilesConformance):
    def make(self, contents):
        return Bucket(contents)


@pytest.fixture
def bucket():
    return Bucket(dict.fromkeys((".env", "a.py", "x.lock", "sub/.env"), b"SECRET=1\n"))


@pytest.fixture
def uses(bucket):
    def make(**options):
        return toolset("filesystem").bind(Workspace(files=bucket, **options))

    return make


def test_it_is_short():
    start, end = EXAMPLE.index("class Bucket"), EXAMPLE.index("\nbucket = ")
    assert len(EXAMPLE[start:end].strip().splitlines()) <= 60


@pytest.mark.parametrize(
    ("policy", "calls"),
    [
        (
            {"denied_paths": [".env"], "write_denied": ["*.lock"]},
            {
                "read": {"path": ".env"},
                "write": {"path": "x.lock", "content": "2"},
                "rm": {"path": "x.lock"},
                "mv": {"source": "x.lock", "destination": "y"},
                "cp": {"source": "sub", "destination": "twin"},
            },
        ),
        (
            {"readonly": True},
            {
                "write": {"path": "new", "content": "2"},
                "mkdir": {"path": "new"},
                "rm": {"path": "a.py"},
                "mv": {"source": "a.py", "destination": "y"},
                "cp": {"source": "a.py", "destination": "y"},
            },
        ),
    ],
)
def test_the_policy_binds_it(bucket, uses, policy, calls):
    before, tools = dict(bucket.objects), uses(policy=Policy(**policy))
    for name, arguments in calls.items():
        assert tools[name].call(arguments).code in ("PATH_DENIED", "READONLY"), name
    assert bucket.objects == before


def test_every_change_is_asked_about(bucket, uses):
    asked, before = [], dict(bucket.objects)
    tools = uses(approve=lambda request: asked.append(request.paths))
    calls = {
        "write": {"path": "new.txt", "content": "2"},
        "mkdir": {"path": "new"},
        "rm": {"path": "sub", "recursive": True},
        "mv": {"source": "sub", "destination": "y"},
        "cp": {"source": "sub", "destination": "y"},
    }
    for name, arguments in calls.items():
        assert tools[name].call(arguments).code == "APPROVAL_DENIED", name
    assert len(asked) == len(calls)
    assert bucket.objects == before


class Forgetful(Bucket):
    """Writes over everything."""

    def put(self, path, data, expect):
        self.objects.pop(path, None)
        return super().put(path, data, None)


def test_a_store_that_forgets_to_compare_still_loses_no_change_that_came_before_the_write():
    store = Forgetful({"a.py": b"x = 1\n"})
    files = Workspace(files=store).files
    with files.lock("a.py") as target:
        store.put("a.py", b"theirs\n", None)
        with pytest.raises(errors.Conflict):
            target.write(b"mine\n", expect=target.version)
    assert store.objects["a.py"][0] == b"theirs\n"


def test_what_is_no_store_is_refused():
    with pytest.raises(errors.ConfigInvalid, match="Store"):
        Workspace(files={"a.py": "x"})
