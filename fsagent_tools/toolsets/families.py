"""Which toolset a model was trained on, by its name."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.runtime.above import TOOLSET

AUTO = "auto"
FAMILIES: Mapping[str, str] = {  # the first one that fits the name in small letters
    "*claude*": "anthropic",
    "*codex*": "openai",
    "*gpt-4.1*": "openai",
    "*gpt-5*": "openai",
    "*gpt-oss*": "openai",
    "o[34]*": "openai",
    "*[/:.]o[34]*": "openai",
}
_NAMES = ("model_name", "model", "model_id", "deployment_name")


def toolset_for(model: object, families: Mapping[str, str] | None = None) -> str:
    """The name of the toolset that a model was trained on; `logging` is told.

    Args:
        model: Its name, or an object of a framework that has one.
        families: Glob of names -> toolset, tried before `FAMILIES`. A model that matches nothing
            gets the default toolset.

    Raises:
        ConfigInvalid: If `model` has no name.

    Examples:
        >>> toolset_for("anthropic:claude-opus-5"), toolset_for("qwen3", {"qwen*": "compact"})
        ('anthropic', 'compact')
    """
    import logging  # needed for nothing else

    name = _name(model)
    table = {**(families or {}), **FAMILIES}
    found = next((to for glob, to in table.items() if fnmatchcase(name, glob.lower())), None)
    chosen = found or TOOLSET
    logging.getLogger("fsagent_tools").info("toolset %s for the model %s", chosen, name)
    return chosen


def _name(model: object) -> str:
    """In small letters."""
    places = (model, getattr(model, "metadata", None))
    named = [getattr(place, name, None) for place in places for name in _NAMES]
    given = model if isinstance(model, str) else next((n for n in named if isinstance(n, str)), "")
    if not given.strip():
        raise ConfigInvalid(
            'toolset="auto" needs the model, and this one has no name.',
            hint='Pass model="provider:name", or the object that the framework has for it.',
        )
    return given.strip().lower()
