"""What tools, methods and requests are made of and return, for annotations."""

from fsagent_tools.approval.commandlines import SimpleCommand
from fsagent_tools.direct.verbs import FileBytes, FileText, FileWritten, TextEdited
from fsagent_tools.hosting.lineage import Lineage, Position
from fsagent_tools.hosting.runs import ThreadRun
from fsagent_tools.options import Options, WorkspaceSource
from fsagent_tools.replies import (
    Completed,
    DirectoryEntry,
    FoundPaths,
    PathChange,
    SearchHit,
    SearchHits,
    StepChange,
    TakenBack,
    Unrestored,
)
from fsagent_tools.results import Block, Shape

__all__ = [
    "Block",
    "Completed",
    "DirectoryEntry",
    "FileBytes",
    "FileText",
    "FileWritten",
    "FoundPaths",
    "Lineage",
    "Options",
    "PathChange",
    "Position",
    "SearchHit",
    "SearchHits",
    "Shape",
    "SimpleCommand",
    "StepChange",
    "TakenBack",
    "TextEdited",
    "ThreadRun",
    "Unrestored",
    "WorkspaceSource",
]
