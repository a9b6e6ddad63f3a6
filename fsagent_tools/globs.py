"""Glob patterns over POSIX paths (placeholder for the matcher)."""

import fnmatch
from dataclasses import dataclass


@dataclass(frozen=True)
class Glob:
    pattern: str

    @classmethod
    def covering(cls, pattern: str) -> "Glob":
        """A policy path: a glob, or a directory that covers all beneath it."""
        return cls(pattern)

    def matches(self, path: str) -> bool:
        return fnmatch.fnmatchcase(path, self.pattern)
