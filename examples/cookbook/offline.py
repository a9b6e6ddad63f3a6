"""What these programs share. Without an argument and a model they show themselves: on a copy of
`examples/project`, with a script in place of a model.

    python examples/cookbook/review.py [PROJECT]
    FSAGENT_MODEL=openai:gpt-5 python examples/cookbook/review.py ~/work/shop
"""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from fsagent_tools.testing import Turn
from fsagent_tools.testing.langchain import ScriptedChatModel

EXAMPLE = Path(__file__).resolve().parents[1] / "project"


def project() -> Path:
    """The one that is named, else a copy of the example."""
    if len(sys.argv) > 1:
        return Path(sys.argv[1])
    copy = Path(mkdtemp(prefix="cookbook-")) / "shop"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__", ".ai"))
    return copy


def model(turns: Sequence[Turn]) -> BaseChatModel:
    """`FSAGENT_MODEL`, else one that says `turns`."""
    live = os.environ.get("FSAGENT_MODEL")
    return init_chat_model(live) if live else ScriptedChatModel(turns)


def asked(text: str) -> Any:
    """The state that an agent begins with."""
    return {"messages": [{"role": "user", "content": text}]}
