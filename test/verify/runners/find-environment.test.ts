import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findEnvironment } from '../../../backend/verify/runners/find-environment.ts';

/* Where people's tools keep environments: nothing here starts Python. */

let home: string;
let workspace: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(path.join(tmpdir(), 'environments-')));
  vi.stubEnv('HOME', home);
  workspace = path.join(home, 'code/shop');
  await mkdir(path.join(workspace, 'api'), { recursive: true });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true, force: true });
});

/** An installation of Python below the home folder, as uv and pyenv make them. @returns its folder */
async function installation(): Promise<string> {
  const folder = path.join(home, '.local/share/uv/python/cpython-3.12');
  await mkdir(path.join(folder, 'lib/python3.12'), { recursive: true });
  await mkdir(path.join(folder, 'bin'), { recursive: true });
  await writeFile(path.join(folder, 'lib/python3.12/os.py'), '');
  await writeFile(path.join(folder, 'bin/python3.12'), '');
  return folder;
}

/** A virtual environment of that installation. */
async function environment(folder: string, base: string): Promise<string> {
  await mkdir(path.join(folder, 'bin'), { recursive: true });
  await writeFile(path.join(folder, 'pyvenv.cfg'), `home = ${base}/bin\n`);
  await symlink(path.join(base, 'bin/python3.12'), path.join(folder, 'bin/python'));
  return folder;
}

const find = (active: Readonly<Record<string, string>> = {}, inside = workspace) => findEnvironment({ inside, workspace, environment: active });

describe('the environment of a project', () => {
  it('is the one in the folder of the command, then in the workspace', async () => {
    const base = await installation();
    const outer = await environment(path.join(workspace, 'venv'), base);
    const api = path.join(workspace, 'api');
    expect(await find({}, api)).toEqual({ folder: outer, readable: [outer, base] });
    const inner = await environment(path.join(api, '.venv'), base);
    expect(await find({}, api)).toEqual({ folder: inner, readable: [inner, base] });
  });

  it('may have any name, and the usual ones come first', async () => {
    const base = await installation();
    await mkdir(path.join(workspace, 'data'));
    await writeFile(path.join(workspace, 'data/pyvenv.cfg'), '');
    expect(await find()).toBeUndefined();
    const odd = await environment(path.join(workspace, 'environment-3.12'), base);
    expect((await find())?.folder).toBe(odd);
    const conda = path.join(workspace, '.conda');
    await mkdir(path.join(conda, 'conda-meta'), { recursive: true });
    await mkdir(path.join(conda, 'bin'));
    await writeFile(path.join(conda, 'bin/python'), '');
    expect(await find()).toEqual({ folder: conda, readable: [conda] });
  });

  it('is the one that pipenv has made for this folder, and for no other', async () => {
    const base = await installation();
    const made = await environment(path.join(home, '.local/share/virtualenvs/shop-a1B2c3D4'), base);
    await writeFile(path.join(made, '.project'), `${workspace}-of-another`);
    expect(await find()).toBeUndefined();
    await writeFile(path.join(made, '.project'), workspace);
    expect(await find()).toEqual({ folder: made, readable: [made, base] });
  });

  it('is the newest one that Poetry has made for this folder', async () => {
    const base = await installation();
    const hash = createHash('sha256').update(workspace).digest('base64').replaceAll('+', '-').replaceAll('/', '_').slice(0, 8);
    const all = path.join(home, '.cache/pypoetry/virtualenvs');
    await environment(path.join(all, 'shop-AAAAAAAA-py3.13'), base);
    await environment(path.join(all, `shop-${hash}-py3.9`), base);
    const newest = await environment(path.join(all, `shop-${hash}-py3.12`), base);
    expect((await find())?.folder).toBe(newest);
  });

  it('is the active one where there is none of the project, virtual or of conda', async () => {
    const base = await installation();
    const active = await environment(path.join(home, 'environments/work'), base);
    expect((await find({ VIRTUAL_ENV: active }))?.folder).toBe(active);
    const conda = path.join(home, 'miniconda3/envs/work');
    await mkdir(path.join(conda, 'conda-meta'), { recursive: true });
    await mkdir(path.join(conda, 'bin'));
    await writeFile(path.join(conda, 'bin/python'), '');
    expect(await find({ CONDA_PREFIX: conda })).toEqual({ folder: conda, readable: [conda] });
    const own = await environment(path.join(workspace, '.venv'), base);
    expect((await find({ VIRTUAL_ENV: active, CONDA_PREFIX: conda }))?.folder).toBe(own);
  });

  it('is the one that the person has chosen, and the one of another shell where there is none of the project', async () => {
    const base = await installation();
    const other = await environment(path.join(home, 'environments/other'), base);
    const active = await environment(path.join(home, 'environments/active'), base);
    const findWith = (isChosen: boolean, folder = other) => findEnvironment({ inside: workspace, workspace, environment: { VIRTUAL_ENV: active }, python: { folder, isChosen } });
    expect(await findWith(false)).toEqual({ folder: other, readable: [other, base] });
    const own = await environment(path.join(workspace, '.venv'), base);
    expect((await findWith(false))?.folder).toBe(own);
    expect(await findWith(true)).toEqual({ folder: other, readable: [other, base] });
    // A Python that is no environment has none of the project's packages.
    expect((await findWith(true, '/usr'))?.folder).toBe(own);
  });

  it('is the one in which tox or nox runs the tests, where the project has no other', async () => {
    const base = await installation();
    for (const name of ['.tox/lint', '.tox/py39', '.tox/py312', '.tox/pyright']) await environment(path.join(workspace, name), base);
    expect(await find({ VIRTUAL_ENV: await environment(path.join(home, 'active'), base) })).toEqual({ folder: path.join(workspace, '.tox/py312'), readable: [path.join(workspace, '.tox/py312'), base] });
    const own = await environment(path.join(workspace, '.venv'), base);
    expect((await find())?.folder).toBe(own);
  });

  it('is no folder without a Python', async () => {
    await mkdir(path.join(home, 'gone'));
    await writeFile(path.join(home, 'gone/pyvenv.cfg'), '');
    expect(await find({ VIRTUAL_ENV: path.join(home, 'gone'), CONDA_PREFIX: 'relative' })).toBeUndefined();
  });
});
