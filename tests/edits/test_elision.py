import pytest

from fsagent_tools.edits.placeholders import elided


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
        "<%-- ... rest of the page ... --%>",
        "(* ... rest of the code ... *)",
        "--[[ ... existing code ... ]]",
        "REM ... existing code ...",
    ],
)
def test_a_line_that_stands_for_others_is_found(line):
    assert elided(f"def f():\n{line}\n", "def f():\n    return 1\n") == line.strip()


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
    assert elided(text, "") is None


def test_a_placeholder_of_the_old_text_may_stay():
    assert elided("a\n# ... existing code ...\n", "  # ... existing code ...\nb\n") is None


def test_a_comment_of_dots_counts_only_where_text_shrinks():
    assert elided("a\n# ...\n", "a\nb\nc\nd\n") == "# ..."
    assert elided("a\n# ...\n", "a\n") is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def f():\n    a()\n\ndef g():\n", "def f():\n    ...\n\ndef g():\n"),
        ("class E:\n    pass\n\ndef g():\n", "class E:\n    'doc'\n    ...\n\ndef g():\n"),
        ("a\nb\n", "a\n...\nb\n"),
        ("def f():\n    a()\n    b()\n", "def f():\n    ...\n"),
    ],
)
def test_mere_dots_are_text(old, new):
    assert elided(new, old) is None
