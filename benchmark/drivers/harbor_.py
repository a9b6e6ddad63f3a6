"""An agent for Harbor (Terminal-Bench 2.1 and its other sets), installed in the task's container.

    harbor run -d terminal-bench@2.1 -m openai/gpt-5-mini \\
        --agent benchmark.drivers.harbor_:FsAgent --agent-kwarg toolset=lines

Needs Python >= 3.12 and `pip install harbor`; of this repository only this and `agent/inside.py`.
"""

import json
import os
import shlex
from pathlib import Path
from typing import Any

from harbor.agents.capabilities import AgentCapabilities
from harbor.agents.installed.base import BaseInstalledAgent

INSIDE = Path(__file__).parents[1] / "agent" / "inside.py"
FOLDER = "/installed-agent"
KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")
UV = "curl -LsSf https://astral.sh/uv/install.sh | env UV_INSTALL_DIR={folder} sh"


class FsAgent(BaseInstalledAgent):
    """toolset: which tools. package: what pip installs, or a wheel of this machine.

    python: one of the container that has it all; then nothing is installed.
    """

    capabilities = AgentCapabilities(atif=True)

    def __init__(
        self,
        *args: Any,
        toolset: str = "lines",
        package: str = "fsagent-tools[langchain]",
        python: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.toolset, self.package = toolset, package
        self.own, self.python = not python, python or f"{FOLDER}/venv/bin/python"

    @staticmethod
    def name() -> str:
        return "fsagent-tools"

    async def install(self, environment: Any) -> None:
        if not self.own:
            return
        package = self.package
        if Path(package).is_file():
            package = f"{FOLDER}/{Path(package).name}"
            await environment.upload_file(self.package, package)
            package += "[langchain]"
        wanted = shlex.join([package, "langchain", "langchain-openai", "langchain-anthropic"])
        curl = "command -v curl || (apt-get update -qq && apt-get install -y -qq curl)"
        uv = f"{FOLDER}/uv"
        make = f"{uv} venv --python 3.12 {FOLDER}/venv"
        fill = f"{uv} pip install --python {self.python} {wanted}"
        for command in (curl, UV.format(folder=FOLDER), make, fill):
            await self.exec_as_root(environment, command)

    async def configure(self, environment: Any) -> None:
        await environment.upload_file(INSIDE, f"{FOLDER}/inside.py")

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        out = self.environment_logs_dir / "trajectory.json"
        said = ["--model", self.model_name, "--toolset", self.toolset, "--out", out, instruction]
        command = shlex.join([self.python, f"{FOLDER}/inside.py", *map(str, said)])
        keys = {name: os.environ[name] for name in KEYS if name in os.environ}
        await self.exec_as_agent(environment, command, env=keys)

    def populate_context_post_run(self, context: Any) -> None:
        kept = self.logs_dir / "trajectory.json"
        if kept.is_file():
            used = json.loads(kept.read_text("utf-8"))["final_metrics"]
            context.n_input_tokens = used["total_prompt_tokens"]
            context.n_output_tokens = used["total_completion_tokens"]
            context.n_cache_tokens = used["total_cached_tokens"]
