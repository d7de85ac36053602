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
  if (await has('pom.xml')) await run(MAVEN);
  if (await has('package.json')) await run(await javascriptCommand(folder, has));
}

/** `dependency:go-offline` misses what plugins load while they run, such as surefire's provider, so that the tests' own goal runs once. */
const MAVEN = 'mvn --batch-mode --quiet -Dmaven.test.failure.ignore=true test';

type Run = (command: string) => Promise<void>;
type Has = (file: string) => Promise<boolean>;

const TEST_REQUIREMENTS = ['tests/requirements.txt', 'requirements/tests.txt', 'requirements/testing.txt', 'requirements-dev.txt', 'requirements.txt'];

async function installPython(folder: string, run: Run, has: Has): Promise<void> {
  await run('uv venv --quiet --python python3 .venv');
  await run('uv pip install --quiet --editable . pytest');
  const [group] = await namesIn(folder, 'dependency-groups');
  if (group !== undefined) return await run(`uv pip install --quiet --group ${group}`);
  const [extra] = await namesIn(folder, 'project.optional-dependencies');
  if (extra !== undefined) return await run(`uv pip install --quiet --editable '.[${extra}]'`);
  const poetry = await tableOf(folder, 'tool.poetry.dev-dependencies');
  const names = [...poetry.matchAll(/^"?(\w[\w.-]*)"?\s*=/gm)].map(([, name]) => name);
  if (names.length > 0) return await run(`uv pip install --quiet ${names.join(' ')}`);
  for (const file of TEST_REQUIREMENTS) if (await has(file)) return await run(`uv pip install --quiet --requirement ${file}`);
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

/** Each manager holds to the lock file if it can: an old one does not suit every version of the manager that reads it. */
async function javascriptCommand(folder: string, has: Has): Promise<string> {
  const read = (file: string): Promise<string> => readFile(path.join(folder, file), 'utf8');
  const named = /"packageManager"\s*:\s*"(\w+)@([\d.]+)/.exec(await read('package.json'));
  const version = (name: string): string | undefined => (named?.[1] === name ? named[2] : undefined);
  if (await has('pnpm-lock.yaml')) {
    const [, format = ''] = /^lockfileVersion: '?(\d)/m.exec(await read('pnpm-lock.yaml')) ?? [];
    const pnpm = `npx --yes pnpm@${version('pnpm') ?? PNPM_OF_LOCK[format] ?? '10'} install --ignore-scripts`;
    return `${pnpm} --frozen-lockfile || ${pnpm} --no-frozen-lockfile`;
  }
  if (await has('yarn.lock')) {
    const isClassic = (await read('yarn.lock')).includes('yarn lockfile v1');
    return isClassic ?
        'npx --yes yarn@1 install --frozen-lockfile --ignore-scripts --ignore-engines'
      : `npx --yes --package @yarnpkg/cli-dist@${version('yarn') ?? '4'} yarn install --mode=skip-build`;
  }
  const rest = '--ignore-scripts --no-audit --no-fund';
  const loose = `npm install --legacy-peer-deps ${rest}`;
  return (await has('package-lock.json')) ? `npm ci ${rest} || ${loose}` : `npm install ${rest} || ${loose}`;
}

/** The version of pnpm that writes a version of `pnpm-lock.yaml`. */
const PNPM_OF_LOCK: Readonly<Record<string, string>> = { 5: '7', 6: '8', 9: '10' };
