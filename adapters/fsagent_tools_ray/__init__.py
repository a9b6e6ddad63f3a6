"""fsagent tools on Ray: one actor for each workspace, the same tools from any node."""

from fsagent_tools_ray.places import RayWorkspaces

__all__ = ["RayWorkspaces"]


def __dir__() -> list[str]:
    return [*__all__]
