"""fsagent tools on Ray: one actor for each workspace, the same tools from any node."""

from fsagent_tools_ray.places import RayWorkspaces

__all__ = ["RayWorkspaces"]
