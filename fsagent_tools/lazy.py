"""Modules that most sessions never use, imported when first asked for; checkers see them all."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fsagent_tools import lint as lint
    from fsagent_tools.lsp import languages as languages
    from fsagent_tools.lsp import pool as pool
    from fsagent_tools.process import jobs as jobs
    from fsagent_tools.web import pages as pages


def __getattr__(name: str) -> Any:
    match name:
        case "lint":
            return import_module("fsagent_tools.lint")
        case "languages":
            return import_module("fsagent_tools.lsp.languages")
        case "pool":
            return import_module("fsagent_tools.lsp.pool")
        case "jobs":
            return import_module("fsagent_tools.process.jobs")
        case "pages":
            return import_module("fsagent_tools.web.pages")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
