"""Has the installed harbor make the agent of packaging/harbor and run it. Prints what the agent did, as JSON."""

import asyncio
import json
import os
import tempfile
import zipfile
from pathlib import Path

from conductor_agent import Conductor
from harbor.agents.factory import AgentFactory
from harbor.environments.base import ExecResult
from harbor.models.agent.context import AgentContext
from harbor.models.trial.config import AgentConfig


class Environment:
    """Notes what an agent does; every command succeeds."""

    default_user = None

    def __init__(self):
        self.done = []

    async def exec(self, command, user=None, env=None, cwd=None, timeout_sec=None):
        self.done.append({"exec": command, "user": user, "env": sorted(env or {})})
        return ExecResult(stdout="0.1.0\n" if "--version" in command else "", stderr="", return_code=0)

    async def upload_file(self, source, target):
        self.done.append({"upload": Path(source).name, "to": target})

    async def upload_dir(self, source, target):
        self.done.append({"upload": sorted(str(path.relative_to(source)) for path in Path(source).rglob("*") if path.is_file()), "to": target})


async def main(folder):
    vsix, workers, logs = folder / "conductor.vsix", folder / "workers.json", folder / "logs"
    logs.mkdir()
    with zipfile.ZipFile(vsix, "w") as archive:
        archive.writestr("extension/dist/cli.mjs", "")
        archive.writestr("extension/dist/bin/rg", "")
    workers.write_text(json.dumps({"version": 1, "workers": [{"id": "a", "key": "SOME_KEY"}, {"id": "b"}]}))
    os.environ["SOME_KEY"] = "secret"
    config = AgentConfig(import_path="conductor_agent:Conductor", kwargs={"vsix": str(vsix), "workers": str(workers), "max_usd": 3})
    agent = AgentFactory.create_agent_from_config(config, logs_dir=logs)
    assert type(agent).__name__ == Conductor.__name__
    environment, context = Environment(), AgentContext()
    await agent.setup(environment)
    await agent.run("Mend it, don't break it; $(touch x)", environment, context)
    (logs / "conductor.json").write_text(json.dumps({
        "runId": "r", "state": "completed", "outcome": "passes", "applied": ["a.py"],
        "spent": {"usd": 0.5, "tokens": {"uncachedInput": 10, "cacheRead": 5, "cacheWrite": 1, "output": 7, "reasoning": 2}},
    }))
    agent.populate_context_post_run(context)
    print(json.dumps({"name": agent.name(), "version": agent.version(), "done": environment.done, "context": context.model_dump(exclude_none=True)}))


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(Path(folder)))
