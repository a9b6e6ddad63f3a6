"""What tools, methods and requests are made of and return, for annotations."""

from fsagent_tools.files.memory import Etag, Store, StoredFile, StoreEntry
from fsagent_tools.gate.commandline import SimpleCommand
from fsagent_tools.options import AnyToolset, Options, WorkspaceSource, with_signature
from fsagent_tools.replies import (
    Completed,
    DirectoryEntry,
    FileBytes,
    FileText,
    FileWritten,
    FoundPaths,
    PathChange,
    SearchHit,
    SearchHits,
    StepChange,
    TakenBack,
    TextEdited,
    Unrestored,
)
from fsagent_tools.results import Block, Shape
from fsagent_tools.toolkit.entry import Entry
from fsagent_tools.toolkit.turns import calls_of

__all__ = [
    "AnyToolset",
    "Block",
    "Completed",
    "DirectoryEntry",
    "Entry",
    "Etag",
    "FileBytes",
    "FileText",
    "FileWritten",
    "FoundPaths",
    "Options",
    "PathChange",
    "SearchHit",
    "SearchHits",
    "Shape",
    "SimpleCommand",
    "StepChange",
    "Store",
    "StoreEntry",
    "StoredFile",
    "TakenBack",
    "TextEdited",
    "Unrestored",
    "WorkspaceSource",
    "calls_of",
    "with_signature",
]
