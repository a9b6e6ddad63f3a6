"""Modules that most sessions never use, imported when first asked for; checkers see them all."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fsagent_tools.runtime.shadows import importing

if TYPE_CHECKING:
    from fsagent_tools import lint as lint
    from fsagent_tools.history import history as history
    from fsagent_tools.lsp import beside as beside
    from fsagent_tools.lsp import choice as choice
    from fsagent_tools.lsp import languages as languages
    from fsagent_tools.lsp import pool as pool
    from fsagent_tools.lsp import symbols as symbols
    from fsagent_tools.media import apart as apart
    from fsagent_tools.media import image as image
    from fsagent_tools.params import schemas as schemas
    from fsagent_tools.params import validation as validation
    from fsagent_tools.process import closed as closed
    from fsagent_tools.process import jobs as jobs
    from fsagent_tools.process import judge as judge
    from fsagent_tools.process import launcher as launcher
    from fsagent_tools.process import programs as programs
    from fsagent_tools.process import running as running
    from fsagent_tools.process import shell as shell
    from fsagent_tools.search import scan as scan
    from fsagent_tools.session import editing as editing
    from fsagent_tools.web.search import settings as settings

_LOADERS = {
    "editing": lambda: import_module("fsagent_tools.session.editing"),
    "settings": lambda: import_module("fsagent_tools.web.search.settings"),
    "lint": lambda: import_module("fsagent_tools.lint"),
    "finding": lambda: import_module("fsagent_tools.edits.replace"),
    "schemas": lambda: import_module("fsagent_tools.params.schemas"),
    "validation": lambda: import_module("fsagent_tools.params.validation"),
    "shell": lambda: import_module("fsagent_tools.process.shell"),
    "history": lambda: import_module("fsagent_tools.history.history"),
    "beside": lambda: import_module("fsagent_tools.lsp.beside"),
    "choice": lambda: import_module("fsagent_tools.lsp.choice"),
    "languages": lambda: import_module("fsagent_tools.lsp.languages"),
    "pool": lambda: import_module("fsagent_tools.lsp.pool"),
    "symbols": lambda: import_module("fsagent_tools.lsp.symbols"),
    "launcher": lambda: import_module("fsagent_tools.process.launcher"),
    "programs": lambda: import_module("fsagent_tools.process.programs"),
    "running": lambda: import_module("fsagent_tools.process.running"),
    "apart": lambda: import_module("fsagent_tools.media.apart"),
    "closed": lambda: import_module("fsagent_tools.process.closed"),
    "judge": lambda: import_module("fsagent_tools.process.judge"),
    "image": lambda: import_module("fsagent_tools.media.image"),
    "jobs": lambda: import_module("fsagent_tools.process.jobs"),
    "scan": lambda: import_module("fsagent_tools.search.scan"),
}


def __getattr__(name: str) -> Any:
    if name not in _LOADERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with importing():
        module = globals()[name] = _LOADERS[name]()  # the next use does not come here
    return module
