import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { toolText } from '../../../backend/protocol/tool-text.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { RUNNERS } from '../../../backend/verify/runners/runners.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { ToolVersions, type ChosenTools } from '../../../backend/verify/tools/tool-versions.ts';

/* Each installed version is a script that says its number, started as tests are, without walls. */

let home: string;
let workspace: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(path.join(tmpdir(), 'tools-')));
  vi.stubEnv('HOME', home);
  vi.stubEnv('VIRTUAL_ENV', undefined);
  vi.stubEnv('CONDA_PREFIX', undefined);
  workspace = path.join(home, 'code/shop');
  await mkdir(path.join(workspace, 'api'), { recursive: true });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true, force: true });
});

async function put(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(home, file)), { recursive: true });
  await writeFile(path.join(home, file), text);
}

/** A program below home that says this. */
async function program(file: string, says: string): Promise<void> {
  await put(file, `#!/bin/sh\necho "${says}"\n`);
  await chmod(path.join(home, file), 0o755);
}

async function choose(runner: string, command: string): Promise<ChosenTools & { readonly said: readonly string[] }> {
  const folders = new RunFolders(path.join(home, 'runs'), isProcessAlive);
  const sandbox = new Sandbox({ searchPath: `${home}/path:/usr/bin:/bin`, homeFolder: home, folders });
  const found = RUNNERS.find(({ name }) => name === runner);
  if (!found) throw new Error(`no runner ${runner}`);
  const { signal } = new AbortController();
  const chosen = await new ToolVersions({ sandbox, folders }).choose({ runner: found, command, base: workspace, installed: workspace, sandboxed: false, signal });
  return { ...chosen, said: chosen.versions.map(toolText) };
}

describe('Node', () => {
  beforeEach(() => program('path/node', 'v24.1.0'));

  it('of PATH is taken where the project asks for nothing, or for it', async () => {
    await program('.nvm/versions/node/v20.18.1/bin/node', 'v20.18.1');
    expect(await choose('vitest', 'npx vitest run')).toMatchObject({ programFolders: [], said: ['Node 24.1.0'], notes: [] });
    await put('code/shop/package.json', '{"engines":{"node":">=18"}}');
    expect(await choose('vitest', 'npx vitest run')).toMatchObject({ programFolders: [], said: ['Node 24.1.0, as package.json asks'], notes: [] });
  });

  it.each([
    ['.nvm/versions/node/v20.18.1'],
    ['.local/share/fnm/node-versions/v20.18.1/installation'],
    ['.volta/tools/image/node/20.18.1'],
    ['.asdf/installs/nodejs/20.18.1'],
    ['.local/share/mise/installs/node/20.18.1'],
    ['.nodenv/versions/20.18.1'],
    ['n/n/versions/node/20.18.1'],
  ])('is taken from %s where the project asks for it', async (folder) => {
    await program(`${folder}/bin/node`, 'v20.18.1');
    await put('code/shop/.nvmrc', '20\n');
    const { programFolders, readable, said, notes } = await choose('jest', 'cd api && npx jest');
    expect(programFolders).toEqual([path.join(home, folder, 'bin')]);
    expect(readable).toEqual([path.join(home, folder)]);
    expect([said, notes]).toEqual([['Node 20.18.1, as .nvmrc asks'], []]);
  });

  it('is the newest of those that satisfy, and the file of the inner folder counts', async () => {
    for (const version of ['18.1.0', '20.2.0', '20.18.1', '22.3.0']) await program(`.nvm/versions/node/v${version}/bin/node`, `v${version}`);
    await put('code/shop/.nvmrc', '20');
    await put('code/shop/api/.nvmrc', '18');
    expect((await choose('mocha', 'mocha')).said).toEqual(['Node 20.18.1, as .nvmrc asks']);
    expect((await choose('mocha', 'cd api && mocha')).said).toEqual(['Node 18.1.0, as .nvmrc asks']);
  });

  it('that is nowhere is told, and one of the same major version taken, or that of PATH', async () => {
    await program('.nvm/versions/node/v20.18.1/bin/node', 'v20.18.1');
    await put('code/shop/.nvmrc', '20.11.0');
    const near = await choose('vitest', 'vitest');
    expect(near.said).toEqual(['Node 20.18.1 (.nvmrc asks for 20.11.0)']);
    expect(near.notes).toEqual([expect.stringMatching(/^\.nvmrc asks for Node 20\.11\.0, which is neither on PATH nor among the versions of nvm.*: Node 20\.18\.1 was taken\.$/)]);
    await put('code/shop/.nvmrc', '16');
    const none = await choose('vitest', 'vitest');
    expect(none).toMatchObject({ programFolders: [], said: ['Node 24.1.0 (.nvmrc asks for 16)'], notes: [expect.stringContaining('Node 24.1.0 was taken')] });
  });

  it('is looked for with the version managers where that of PATH does not start', async () => {
    await put('path/node', '#!/bin/sh\nexit 126\n');
    await chmod(path.join(home, 'path/node'), 0o755);
    await program('.volta/tools/image/node/22.3.0/bin/node', 'v22.3.0');
    expect(await choose('vitest', 'vitest')).toMatchObject({ said: ['Node 22.3.0'], programFolders: [path.join(home, '.volta/tools/image/node/22.3.0/bin')] });
  });
});

describe('Python', () => {
  beforeEach(() => program('path/python3', 'Python 3.12.3'));

  it('of pyenv is taken where the project asks for it, by number or by name', async () => {
    for (const name of ['3.11.4', 'shop']) await program(`.pyenv/versions/${name}/bin/python`, 'Python 3.11.4');
    await program('.pyenv/versions/shop/bin/python3', 'Python 3.11.4');
    await put('code/shop/.python-version', '3.11\n');
    expect(await choose('unittest', 'python3 -m unittest')).toMatchObject({ said: ['Python 3.11.4, as .python-version asks'], programFolders: [path.join(home, '.pyenv/versions/3.11.4/bin')] });
    await put('code/shop/.python-version', 'shop\n');
    expect(await choose('unittest', 'python3 -m unittest')).toMatchObject({ said: ['Python 3.11.4, as .python-version asks'], programFolders: [path.join(home, '.pyenv/versions/shop/bin')] });
  });

  it('without pytest is not taken for pytest', async () => {
    const uv = '.local/share/uv/python/cpython-3.11.4-linux-x86_64-gnu';
    await program(`${uv}/bin/python`, 'Python 3.11.4');
    await put('code/shop/.python-version', '3.11');
    expect((await choose('pytest', 'pytest')).said).toEqual(['Python 3.12.3 (.python-version asks for 3.11)']);
    await put(`${uv}/lib/python3.11/site-packages/pytest/__init__.py`, '');
    expect((await choose('pytest', 'pytest')).said).toEqual(['Python 3.11.4, as .python-version asks']);
  });

  it('of an environment of the project comes first, whatever is asked for', async () => {
    await program('code/shop/.venv/bin/python3', 'Python 3.10.1');
    await program('code/shop/.venv/bin/python', 'Python 3.10.1');
    await put('code/shop/.venv/pyvenv.cfg', '');
    await put('code/shop/.python-version', '3.11');
    expect(await choose('pytest', 'pytest')).toMatchObject({ programFolders: [], said: ['Python 3.10.1 of .venv (.python-version asks for 3.11)'] });
  });
});

it('takes Go from its own downloads where go.mod asks for a newer one', async () => {
  await program('path/go', 'go version go1.21.3 linux/amd64');
  const download = 'go/pkg/mod/golang.org/toolchain@v0.0.1-go1.25.0.linux-amd64';
  await program(`${download}/bin/go`, 'go version go1.25.0 linux/amd64');
  await put('code/shop/go.mod', 'module shop\n\ngo 1.20\n');
  expect(await choose('go', 'go test ./...')).toMatchObject({ programFolders: [], said: ['Go 1.21.3, as go.mod asks'] });
  await put('code/shop/go.mod', 'module shop\n\ngo 1.24\n');
  expect(await choose('go', 'go test ./...')).toMatchObject({ programFolders: [path.join(home, download, 'bin')], said: ['Go 1.25.0, as go.mod asks'], notes: [] });
  await put('code/shop/go.mod', 'module shop\n\ngo 1.30\n');
  expect(await choose('go', 'go test ./...')).toMatchObject({ programFolders: [], said: ['Go 1.21.3 (go.mod asks for 1.30)'], notes: [expect.stringContaining('go.mod asks for Go 1.30')] });
});

it('lets rustup take what is installed, and its default where the wanted channel is not', async () => {
  await program('path/rustc', 'rustc 1.95.0 (abc 2026-01-01)');
  await put('.rustup/settings.toml', 'default_toolchain = "stable-x86_64-unknown-linux-gnu"\n');
  for (const name of ['stable', 'nightly-2024-05-01', '1.80.1']) await program(`.rustup/toolchains/${name}-x86_64-unknown-linux-gnu/bin/cargo`, '');
  const asks = async (channel: string): Promise<ChosenTools & { readonly said: readonly string[] }> => {
    await put('code/shop/rust-toolchain.toml', `[toolchain]\nchannel = "${channel}"\n`);
    return await choose('cargo', 'cargo test');
  };
  expect(await asks('1.80')).toMatchObject({ environment: { RUSTUP_TOOLCHAIN: '1.80.1-x86_64-unknown-linux-gnu' }, said: ['Rust 1.80.1, as rust-toolchain.toml asks'] });
  expect(await asks('stable')).toMatchObject({ environment: { RUSTUP_TOOLCHAIN: 'stable-x86_64-unknown-linux-gnu' }, notes: [] });
  expect(await asks('nightly')).toMatchObject({
    environment: { RUSTUP_TOOLCHAIN: 'stable-x86_64-unknown-linux-gnu' },
    said: ['Rust 1.95.0 (rust-toolchain.toml asks for nightly)'],
    notes: [expect.stringContaining('rust-toolchain.toml asks for Rust nightly')],
  });
});

it('asks a command whose runner is not known for what the project asks for alone', async () => {
  await program('path/node', 'v24.1.0');
  expect((await choose('custom', 'make check')).said).toEqual([]);
  await put('code/shop/.nvmrc', '24');
  expect((await choose('custom', 'make check')).said).toEqual(['Node 24.1.0, as .nvmrc asks']);
});
