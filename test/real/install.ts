import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { lastSaid, runCommand } from './command-run.ts';

/** What a project needs could not be had. The message says which command failed, and its last words. */
export class NotInstalledError extends Error {
  override readonly name = 'NotInstalledError';
}

/** Installs what the projects at the root of `folder` need. Scripts of packages for JavaScript do not run. Throws `NotInstalledError`. */
export async function install(folder: string, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  const has = (file: string): Promise<boolean> => stat(path.join(folder, file)).then(() => true, () => false);
  const run = async (command: string): Promise<void> => {
    const done = await runCommand(folder, command, until - performance.now());
    if (done.exitCode !== 0) throw new NotInstalledError(`${command}: ${done.exitCode === null ? 'not done in time' : lastSaid(done)}`);
  };
  if ((await has('pyproject.toml')) || (await has('setup.py'))) await installPython(folder, run, has);
  if (await has('go.mod')) await run('go mod download');
  if (await has('Cargo.toml')) await run('cargo fetch');
  if (await has('pom.xml')) await run('mvn --batch-mode --quiet dependency:go-offline || mvn --batch-mode --quiet test-compile');
  if (await has('package.json')) await run(await javascriptCommand(folder, has));
}

type Run = (command: string) => Promise<void>;
type Has = (file: string) => Promise<boolean>;

const TEST_REQUIREMENTS = ['tests/requirements.txt', 'requirements/tests.txt', 'requirements/testing.txt', 'requirements-dev.txt', 'requirements.txt'];

async function installPython(folder: string, run: Run, has: Has): Promise<void> {
  await run('python3 -m venv .venv && pip install --quiet --upgrade pip');
  await run('pip install --quiet --editable . pytest');
  const [group] = await namesIn(folder, 'dependency-groups');
  if (group !== undefined) return await run(`pip install --quiet --group ${group}`);
  const [extra] = await namesIn(folder, 'project.optional-dependencies');
  if (extra !== undefined) return await run(`pip install --quiet --editable '.[${extra}]'`);
  const poetry = await tableOf(folder, 'tool.poetry.dev-dependencies');
  const names = [...poetry.matchAll(/^"?(\w[\w.-]*)"?\s*=/gm)].map(([, name]) => name);
  if (names.length > 0) return await run(`pip install --quiet ${names.join(' ')}`);
  for (const file of TEST_REQUIREMENTS) if (await has(file)) return await run(`pip install --quiet --requirement ${file}`);
}

const TEST_GROUPS = ['tests', 'test', 'testing', 'dev'];

/** Names in a table of pyproject.toml that are usual for what tests need, the likeliest first. */
async function namesIn(folder: string, table: string): Promise<readonly string[]> {
  const own = await tableOf(folder, table);
  return TEST_GROUPS.filter((name) => new RegExp(`^"?${name}"?\\s*=`, 'm').test(own));
}

/** The lines of a table of pyproject.toml; empty if there is none. */
async function tableOf(folder: string, name: string): Promise<string> {
  const text = await readFile(path.join(folder, 'pyproject.toml'), 'utf8').catch(() => '');
  const [, body = ''] = text.split(new RegExp(`^\\[${name.replaceAll('.', '\\.')}\\][ \\t]*$`, 'm'));
  return body.split(/^\[/m)[0] ?? '';
}

async function javascriptCommand(folder: string, has: Has): Promise<string> {
  if (await has('pnpm-lock.yaml')) return `npx --yes ${await packageManager(folder, 'pnpm', '10')} install --frozen-lockfile --ignore-scripts`;
  if (await has('yarn.lock')) return `npx --yes ${await packageManager(folder, 'yarn', '1')} install --frozen-lockfile --ignore-scripts`;
  return `npm ${(await has('package-lock.json')) ? 'ci' : 'install'} --ignore-scripts --no-audit --no-fund`;
}

/** The manager in the version that the project names. */
async function packageManager(folder: string, name: string, version: string): Promise<string> {
  const text = await readFile(path.join(folder, 'package.json'), 'utf8');
  const named = /"packageManager"\s*:\s*"(\w+)@([\d.]+)/.exec(text);
  return `${name}@${named?.[1] === name ? named[2] : version}`;
}
