"""The only door to files: one root, one policy, one session."""

from pathlib import Path

from fsagent_tools.policy import Policy


class Workspace:
    """A project directory as one agent session sees it. Constructing one does no IO."""

    def __init__(self, root: str | Path, *, policy: Policy | None = None) -> None:
        self.root = Path(root)
        self.policy = policy or Policy()
