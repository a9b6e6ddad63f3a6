"""Components of Vue, by its own server and by TypeScript, where both are installed."""

import shutil

import pytest

from .conftest import NODE

SETTINGS = {"tsconfig.json": '{"compilerOptions": {"strict": true, "skipLibCheck": true}}'}
PAGE = '<script setup lang="ts">\n{}\n</script>\n<template>\n{}\n</template>\n'
RIGHT = PAGE.format("const n: number = 1", "  <p>{{ n }}</p>")
FAULTS = {  # what is wrong -> the component, what is told of it
    "a type": (PAGE.format("const é: number = 'x'", "<p>{{ é }}</p>"), ":2:7: error: Type"),
    "a name": (PAGE.format("nope()", "<p />"), ":2:1: error: Cannot find name 'nope'"),
    "a type in the template": (
        PAGE.format("function f(n: number) { return n }", "<p>{{ f('x') }}</p>"),
        ":5:9: error: Argument",
    ),
    "an element": (PAGE.format("const a = 1", "<p><b></p>"), ":5:4: error: Element is missing"),
    "a directive": (PAGE.format("const a = 1", "<p v-if=>a</p>"), ":5:4: error: v-if"),
    "a style": (f"{RIGHT}<style>\np {{ color: }}\n</style>\n", ":8:12: error: property value"),
    "the end of a script": (PAGE.format("function f() {", "<p />"), ":3:1: error: '}' expected"),
}


PROGRAMS = ["vue-language-server", "typescript-language-server"]


@pytest.mark.slow  # Node.js, and two of its servers
def test_faults_of_a_component_are_found_and_a_right_one_is_clean(asked, tmp_path):
    pages = {f"src/A{number}.vue": page for number, (page, _) in enumerate(FAULTS.values())}
    ask = asked(PROGRAMS, {**SETTINGS, **pages, "src/Right.vue": RIGHT})
    assert ask("src/Right.vue").startswith("Not checked: src/Right.vue by vue-typescript, at most")
    for package in ("vue", "@vue", "csstype"):
        if not (NODE / "node_modules" / package).exists():
            pytest.skip(f"{package} is not installed")
        there = tmp_path / "node_modules" / package
        shutil.copytree(NODE / "node_modules" / package, there, ignore=_code)
    assert ask("src/Right.vue").startswith("No problems in src/Right.vue (vue-typescript, vue).")
    for path, (_, told) in zip(pages, FAULTS.values(), strict=True):
        assert f"{path}{told}" in ask(path)


def _code(folder, names):
    return [name for name in names if name.endswith((".js", ".cjs", ".mjs"))]
