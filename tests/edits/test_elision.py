import pytest

from fsagent_tools.edits.placeholders import elided
from tests.conftest import soon


def left_out(new, old):
    return elided(new.encode().splitlines(), old.encode().splitlines())


@pytest.mark.parametrize(
    "line",
    [
        "// ... existing code ...",
        "    # ... rest of the function ...",
        "# rest unchanged",
        "// rest of code unchanged",
        "/* ... other methods ... */",
        "<!-- ... existing content ... -->",
        "{/* ... existing JSX ... existing */}",
        "... existing code ...",
        "... (rest unchanged)",
        "[... rest of the file ...]",
        "// … existing imports …",
        "// existing code here",
        "# same as before",
        "// other methods ...",
        "# rest of the code...",
        "{# ... existing code ... #}",
        "{{!-- rest unchanged --}}",
        "(* ... rest of the code ... *)",
        "--[[ ... existing code ... ]]",
    ],
)
def test_a_line_that_stands_for_others_is_found(line):
    assert left_out(f"def f():\n{line}\n", "def f():\n    return 1\n") == line.strip()


@pytest.mark.parametrize(
    "text",
    [
        "def f(self) -> int: ...\n",
        "class P(Protocol):\n    def f(self): ...\n    ...\n",
        "The story goes on...\n",
        "Loading existing users...\n",
        "# Loading remaining rows takes a while, so the rest is fetched lazily...\n",
        "# keep the rest of the arguments for later use\n",
        "const copy = {...existing, a: 1};\n",
        "f(...rest)\n",
        "  ...other,\n",
        "  ...rest,\n",
        "  ...rest\n",
        "[...existing, item]\n",
        "  ...previous.items,\n",
        "print('...')\n",
        "# Existing users\n",
        "# Clear existing instances before...\n",
        "... existing = 1\n",
        "x[..., 0]\n",
    ],
)
def test_code_and_prose_with_dots_are_not(text):
    assert not left_out(text, "")


def test_a_placeholder_of_the_old_text_may_stay():
    assert not left_out("a\n# ... existing code ...\n", "  # ... existing code ...\nb\n")


@pytest.mark.parametrize(
    ("new", "found"),
    [
        ("a\n# ...\n", "# ..."),
        ("a\n...\nb\n", "..."),
        ("class E:\n    'doc'\n    ...\n", "..."),
        ("def f():\n    ...\n\ndef g():\n", ""),
        ("...\n", ""),
    ],
)
def test_mere_dots_among_other_lines_stand_for_text_but_not_as_all_of_a_block(new, found):
    assert left_out(new, "a\nb\n") == found


@pytest.mark.parametrize(
    "line", [f"# {'.' * 10**6}x", f"# existing {' ' * 10**6}x", "#" + " )" * 10**6]
)
def test_a_long_line_is_no_placeholder(line):
    with soon():
        assert not elided([f"{line}...".encode()], [])
