"""Which toolset a model was trained on, by its name."""

from fnmatch import fnmatchcase

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.workspace.config import DEFAULT_TOOLSET

_CLAUDE = ("*claude*",)
_GPT = ("*codex*", "*gpt-4.1*", "*gpt-5*", "*gpt-oss*", "o[34]*", "*[/:.]o[34]*")
_NAMES = ("model_name", "model", "model_id", "deployment_name")


def toolset_for(model: object) -> str:
    """The name of the toolset that a model was trained on; the default one for all others.

    Args:
        model: Its name, or an object of a framework that has one.

    Raises:
        ConfigInvalid: If `model` has no name.

    Examples:
        >>> toolset_for("anthropic:claude-opus-5"), toolset_for("qwen3")
        ('anthropic', 'lines')
    """
    places = (model, getattr(model, "metadata", None))
    named = (getattr(place, name, None) for place in places for name in _NAMES)
    given = model if isinstance(model, str) else next((n for n in named if isinstance(n, str)), "")
    if not (name := given.strip().lower()):
        raise ConfigInvalid("This model has no name.", hint='Pass a name, such as "openai:gpt-5".')
    for toolset, globs in (("anthropic", _CLAUDE), ("openai", _GPT)):
        if any(fnmatchcase(name, glob) for glob in globs):
            return toolset
    return DEFAULT_TOOLSET
