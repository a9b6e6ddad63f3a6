"""Which node has the files."""

from pathlib import Path
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.remote import unreachable

SEARCH = 60.0  # seconds for all nodes to say whether they have a directory


def node_of(path: str, wanted: str | None) -> str:
    """The ID of the one living node that has `path`. Raises `ConfigInvalid`; `NetworkError` where
    the node that is wanted is lost.

    wanted: its ID, name or address; other nodes are not asked.
    """
    known: list[dict[str, Any]] = ray.nodes()
    keys = ("NodeID", "NodeName", "NodeManagerAddress")
    meant = [node for node in known if wanted in (None, *(node[k] for k in keys))]
    alive = [node["NodeID"] for node in known if node["Alive"]]
    found: list[str] = [node["NodeID"] for node in meant if node["NodeID"] in alive]
    if meant and not found:
        raise unreachable(f"The workspace {path} on Ray", "its node is away")
    if len(found) > 1:
        found = _having(path, found)
    if len(found) == 1:
        return found[0]
    many = f"{len(found)} nodes of the cluster have" if found else "No node of the cluster has"
    raise ConfigInvalid(
        f"{many} the directory {path}{f' and are {wanted}' if wanted else ''}.",
        hint=f"Say which by node=. There are: {', '.join(alive)}.",
    )


def _having(path: str, nodes: list[str]) -> list[str]:
    has = ray.remote(num_cpus=0)(_has)
    asked = {
        has.options(scheduling_strategy=On(one, soft=False)).remote(path): one for one in nodes
    }
    answered, _ = ray.wait([*asked], num_returns=len(asked), timeout=SEARCH)
    return [asked[one] for one in answered if ray.get(one)]


def _has(path: str) -> bool:
    return Path(path).is_dir()
