"""fsagent tools on Ray: one actor for each workspace, on the node that has its files."""

from fsagent_tools_ray.workspaces import RayWorkspaces

__all__ = ["RayWorkspaces"]


def __dir__() -> list[str]:
    return [*__all__]
