"""One root, one policy, one session; and many of them."""

from fsagent_tools.workspace.config import Staleness as Staleness
from fsagent_tools.workspace.workspace import PathForm as PathForm
from fsagent_tools.workspace.workspace import Workspace as Workspace
