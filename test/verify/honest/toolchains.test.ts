import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { makeScratch, trySandbox, type Scratch } from '../setup.ts';
import { expectVerified, judgeFix, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const go = tryProgram('go', 'version');
const python = tryProgram('python3', '-m', 'venv', '--help');
/** The system's works in another folder, too, since it loads no library of its own by an absolute path. */
const MOVABLE_PYTHON = '/usr/bin/python3';
const movable = tryProgram(MOVABLE_PYTHON, '-c', 'import venv');

const SYSTEM = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const NODE: HonestFix = {
  files: {
    'half.mjs': 'export const half = (number) => number / 3;\n',
    // Which node it is tells whether the one below the home folder was found.
    'half.test.mjs': `import assert from 'node:assert';
import { test } from 'node:test';
import { half } from './half.mjs';
test('half', () => { assert.match(process.execPath, /home/); assert.equal(half(4), 2); });
`,
  },
  fix: { 'half.mjs': ['/ 3', '/ 2'] },
  command: 'node --test',
  mended: ['half.test.mjs > half'],
};

/** The folders below home in which nvm and its like keep a node, and the folder on PATH. */
const NODE_FOLDERS: Record<string, { readonly program: string; readonly onPath?: string }> = {
  nvm: { program: '.nvm/versions/node/v24.0.0/bin/node' },
  fnm: { program: '.local/share/fnm/node-versions/v24.0.0/installation/bin/node', onPath: '.local/state/fnm_multishells/1_2/bin' },
  volta: { program: '.volta/tools/image/node/24.0.0/bin/node', onPath: '.volta/bin' },
  asdf: { program: '.asdf/installs/nodejs/24.0.0/bin/node' },
  mise: { program: '.local/share/mise/installs/node/24.0.0/bin/node' },
  'a folder of the user’s own': { program: 'tools/node-v24/bin/node' },
  'the folder of programs of the user': { program: '.local/bin/node' },
};

describe.skipIf(!available)(`an honest fix is verified with a node below the home folder (${note})`, { timeout: TIMEOUT_MS }, () => {
  it.each(Object.entries(NODE_FOLDERS))('of %s', async (_, { program, onPath }) => {
    await using scratch = await makeScratch();
    const target = path.join(scratch.home, program);
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(await realpath(process.execPath), target);
    await chmod(target, 0o755);
    await writeFile(path.join(scratch.home, '.npmrc'), 'secret');
    if (onPath !== undefined) {
      await mkdir(path.dirname(path.join(scratch.home, onPath)), { recursive: true });
      await symlink(path.dirname(target), path.join(scratch.home, onPath));
    }
    const searchPath = `${path.join(scratch.home, onPath ?? path.dirname(program))}:${SYSTEM}`;
    expectVerified(await judgeFix(scratch, NODE, { homeFolder: scratch.home, searchPath }), NODE);
  });
});

/** The node of these tests, as nvm keeps it; not on PATH. */
async function nodeOfNvm(scratch: Scratch): Promise<void> {
  const target = path.join(scratch.home, `.nvm/versions/node/${process.version}/bin/node`);
  await mkdir(path.dirname(target), { recursive: true });
  await copyFile(await realpath(process.execPath), target);
  vi.stubEnv('HOME', scratch.home);
  onTestFinished(() => void vi.unstubAllEnvs());
}

it.skipIf(!available)(`an honest fix is verified with the node that the project asks for, which is not that of PATH (${note})`, { timeout: TIMEOUT_MS }, async () => {
  await using scratch = await makeScratch();
  await nodeOfNvm(scratch);
  const asking = { ...NODE, files: { ...NODE.files, '.nvmrc': `${process.version}\n` } };
  // The system may have that version, too: then it would be as good.
  await mkdir(path.join(scratch.folder, 'other'));
  await writeFile(path.join(scratch.folder, 'other/node'), '#!/bin/sh\necho v1.2.3\n', { mode: 0o755 });
  const verdict = await judgeFix(scratch, asking, { homeFolder: scratch.home, searchPath: `${scratch.folder}/other:${SYSTEM}` });
  expectVerified(verdict, NODE);
  expect(verdict.tools).toEqual([{ name: 'Node', version: process.version.slice(1), asked: { by: '.nvmrc', version: process.version, isMet: true } }]);
});

const PYTHON: HonestFix = {
  files: {
    'half.py': 'def half(number):\n    return number / 3\n',
    // Which Python it is tells whether the environment's was found, and not that of the system.
    'test_half.py': `import sys
import unittest
from half import half


class HalfTest(unittest.TestCase):
    def test_half(self):
        self.assertIn('/home/', sys.base_prefix)
        self.assertEqual(half(4), 2)
`,
  },
  fix: { 'half.py': ['/ 3', '/ 2'] },
  command: 'python -m unittest',
  mended: ['test_half.py > HalfTest > test_half'],
};

/** Where uv, pyenv and conda keep a Python. None of these folders is on the PATH of a desktop session. */
const PYTHON_FOLDERS = ['.local/share/uv/python/cpython-3', '.pyenv/versions/3', 'miniconda3', 'tools/python'];

describe.skipIf(!available || !movable.isHere)(
  `an honest fix is verified with an environment of a Python below the home folder (${note}, ${movable.note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it.each(PYTHON_FOLDERS)('in %s', async (folder) => {
      await using scratch = await makeScratch();
      const own = path.join(scratch.home, folder);
      copyPython(own);
      const before = (workspace: string): void => {
        execFileSync(path.join(own, 'bin/python3'), ['-m', 'venv', '--without-pip', path.join(workspace, '.venv')]);
      };
      expectVerified(await judgeFix(scratch, PYTHON, { homeFolder: scratch.home, searchPath: SYSTEM, before }), PYTHON);
    });

    it('that is not in the project, where Poetry keeps it or a shell has it active', async () => {
      await using scratch = await makeScratch();
      vi.stubEnv('HOME', scratch.home);
      onTestFinished(() => void vi.unstubAllEnvs());
      const own = path.join(scratch.home, '.pyenv/versions/3');
      copyPython(own);
      const makeIn = (folder: string): void => void execFileSync(path.join(own, 'bin/python3'), ['-m', 'venv', '--without-pip', path.join(scratch.home, folder)]);
      const poetry = (workspace: string): void => {
        const hash = createHash('sha256').update(realpathSync(workspace)).digest('base64url').slice(0, 8);
        makeIn(`.cache/pypoetry/virtualenvs/shop-${hash}-py3.12`);
      };
      expectVerified(await judgeFix(scratch, PYTHON, { homeFolder: scratch.home, searchPath: SYSTEM, before: poetry }), PYTHON);
      rmSync(path.join(scratch.home, '.cache'), { recursive: true });
      const active = (): void => {
        makeIn('environments/work');
        vi.stubEnv('VIRTUAL_ENV', path.join(scratch.home, 'environments/work'));
      };
      expectVerified(await judgeFix(scratch, PYTHON, { homeFolder: scratch.home, searchPath: SYSTEM, before: active }), PYTHON);
    });

    it('and where that Python is gone, that is said', async () => {
      await using scratch = await makeScratch();
      const own = path.join(scratch.home, 'tools/python');
      copyPython(own);
      const before = (workspace: string): void => {
        execFileSync(path.join(own, 'bin/python3'), ['-m', 'venv', '--without-pip', path.join(workspace, '.venv')]);
        rmSync(own, { recursive: true });
      };
      const verdict = await judgeFix(scratch, PYTHON, { homeFolder: scratch.home, searchPath: SYSTEM, before });
      expect(verdict).toMatchObject({ verified: false, outcome: 'infrastructure', reason: expect.stringContaining('The Python of .venv is gone') });
    });
  },
);

/** Copies the program with its library, so that Python takes the folder for its own. */
function copyPython(folder: string): void {
  const say = 'import os, sys; print(os.path.realpath(sys.executable)); print(sys.base_prefix); print("python%d.%d" % sys.version_info[:2])';
  const [program = '', prefix = '', name = ''] = execFileSync(MOVABLE_PYTHON, ['-c', say], { encoding: 'utf8' }).trim().split('\n');
  mkdirSync(path.join(folder, 'bin'), { recursive: true });
  const isNeeded = (source: string): boolean => !/\/(?:site|dist)-packages\/|__pycache__|\/test\//.test(source);
  cpSync(path.join(prefix, 'lib', name), path.join(folder, 'lib', name), { recursive: true, filter: isNeeded });
  copyFileSync(program, path.join(folder, 'bin', name));
  symlinkSync(name, path.join(folder, 'bin/python3'));
}

const GO: HonestFix = {
  files: {
    'go.mod': 'module example.com/half\n\ngo 1.21\n\nrequire example.org/three v1.0.0\n',
    'half.go': 'package half\n\nimport "example.org/three"\n\n// Half is half of a number.\nfunc Half(number int) int { return number / three.Three }\n',
    'half_test.go': 'package half\n\nimport "testing"\n\nfunc TestHalf(t *testing.T) {\n\tif Half(4) != 2 {\n\t\tt.Fail()\n\t}\n}\n',
  },
  fix: { 'half.go': 'package half\n\nimport "example.org/three"\n\n// Half is half of a number.\nfunc Half(number int) int { return number / (three.Three - 1) }\n' },
  command: 'go test ./...',
  mended: ['example.com/half > TestHalf'],
};

/** A module as the module cache keeps it once it was fetched. */
async function cacheModule(scratch: Scratch): Promise<void> {
  const proxy = path.join(scratch.folder, 'proxy/example.org/three/@v');
  await mkdir(proxy, { recursive: true });
  await writeFile(path.join(proxy, 'list'), 'v1.0.0\n');
  await writeFile(path.join(proxy, 'v1.0.0.info'), '{"Version":"v1.0.0"}');
  await writeFile(path.join(proxy, 'v1.0.0.mod'), 'module example.org/three\n\ngo 1.21\n');
  const inZip = path.join(scratch.folder, 'zip/example.org/three@v1.0.0');
  await mkdir(inZip, { recursive: true });
  await writeFile(path.join(inZip, 'go.mod'), 'module example.org/three\n\ngo 1.21\n');
  await writeFile(path.join(inZip, 'three.go'), 'package three\n\n// Three is 3.\nconst Three = 3\n');
  const zip = 'import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], "w") as target:\n  for name in sys.argv[2:]: target.write(name)';
  const names = ['go.mod', 'three.go'].map((name) => `example.org/three@v1.0.0/${name}`);
  execFileSync('python3', ['-c', zip, path.join(proxy, 'v1.0.0.zip'), ...names], { cwd: path.join(scratch.folder, 'zip') });
}

const shared = await makeScratch();
afterAll(async () => await shared[Symbol.asyncDispose]());

describe.skipIf(!available || !go.isHere || !python.isHere)(
  `an honest fix is verified with a go and its modules below the home folder (${note}, ${go.note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it('with a module in the cache and compiled packages', async () => {
      const root = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim();
      const own = path.join(shared.home, 'sdk/go');
      await mkdir(own, { recursive: true });
      // The programs are copied, so that go takes this for its folder; the sources of the library need not be.
      await cp(path.join(root, 'bin'), path.join(own, 'bin'), { recursive: true });
      for (const name of ['src', 'pkg', 'lib', 'go.env', 'VERSION']) await symlink(path.join(root, name), path.join(own, name));
      await cacheModule(shared);
      const searchPath = `${path.join(own, 'bin')}:${SYSTEM}`;
      const before = (folder: string): void => {
        const env = { PATH: searchPath, HOME: shared.home, GOPROXY: `file://${shared.folder}/proxy`, GOSUMDB: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod -modcacherw' };
        execFileSync('go', ['test', '-run', '^$', './...'], { cwd: folder, env, stdio: 'ignore' });
      };
      expectVerified(await judgeFix(shared, GO, { homeFolder: shared.home, searchPath, before }), GO);
    });
  },
);
