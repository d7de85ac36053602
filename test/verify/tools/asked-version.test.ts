import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import semver from 'semver';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProjectFolder } from '../../../backend/verify/runners/project-folder.ts';
import { askedGo, askedNode, askedPython, askedRust } from '../../../backend/verify/tools/asked-version.ts';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'asked-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

async function asked(of: typeof askedNode, files: Readonly<Record<string, string>>): ReturnType<typeof askedNode> {
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  return await of(new ProjectFolder(folder));
}

describe('the Node that a project asks for', () => {
  it.each([
    ['.nvmrc', 'v20.18.1\n', '20.18.1', '20.18.2'],
    ['.nvmrc', '# since March\n20\n', '20.3.0', '22.0.0'],
    ['.nvmrc', 'lts/iron', '20.3.0', '22.0.0'],
    ['.nvmrc', 'lts/*', '22.1.0', '23.1.0'],
    ['.node-version', '18.20', '18.20.4', '18.19.0'],
    ['.tool-versions', 'python 3.12.1\nnodejs 22.3.0 system\n', '22.3.0', '22.4.0'],
    ['mise.toml', '[tools]\nnode = "22"\n', '22.4.0', '24.0.0'],
    ['package.json', '{"volta":{"node":"18.1.0"},"engines":{"node":">=16"}}', '18.1.0', '20.0.0'],
    ['package.json', '{"devEngines":{"runtime":[{"name":"bun","version":"1"},{"name":"node","version":"^22.1.0"}]}}', '22.8.0', '24.0.0'],
    ['package.json', '{"engines":{"node":"^18 || >=20"}}', '21.0.0', '19.0.0'],
  ])('stands in %s: %j', async (by, text, right, wrong) => {
    const found = await asked(askedNode, { [by]: text });
    expect(found?.by).toBe(by);
    expect([right, wrong].map((version) => semver.satisfies(version, found?.range ?? ''))).toEqual([true, false]);
  });

  it('is taken from the file that is written for it, before package.json', async () => {
    expect(await asked(askedNode, { 'package.json': '{"engines":{"node":">=18"}}', '.nvmrc': '20' })).toEqual({ version: '20', by: '.nvmrc', range: '>=20.0.0 <21.0.0-0' });
  });

  it.each([['.nvmrc', 'system'], ['.nvmrc', ''], ['package.json', '{"engines":{"node":4}}'], ['package.json', '{'], ['.nvmrc', `>=${'1'.repeat(500)}`]])(
    'is none in %s: %j', async (by, text) => expect(await asked(askedNode, { [by]: text })).toBeUndefined(),
  );
});

describe('the version that a project asks for', () => {
  it('of Python may be a number or the name of an environment of pyenv', async () => {
    expect(await asked(askedPython, { '.python-version': '3.11\n3.12\n' })).toEqual({ version: '3.11', by: '.python-version', range: '3.11' });
    expect(await asked(askedPython, { '.python-version': 'shop-3.11\n' })).toEqual({ version: 'shop-3.11', by: '.python-version' });
    expect(await asked(askedPython, { '.python-version': 'system', '.tool-versions': 'python 3.9.1' })).toMatchObject({ version: '3.9.1', by: '.tool-versions' });
  });

  it('of Go is the least one', async () => {
    expect(await asked(askedGo, { 'go.mod': 'module x\n\ngo 1.21 // old\n' })).toEqual({ version: '1.21', by: 'go.mod', range: '>=1.21.0' });
    expect(await asked(askedGo, { 'go.mod': 'module x\n\ngo 1.21\n\ntoolchain go1.23.4\n' })).toMatchObject({ version: '1.23.4', range: '>=1.23.4' });
  });

  it('of Rust is a channel or a number', async () => {
    expect(await asked(askedRust, { 'rust-toolchain': '[toolchain]\npath = "/opt/rust"\n' })).toBeUndefined();
    expect(await asked(askedRust, { 'rust-toolchain': '1.80\n' })).toEqual({ version: '1.80', by: 'rust-toolchain', range: '1.80' });
    const table = { 'rust-toolchain': '', 'rust-toolchain.toml': '[toolchain]\nchannel = "nightly-2024-05-01"\n' };
    expect(await asked(askedRust, table)).toEqual({ version: 'nightly-2024-05-01', by: 'rust-toolchain.toml' });
  });
});
