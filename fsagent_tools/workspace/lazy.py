"""Modules that most sessions never use, imported when first asked for; checkers see them all."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fsagent_tools.runtime.shadows import importing

if TYPE_CHECKING:
    from fsagent_tools import lint as lint
    from fsagent_tools.edits import replace as replace
    from fsagent_tools.history import history as history
    from fsagent_tools.lsp import manager as manager
    from fsagent_tools.lsp import process as process
    from fsagent_tools.lsp import rename as rename
    from fsagent_tools.lsp import servers as servers
    from fsagent_tools.media import apart as apart
    from fsagent_tools.media import image as image
    from fsagent_tools.policy import programs as programs
    from fsagent_tools.search import scan as scan
    from fsagent_tools.session import editing as editing
    from fsagent_tools.shell import closed as closed
    from fsagent_tools.shell import jobs as jobs
    from fsagent_tools.shell import runner as runner
    from fsagent_tools.shell import shell as shell
    from fsagent_tools.web import search as search

_LOADERS = {
    "editing": lambda: import_module("fsagent_tools.session.editing"),
    "search": lambda: import_module("fsagent_tools.web.search"),
    "lint": lambda: import_module("fsagent_tools.lint"),
    "replace": lambda: import_module("fsagent_tools.edits.replace"),
    "shell": lambda: import_module("fsagent_tools.shell.shell"),
    "history": lambda: import_module("fsagent_tools.history.history"),
    "programs": lambda: import_module("fsagent_tools.policy.programs"),
    "runner": lambda: import_module("fsagent_tools.shell.runner"),
    "manager": lambda: import_module("fsagent_tools.lsp.manager"),
    "process": lambda: import_module("fsagent_tools.lsp.process"),
    "rename": lambda: import_module("fsagent_tools.lsp.rename"),
    "servers": lambda: import_module("fsagent_tools.lsp.servers"),
    "apart": lambda: import_module("fsagent_tools.media.apart"),
    "closed": lambda: import_module("fsagent_tools.shell.closed"),
    "image": lambda: import_module("fsagent_tools.media.image"),
    "jobs": lambda: import_module("fsagent_tools.shell.jobs"),
    "scan": lambda: import_module("fsagent_tools.search.scan"),
}


def __getattr__(name: str) -> Any:
    if name not in _LOADERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with importing():
        module = globals()[name] = _LOADERS[name]()  # the next use does not come here
    return module
