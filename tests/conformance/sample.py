"""Edit calls as weak models send them, made from this project's own source text; deterministic."""

import ast
import re
import textwrap
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2] / "fsagent_tools"
EACH = 34  # calls of a class
FLAT_SAMPLES = (
    ("a.ts", "function load(name: string) {\n  if (known.has(name)) {\n"
     "    return known.get(name);\n  }\n  return read(name);\n}\n", "    return known.get(name);"),
    ("a.go", "func load(name string) error {\n\tif name == \"\" {\n\t\treturn errMissingName\n\t}\n"
     "\treturn nil\n}\n", "\t\treturn errMissingName"),
    ("a.yaml", "server:\n  ports:\n    public: 8080\n    private: 9090\n  name: harbour\n",
     "    private: 9090"),
)  # fmt: skip


class Call(NamedTuple):
    kind: str
    text: str
    old: str
    new: str
    meant: str | None  # the text afterwards, None where the call has to be refused


def calls() -> list[Call]:
    """All calls, class by class."""
    made: list[Call] = []
    for kind, make in KINDS.items():
        found = (call for place in places() for call in make(kind, *place))
        made += islice(found, EACH)
    return made


def places() -> Iterator[tuple[str, str, str]]:
    """(text, block, indentation): a statement of a few lines inside a function, found once."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text()
        lines = text.split("\n")
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.If | ast.For | ast.With) or node.col_offset < 4:
                continue
            last = node.end_lineno or node.lineno
            block = "\n".join(lines[node.lineno - 1 : last])
            if 2 <= last - node.lineno + 1 <= 9 and text.count(block) == 1 and '"""' not in block:
                indent = " " * node.col_offset
                if block.startswith(indent) and not block.lstrip().startswith("elif"):
                    yield text, block, indent


def wrapped(block: str) -> str:
    return "if replayed:\n" + textwrap.indent(block, "    ")


def _lost(kind: str, text: str, block: str, indent: str) -> Iterator[Call]:
    """One line, quoted without its indentation, becomes several."""
    line = block.split("\n")[-1]
    bare = line.strip()
    inner = line[: len(line) - len(line.lstrip())]
    if text.count(bare) == 1 and bare[-1] not in ")]}:,(" and bare[0].isalpha():
        new = f"if replayed:\n    {bare}\nprepare()"
        yield Call(kind, text, bare, new, text.replace(line, textwrap.indent(new, inner)))


def _depth(kind: str, text: str, block: str, indent: str) -> Iterator[Call]:
    """Both texts begin at the left margin."""
    bare = textwrap.dedent(block)
    new = wrapped(bare)
    yield Call(kind, text, bare, new, text.replace(block, textwrap.indent(new, indent)))


def _one_off(kind: str, text: str, block: str, indent: str) -> Iterator[Call]:
    old = textwrap.indent(block, " ")
    new = textwrap.indent(block + f"\n{indent}replayed()", " ")
    yield Call(kind, text, old, new, text.replace(block, block + f"\n{indent}replayed()"))


def _old_only(kind: str, text: str, block: str, indent: str) -> Iterator[Call]:
    """The quote begins at the left margin, the new text is right."""
    new = textwrap.indent(wrapped(textwrap.dedent(block)), indent)
    yield Call(kind, text, textwrap.dedent(block), new, text.replace(block, new))


def _tabs(kind: str, text: str, block: str, indent: str) -> Iterator[Call]:
    """The file has tabs, the model sends blanks."""

    def tabbed(part: str) -> str:
        return re.sub(r"(?m)^(?: {4})+", lambda m: "\t" * (len(m.group()) // 4), part)

    new = textwrap.indent(wrapped(textwrap.dedent(block)), indent)
    if tabbed(text) != text and " " * 4 not in tabbed(block) + tabbed(text).split(tabbed(block))[0]:
        yield Call(kind, tabbed(text), block, new, tabbed(text.replace(block, new)))


def _flat(kind: str, text: str, block: str, indent: str) -> Iterator[Call]:
    """Every line begins at the left margin; the last one changes."""
    lines = [line.strip() for line in block.split("\n")]
    if lines[-1][0].isalpha() and len({*lines}) == len(lines):
        new = "\n".join([*lines[:-1], f"replayed({len(lines)})"])
        head = block[: len(block) - len(block.split("\n")[-1].lstrip())]
        meant = text.replace(block, f"{head}replayed({len(lines)})")
        yield Call(kind, text, "\n".join(lines), new, meant)


def _continued(kind: str, text: str, block: str, indent: str) -> Iterator[Call]:
    """A call over two lines, its second line quoted with less indentation than the file has."""
    first, second = "total = compute(first_of_them,", "second_of_them)"
    there = f"{indent}{first}\n{indent}        {second}\n{indent}last_step()"
    whole = text.replace(block, f"{block}\n{there}")
    old = f"{first}\n    {second}\nlast_step()"
    new = old.replace("last_step()", "if total:\n    last_step()\nfinish()")
    moved = textwrap.indent("if total:\n    last_step()\nfinish()", indent)
    yield Call(kind, whole, old, new, whole.replace(f"{indent}last_step()", moved))


def _invented(kind: str, text: str, block: str, indent: str) -> Iterator[Call]:
    names = sorted({*re.findall(r"\b[a-z_]{4,}\b", block)})
    old = re.sub(r"\b[a-z_]{4,}\b", lambda m: f"{m.group()[::-1]}_{names.index(m.group())}", block)
    yield Call(kind, text, old, "replayed()", None)


def _elided(kind: str, text: str, block: str, indent: str) -> Iterator[Call]:
    lines = block.split("\n")
    if len(lines) > 3:
        yield Call(
            kind, text, "\n".join([lines[0], f"{indent}    ...", lines[-1]]), block + "\n#", None
        )


def _several(kind: str, text: str, block: str, indent: str) -> Iterator[Call]:
    deeper = textwrap.indent(block, "    ")
    yield Call(kind, f"{text}\n{deeper}\n", textwrap.dedent(block), "replayed()", None)


def _echo(kind: str, text: str, block: str, indent: str) -> Iterator[Call]:
    above, below = text.split(block)
    lines = above.split("\n")[-2], below.split("\n")[1]
    for at, line in enumerate(lines):
        if line.strip():
            yield Call(
                kind,
                text,
                block,
                f"{line}\n{block}  # x" if not at else f"{block}  # x\n{line}",
                None,
            )


KINDS = {
    "lost first indentation": _lost, "depth change": _depth, "off by one": _one_off,
    "old text alone drifted": _old_only, "tabs against blanks": _tabs, "flat paste": _flat,
    "continuation indents": _continued, "invented": _invented, "elided": _elided,
    "several places": _several, "echo": _echo,
}  # fmt: skip
