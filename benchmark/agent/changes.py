"""Edit tasks made by script from any Python package, each with a reference solution.

A parameter renamed with an alias, a function moved to another module, types for every public
function, `%` to f-strings, a function written beside its like. A task is taken where its check says
no of the beginning and yes of the reference, so a check asks for nothing that a script cannot do.
"""

import ast
import builtins
import doctest
import inspect
import random
import re
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from benchmark.agent import source
from benchmark.agent.change import Change, calls, code, lacking
from benchmark.agent.source import Files, Part, module, spliced
from benchmark.agent.strings import literal, percents

LONGEST = 30_000  # characters of a file: one read shows it whole
RENAMED = (
    "In {path} the parameter `{old}` of `{function}` becomes `{new}`, at the same place. `{old}=` "
    "as a keyword still works, with the same effect, and issues a DeprecationWarning; to give both "
    "is a TypeError that names one of them. Calls in the code (not the tests) say the new name. "
    "Change nothing else."
)
MOVED = (
    "Move the function `{function}` from {first} to {second}, directly below the function "
    "`{above}`, with whatever it needs imported. It can still be imported from {first}. Its own "
    "lines stay as they are. Where both modules have an `__all__`, its name moves, too{stubs}. "
    "Change nothing else."
)
ANNOTATED = (
    "In {path} add types for all parameters and the result of every public function at the top of "
    "the module. Imports that the types need may be added; change nothing else."
)
STYLED = (
    "In {path} every string literal with a `%` operator behind it becomes an f-string that gives "
    "the same text. Change nothing else."
)
ADDED = (
    "{path} lacks a function. Write it directly below `{above}`, its like{listed}; change nothing "
    "else. Its head and its docstring:\n\n{head}"
)


def renames(path: str, files: Files) -> Iterator[Change]:
    root, dotted = module(path, files)
    texts = [files[other] for other in code(files)]
    for node in source.functions(files[path]):
        said = node.args
        plain = not (said.vararg or said.kwarg or said.kwonlyargs or said.posonlyargs)
        lazy = any(isinstance(x, ast.Yield | ast.YieldFrom) for x in ast.walk(node))
        defined = sum(text.count(f"def {node.name}(") for text in texts)
        if not plain or lazy or node.decorator_list or defined > 1:
            continue
        for at in range(len(said.args) - len(said.defaults), len(said.args)):
            if text := renamed(files[path], node, at):
                old = said.args[at].arg
                facts: dict[str, Any] = {
                    "path": path, "root": root, "module": dotted, "function": node.name,
                    "old": old, "new": f"{old}_value", "at": at,
                }  # fmt: skip
                after = {path: text, **called(facts, {**files, path: text})}
                name, prompt = f"rename-{path}-{node.name}-{old}", RENAMED.format(**facts)
                yield Change(name, "rename", path, prompt, {}, after, {**facts, "paths": [*after]})


def renamed(text: str, node: ast.FunctionDef, at: int) -> str | None:
    """The module with the alias; None where the name cannot be exchanged word by word."""
    old, default = node.args.args[at], node.args.defaults[at - len(node.args.args)]
    new, head, body = f"{old.arg}_value", len(old.arg), node.body
    start = 1 if ast.get_docstring(node) else 0
    within = [n for one in body for n in ast.walk(one)]
    joined = {n for n in within if isinstance(n, ast.JoinedStr) for n in ast.walk(n)}
    uses = [n for n in within if isinstance(n, ast.Name) and n.id == old.arg]
    inner = any(isinstance(n, ast.arg) and n.arg == old.arg for n in within)
    if not isinstance(default, ast.Constant) or default.value is ...:
        return None
    if len(body) == start or not uses or inner or joined & {*uses}:
        return None
    last = node.args.defaults[-1]
    parts = [Part.of(old, new, head), *(Part.of(each, new, head) for each in uses)]
    parts.append(Part.after(last, f", *, {old.arg}=..."))
    first, same = body[start], "is not" if default.value in (None, True, False) else "!="
    alias = f"""if {old.arg} is not ...:
    import warnings
    warnings.warn("`{old.arg}` is `{new}` now.", DeprecationWarning, stacklevel=2)
    if {new} {same} {default.value!r}:
        raise TypeError("`{old.arg}` is the old name of `{new}`: give one of them.")
    {new} = {old.arg}""".split("\n")
    lines = spliced(text, parts).split("\n")
    lines[first.lineno - 1 : first.lineno - 1] = [" " * first.col_offset + line for line in alias]
    return "\n".join(lines)


def called(facts: Mapping[str, Any], files: Files) -> Files:
    """The files whose calls say the old name, with the new one."""
    made = {}
    old, new = facts["old"], facts["new"]
    for path in (one for one in code(files) if f"{old}=" in files[one]):
        parts = [
            Part.of(word, new, len(old))
            for node in source.every(files[path])
            if isinstance(node, ast.Call) and calls(node, facts["function"])
            for word in node.keywords
            if word.arg == old
        ]
        if parts:
            made[path] = spliced(files[path], parts)
    return made


def moves(path: str, files: Files) -> Iterator[Change]:
    folder = Path(path).parent
    others = [one for one in code(files) if Path(one).parent == folder and one != path]
    for node in source.functions(files[path]):
        turn = len(node.name) % max(1, len(others))  # not all to the same module
        made = (move(node, path, other, files) for other in others[turn:] + others[:turn])
        yield from islice(filter(None, made), 1)


def move(node: ast.FunctionDef, path: str, other: str, files: Files) -> Change | None:
    """None where the other module cannot take the function, or has one of its name."""
    there = [one.name for one in source.functions(files[other])]
    needed = wanted(node, files[path], files[other])
    if not there or needed is None or node.name in there:
        return None
    (root, first), (_, second) = module(path, files), module(other, files)
    facts: dict[str, Any] = {
        "root": root, "modules": [first, second], "paths": [path, other], "function": node.name,
        "above": there[len(there) // 2], "stubs": stubs(path, other, node.name, files),
    }  # fmt: skip
    prompt = MOVED.format(
        function=node.name, above=facts["above"], first=path, second=other,
        stubs=", and so does its part of the stubs" * bool(facts["stubs"]),
    )  # fmt: skip
    after = moved(facts, needed, files)
    return Change(f"move-{path}-{node.name}", "move", path, prompt, {}, after, facts)


def wanted(node: ast.FunctionDef, here: str, there: str) -> list[str] | None:
    """Imports that the other module lacks; None where the function needs more than imports."""
    local = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    local |= {one.id for one in names if not isinstance(one.ctx, ast.Load)} | {node.name}
    free = {one.id for one in names} - local - {*dir(builtins)}
    given = {line: name for line in source.imports(there) for name in [source.bound(line)]}
    found = {source.bound(line): line for line in source.imports(here)}
    if not free <= {*found}:
        return None
    lines = [found[name] for name in sorted(free)]
    clash = {*given.values()} & {source.bound(line) for line in lines if line not in given}
    return None if clash else [line for line in lines if line not in given]


def stubs(path: str, other: str, name: str, files: Files) -> list[str]:
    found = [f"{one}i" for one in (path, other) if f"{one}i" in files]
    return found if len(found) == 2 and f"def {name}(" in files[found[0]] else []


def moved(facts: Mapping[str, Any], needed: list[str], files: Files) -> Files:
    (first, second), name = facts["paths"], facts["function"]
    left, lines = source.cut(files[first], name)
    place = facts["modules"][1]
    way = f".{place.rpartition('.')[2]}" if "." in place else place
    there = source.placed(files[second], facts["above"], lines)
    for statement in needed:
        there = source.imported(there, statement)
    if source.exported(files[first]) and source.exported(files[second]):
        left, there = source.withdrawn(left, name), source.announced(there, name)
    made = {first: source.imported(left, f"from {way} import {name}"), second: there}
    if facts["stubs"]:
        one, other = facts["stubs"]
        made[one], lines = source.cut(files[one], name)
        made[other] = files[other].rstrip("\n") + "\n" + "\n".join(lines) + "\n"
    return made


def annotations(path: str, files: Files) -> Iterator[Change]:
    root, dotted = module(path, files)
    every = [*source.functions(files[path])]
    bare = [node for node in every if lacking(node)]
    if not 4 <= len(bare) <= 40:
        return
    parts = []
    for node in bare:
        words = [one for one in ast.walk(node.args) if isinstance(one, ast.arg)]
        parts += [Part.after(word, ": object") for word in words if word.annotation is None]
        place = source.colon(files[path], node)
        parts += [Part(*place, *place, " -> object")] if node.returns is None else []
    facts = {"path": path, "root": root, "module": dotted, "functions": [n.name for n in every]}
    prompt, after = ANNOTATED.format(path=path), {path: spliced(files[path], parts)}
    yield Change(f"annotate-{path}", "annotate", path, prompt, {}, after, facts)


def styles(path: str, files: Files) -> Iterator[Change]:
    (root, dotted), parts = module(path, files), list[Part]()
    found = percents(source.tree(files[path]))
    for node in found:
        made = literal(node)
        if not made:
            return
        try:
            parts.append(Part.of(node, ast.unparse(made)))
        except ValueError:  # quotes and escapes that an f-string cannot hold
            return
    if len(found) >= 2:
        facts = {"path": path, "root": root, "module": dotted}
        after, prompt = {path: spliced(files[path], parts)}, STYLED.format(path=path)
        yield Change(f"style-{path}", "style", path, prompt, {}, after, facts)


def features(path: str, files: Files) -> Iterator[Change]:
    (root, dotted), text = module(path, files), files[path]
    lines = text.split("\n")
    for node in source.functions(text):
        doc, above = ast.get_docstring(node) or "", source.neighbour(text, node.name)
        known = re.compile(rf"\b{node.name}\b")
        used = sum(len(known.findall(files[other])) for other in code(files) if other != path)
        alone = not used and not any(known.search(one) for one in source.rest(text, node.name))
        if not above or not alone or len(doctest.DocTestParser().get_examples(doc)) < 2:
            continue
        left = source.withdrawn(source.cut(text, node.name)[0], node.name)
        facts: dict[str, Any] = {
            "path": path, "root": root, "module": dotted, "function": node.name, "above": above,
            "doc": inspect.cleandoc(doc), "listed": node.name in (source.names(text) or ()),
        }  # fmt: skip
        head = "\n".join(lines[source.span(node)[0] : node.body[0].end_lineno])
        told = ", and list it in `__all__`" * facts["listed"]
        prompt = ADDED.format(path=path, above=above, listed=told, head=head)
        name = f"feature-{path}-{node.name}"
        yield Change(name, "feature", path, prompt, {path: left}, {path: text}, facts)


MAKERS: tuple[Callable[[str, Files], Iterator[Change]], ...] = (
    renames, moves, annotations, styles, features,
)  # fmt: skip


def changes(
    packages: Mapping[str, Files], most: int, tests: str = "", seed: int = 1
) -> list[Change]:
    """At most so many tasks; kinds take turns, and packages in each. The same each time.

    packages: files by package; each package lies in the folder of its name, alone.
    """
    dice = random.Random(seed)
    kinds = []
    for make in MAKERS:
        names = dice.sample([*packages], len(packages))
        each = (of_kind(make, name, packages[name], tests, dice.random()) for name in names)
        kinds.append(turns(*each))
    return [*islice(turns(*kinds), most)]


def turns(*each: Iterator[Change]) -> Iterator[Change]:
    """One of each in turn, made when it is asked for."""
    waiting = deque(each)
    while waiting:
        first = waiting.popleft()
        for task in islice(first, 1):
            yield task
            waiting.append(first)


def of_kind(
    make: Callable[[str, Files], Iterator[Change]], package: str, files: Files, tests: str,
    seed: float,
) -> Iterator[Change]:  # fmt: skip
    """One task a file of a package: the first that holds, in an order of its own."""
    dice = random.Random(seed)
    short = [path for path in code(files) if len(files[path]) <= LONGEST]
    for path in dice.sample(short, len(short)):
        made = [replace(task, package=package, tests=tests) for task in make(path, files)]
        yield from islice((task for task in dice.sample(made, len(made)) if holds(task, files)), 1)


def holds(task: Change, files: Files) -> bool:
    """Not solved by doing nothing, and solved by the reference."""
    with tempfile.TemporaryDirectory() as folder:
        task.lay(Path(folder), files)
        if task.solved(Path(folder), files):
            return False
        for edit in task.edits(files):
            Path(folder, edit.path).write_bytes(edit.after.encode())
        return task.solved(Path(folder), files)
