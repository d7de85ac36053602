"""Conductor as an agent of Harbor (https://github.com/harbor-framework/harbor), for Terminal-Bench, SWE-bench and its other data sets.

README.md beside this file says how it is started. Written for harbor 0.26.
"""

import asyncio
import contextlib
import json
import shlex
import tempfile
import zipfile
from pathlib import Path

from conductor_trajectory import counts, trajectory
from harbor.agents.capabilities import AgentCapabilities
from harbor.agents.installed.base import BaseInstalledAgent, with_prompt_template
from harbor.agents.installed.node_install import nvm_node_install_snippet

PROGRAM = "/installed-agent/conductor"
WORKERS = "/installed-agent/workers.json"
LOAD_NODE = 'export NVM_DIR="$HOME/.nvm"; if [ -s "$NVM_DIR/nvm.sh" ]; then . "$NVM_DIR/nvm.sh"; fi'
HAS_NODE = f"{LOAD_NODE}; node -e 'const [major, minor] = process.versions.node.split(\".\").map(Number); process.exit(major > 22 || (major === 22 && minor >= 13) ? 0 : 1)'"


class Conductor(BaseInstalledAgent):
    """A plan across the workers of a workers.json; the answer's change is written into the task's folder."""

    capabilities = AgentCapabilities(atif=True)

    def __init__(self, logs_dir, *args, vsix, workers, max_usd=2, rounds=2, attempts=1, **kwargs):
        super().__init__(logs_dir, *args, **kwargs)
        self.vsix, self.workers = Path(vsix).expanduser(), Path(workers).expanduser()
        self.limits = {"max-usd": max_usd, "rounds": rounds, "attempts": attempts}

    @staticmethod
    def name():
        return "conductor"

    def get_version_command(self):
        return f"{LOAD_NODE}; node {PROGRAM}/dist/cli.mjs --version"

    async def install(self, environment):
        if (await environment.exec(HAS_NODE)).return_code == 0:
            await self.ensure_system_dependencies(environment, ["bash", "git"])
        else:
            await self.ensure_system_dependencies(environment, ["curl", "ca_certificates", "bash", "git"])
            await self.exec_as_agent(environment, command=nvm_node_install_snippet(24))
        with tempfile.TemporaryDirectory() as folder:
            zipfile.ZipFile(self.vsix).extractall(folder)
            await environment.upload_dir(Path(folder) / "extension", PROGRAM)
        await self.exec_as_root(environment, command=f"chmod -R a+rX {PROGRAM} && chmod -R a+x {PROGRAM}/dist/bin")

    async def configure(self, environment):
        await environment.upload_file(self.workers, WORKERS)
        await self.exec_as_root(environment, command=f"chmod 644 {WORKERS}")
        await self.exec_as_agent(environment, command=f'mkdir -p -m 700 "$HOME/.conductor" && cp {WORKERS} "$HOME/.conductor/workers.json" && chmod 600 "$HOME/.conductor/workers.json"')

    def keys(self):
        """The keys that the workers name, from this machine's environment."""
        names = {worker["key"] for worker in json.loads(self.workers.read_text())["workers"] if "key" in worker}
        missing = sorted(name for name in names if not self._get_env(name))
        if missing:
            raise ValueError(f"workers.json names keys that are not set here: {', '.join(missing)}.")
        return {name: self._get_env(name) for name in sorted(names)}

    def solve_command(self, instruction):
        options = " ".join(f"--{name} {shlex.quote(str(value))}" for name, value in self.limits.items())
        log = f"{self.environment_logs_dir}/conductor"
        # 1: the tests did not accept the answer; 3: the budget is spent. Both leave a result, which Harbor's verifier judges. A run that failed,
        # or did not begin, is an error of the trial: its message is what Harbor classifies.
        return (f'{LOAD_NODE}; node {PROGRAM}/dist/cli.mjs solve --workspace "$PWD" --apply --yes --json {options} '
                f'-- {shlex.quote(instruction)} > {log}.json 2> {log}.txt; code=$?; cat {log}.txt; node {PROGRAM}/dist/cli.mjs backend stop; '
                f"if grep '^  \"state\": \"failed\"' {log}.json; then grep '^  \"message\"' {log}.json; exit 1; fi; "
                f'[ -s {log}.json ] && {{ [ $code -eq 0 ] || [ $code -eq 1 ] || [ $code -eq 3 ]; }}')

    @with_prompt_template
    async def run(self, instruction, environment, context):
        try:
            await self.exec_as_agent(environment, command=self.solve_command(instruction), env=self.keys())
        except asyncio.CancelledError:
            # Harbor's time is over. What goes on would be paid for, and could change files while they are judged.
            with contextlib.suppress(Exception):
                await environment.exec(self.cancel_command(), timeout_sec=60)
            raise

    def cancel_command(self):
        """Ends the last run, and leaves what it was until then."""
        program, first = f"node {PROGRAM}/dist/cli.mjs", "process.stdin.toArray().then((parts) => console.log(JSON.parse(Buffer.concat(parts))[0].runId))"
        return (f"{LOAD_NODE}; run=$({program} runs list --json | node -e '{first}'); {program} runs cancel $run; "
                f"{program} runs show $run --json > {self.environment_logs_dir}/conductor.json; {program} backend stop")

    def populate_context_post_run(self, context):
        file = self.logs_dir / "conductor.json"
        if not file.is_file() or not (text := file.read_text().strip()):
            return
        run = json.loads(text)
        context.n_input_tokens, context.n_cache_tokens, context.n_output_tokens = counts(run["spent"]["tokens"])
        context.cost_usd = run["spent"]["usd"]
        context.metadata = {name: run[name] for name in ("runId", "state", "outcome", "message", "applied") if name in run}
        (self.logs_dir / "trajectory.json").write_text(json.dumps(trajectory(run, self.version()).to_json_dict(), indent=2, ensure_ascii=False))
