"""Checks the syntax of the scripts in a component of Vue or Svelte."""

import re
from collections.abc import Iterator
from dataclasses import replace

from fsagent_tools.lint.places import Source
from fsagent_tools.lint.scripts import GRAMMARS, script_problems
from fsagent_tools.problems import Problem

COMPONENTS = (".vue", ".svelte")
_BEGINS = re.compile(r"<!--|<script\b", re.I)
_REST = re.compile(r"""((?:[^>"']|"[^"]*+"|'[^']*+')*+)>""")  # of that tag
_LANGUAGE = re.compile(r"""\blang=["']?(\w+)""")


def component_problems(source: Source) -> list[Problem]:
    """As `script_problems` of what its scripts have in the language of the last one."""
    text, language = source.text, "js"
    blank, kept, at = re.sub(r"[^\r\n]", " ", text), list[str](), 0
    for start, end, named in _scripts(text):
        language = named
        kept += [blank[at:start], text[start:end]]
        at = end
    if f".{language}" not in GRAMMARS:
        return []
    return script_problems(replace(source, name=f"{source.name}.{language}", text="".join(kept)))


def _scripts(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each begins and ends, outside of comments, and its language."""
    at = 0
    while begins := _BEGINS.search(text, at):
        tag = None if begins[0] == "<!--" else _REST.match(text, begins.end())
        if begins[0] != "<!--" and not tag:
            return
        if tag and tag[1].endswith("/"):
            at = tag.end()
            continue
        ending = "</script" if tag else "-->"
        end = text.find(ending, tag.end() if tag else begins.end())
        if end < 0:
            return
        at = end + len(ending)
        if tag:
            named = _LANGUAGE.search(tag[1])
            yield tag.end(), end, named[1] if named else "js"
