"""Tools at a place that has none of ours yet: a sandbox, or a machine that SSH reaches."""

from fsagent_tools_places.sandbox import SandboxChannel
from fsagent_tools_places.ssh import SshChannel

__all__ = ["SandboxChannel", "SshChannel"]


def __dir__() -> list[str]:
    return [*__all__]
