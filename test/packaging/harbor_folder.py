"""An environment for Harbor: bubblewrap over a folder, which stays for a trial as a container does. Without an engine and an image, so it is no protection."""

import asyncio
import json
import shutil
import tempfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities


class Folder(BaseEnvironment):
    """`--ek node=PROGRAM` is there as /opt/node; `--ek noted=FILE` gets a line of JSON for each command, with the names of what is in its environment."""

    def __init__(self, *args, node, noted, **kwargs):
        super().__init__(*args, **kwargs)
        self.node, self.noted = node, Path(noted)
        self.root = Path(tempfile.mkdtemp(prefix="conductor-harbor-"))

    @staticmethod
    def type():
        return "folder"

    @property
    def capabilities(self):
        return EnvironmentCapabilities()

    def _validate_definition(self):
        pass

    def inside(self, path):
        return self.root / str(path).lstrip("/")

    async def start(self, force_build):
        for folder in ("tmp", "root", self.task_env_config.workdir):
            self.inside(folder).mkdir(parents=True, exist_ok=True)
        await self.ensure_dirs(self._mount_targets(writable_only=True))
        await self._upload_environment_dir_after_start()

    async def stop(self, delete):
        shutil.rmtree(self.root)

    async def upload_file(self, source_path, target_path):
        target = self.inside(target_path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, target)

    async def upload_dir(self, source_dir, target_dir):
        shutil.copytree(source_dir, self.inside(target_dir), symlinks=True, dirs_exist_ok=True, copy_function=shutil.copy)

    async def download_file(self, source_path, target_path):
        shutil.copy(self.inside(source_path), target_path)

    async def download_dir(self, source_dir, target_dir):
        shutil.copytree(self.inside(source_dir), target_dir, symlinks=True, dirs_exist_ok=True)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        env = self._merge_env(env) or {}
        with self.noted.open("a") as file:
            file.write(json.dumps({"command": command, "env": sorted(env)}) + "\n")
        walls = ["bwrap", "--die-with-parent", "--unshare-user", "--unshare-pid", "--uid", "0", "--gid", "0", "--clearenv", "--bind", str(self.root), "/"]
        for name in ("usr", "etc", "bin", "sbin", "lib", "lib64"):
            walls += ["--ro-bind-try", f"/{name}", f"/{name}"]
        walls += ["--dev", "/dev", "--proc", "/proc", "--ro-bind", self.node, "/opt/node/bin/node", "--chdir", cwd or self.task_env_config.workdir]
        for name, value in {"HOME": "/root", "PATH": "/opt/node/bin:/usr/local/bin:/usr/bin:/bin", **env}.items():
            walls += ["--setenv", name, value]
        process = await asyncio.create_subprocess_exec(
            *walls, "bash", "-c", command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        try:
            stdout, stderr = await asyncio.wait_for(process.communicate(), timeout_sec)
        except BaseException:
            process.kill()
            await process.wait()
            raise
        return ExecResult(stdout=stdout.decode(errors="replace"), stderr=stderr.decode(errors="replace"), return_code=process.returncode)
