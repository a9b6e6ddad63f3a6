"""Checks YAML from its parse events: syntax, unknown aliases, duplicate keys."""

from dataclasses import dataclass, field
from typing import Any

from fsagent_tools.lint.places import Source, Undecided, found, place
from fsagent_tools.problems import Problem

MERGE = "<<"
_TAGS = 200  # %TAG directives; libyaml compares each with all before it, and cannot be stopped


def yaml_problems(source: Source) -> list[Problem]:
    """Nothing is built, so neither nesting nor alias bombs cost more than their length.

    Raises `Undecided` when the time is up, and without PyYAML.
    """
    try:
        import yaml
    except ModuleNotFoundError:
        raise Undecided("install 'fsagent-tools[lint]' to check YAML") from None
    text = source.text
    if text.count("%TAG") > _TAGS:
        raise Undecided(f"it has more than {_TAGS} %TAG directives")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    walk = NodeWalk(text, yaml)
    try:
        for number, event in enumerate(yaml.parse(text, Loader=loader)):
            walk.take(event)
            if not number % 256:
                source.go_on()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        offset = min(mark.index if mark else len(text), len(text))
        said = ", ".join(filter(None, (error.context, error.problem)))
        walk.problems.append(found(text, (offset, offset), said, "yaml"))
    except yaml.reader.ReaderError as error:
        said = f"the character U+{error.character:04X} is not allowed"
        walk.problems.append(found(text, (error.position, error.position + 1), said, "yaml"))
    return walk.problems


@dataclass
class Collection:
    """An open mapping or sequence; `keys` is None in a sequence."""

    keys: set[Any] | None
    at_key: bool = True


@dataclass
class NodeWalk:
    text: str
    yaml: Any
    problems: list[Problem] = field(default_factory=list)
    open: list[Collection] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._resolver = self.yaml.resolver.Resolver()

    def take(self, event: Any) -> None:
        yaml = self.yaml
        if isinstance(event, yaml.DocumentStartEvent):
            self.anchors = set()
        if isinstance(event, yaml.AliasEvent) and event.anchor not in self.anchors:
            self._report(event, f"the alias *{event.anchor} has no anchor", "undefined-alias")
        elif getattr(event, "anchor", None):
            self.anchors.add(event.anchor)
        if isinstance(event, yaml.CollectionEndEvent):
            self.open.pop()
        elif isinstance(event, yaml.NodeEvent):
            self._node(event)

    def _node(self, event: Any) -> None:
        yaml = self.yaml
        around = self.open[-1] if self.open else None
        if around and around.keys is not None:
            if around.at_key and isinstance(event, yaml.ScalarEvent):
                self._key(event, around.keys)
            around.at_key = not around.at_key
        if isinstance(event, yaml.MappingStartEvent):
            self.open.append(Collection(set()))
        elif isinstance(event, yaml.SequenceStartEvent):
            self.open.append(Collection(None))

    def _key(self, event: Any, keys: set[Any]) -> None:
        tag = event.tag or self._resolver.resolve(self.yaml.ScalarNode, event.value, event.implicit)
        key = (tag, event.value)
        again = event.value == MERGE or event.value.startswith("${{")  # a pipeline fills them in
        if key in keys and not again:
            self._report(event, f"duplicate key {event.value[:60]!r}", "duplicate-key")
        keys.add(key)

    def _report(self, event: Any, message: str, code: str) -> None:
        start, end = (place(self.text, m.index) for m in (event.start_mark, event.end_mark))
        self.problems.append(Problem(*start, "error", message, "yaml", code, end))
