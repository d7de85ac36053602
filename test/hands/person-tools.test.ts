import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { MemoryBaseRunCache } from '../../backend/verify/judge/base-run-cache.ts';
import { Verifier } from '../../backend/verify/verify.ts';
import { tryProgram } from '../verify/runners/setup.ts';
import { signal, withHands } from './setup.ts';

const PYTHON = {
  'pyproject.toml': '[project]\nname = "shop"\nversion = "1"\n[tool.pytest.ini_options]\n',
  'src/shop/__init__.py': 'def total(*prices):\n    return sum(prices)\n',
  'calendar.py': 'WHERE = "of the project"\n',
  'tests/test_shop.py': 'from shop import total\n\ndef test_total():\n    assert total(1, 2) == 3\n',
};

const python = tryProgram('python3', '-m', 'venv', '--help');

describe.skipIf(!python.isHere)(`a command in a project with a Python environment, ${python.note}`, () => {
  it('runs with that environment, on the copy', async () => {
    const { workspace, open } = await withHands(PYTHON);
    await installInto(workspace);
    const copy = await open({ command: 'python3 -m pytest' });
    await copy.do({ kind: 'edit', path: 'src/shop/__init__.py', replacements: [{ search: 'sum(prices)', replace: 'sum(prices) + 40' }] }, signal);
    const run = async (command: string): Promise<string> => (await copy.do({ kind: 'run', command }, signal)).text;
    expect(await run('python -c "import shop, only_there; print(shop.total(1, only_there.ONE))"')).toContain('42');
    expect(await run('cd src && uv run python3 -c "import only_there; print(only_there.ONE + 6)"')).toContain('7');
    // As Python does it. The runner of tests alone is kept from the project's modules.
    expect(await run('python -c "import calendar; print(calendar.WHERE)"')).toContain('of the project');
    expect(await run('only-there')).toContain('a program of the environment');
    expect(copy.edits.map(({ path: file }) => file)).toEqual(['src/shop/__init__.py']);
  });

  it('does so where no tests are known, and of an agent', async () => {
    const { workspace, copies } = await withHands({ 'shop.py': 'ONE = 1\n', 'node_modules/.bin/node': '#!/bin/sh\n' });
    await installInto(workspace);
    const copy = await copies.open({ of: { base: workspace }, test: undefined, newTests: false }, signal);
    try {
      expect((await copy.do({ kind: 'run', command: 'python -c "import only_there, shop; print(only_there.ONE + shop.ONE)"' }, signal)).text).toContain('2');
      const place = await copy.lend(signal, () => undefined);
      expect(place.programFolders).toContain(path.join(workspace, '.venv/bin'));
      expect(place.readable).toContain(path.join(workspace, '.venv'));
      expect(place.programFolders.filter((folder) => folder.includes('node_modules'))).toEqual([]);
      await place.ended();
    } finally {
      await copy.release();
    }
  });
});

it.skipIf(!python.isHere)('tests and commands run with the environment that the person has chosen', async () => {
  const { workspace, home, pool, sandbox, folders } = await withHands({ 'shop.py': 'ONE = 1\n', 'test_shop.py': TEST_OF_ENVIRONMENT });
  const chosen = path.join(home, 'environments/chosen');
  await installInto(workspace, chosen);
  const told: string[] = [];
  const verifier = new Verifier({ sandbox, folders, copies: pool, baseRuns: new MemoryBaseRunCache(), python: (of) => {
    told.push(of);
    return Promise.resolve({ folder: chosen, isChosen: true });
  } });
  const tried = await verifier.tryTests({ base: workspace, command: 'python3 -m unittest', patch: { edits: [] }, signal });
  expect(tried.results).toMatchObject([{ id: 'test_shop.py > One > test_one', status: 'passed' }]);
  const around = await verifier.surroundings({ base: workspace, command: 'python3 -m unittest', signal }, { command: 'python x.py', copy: workspace, tools: home });
  expect(around.programFolders).toContain(path.join(chosen, 'bin'));
  expect(new Set(told)).toEqual(new Set([workspace]));
});

const TEST_OF_ENVIRONMENT = `import unittest
import only_there
import shop


class One(unittest.TestCase):
    def test_one(self):
        self.assertEqual(only_there.ONE, shop.ONE)
`;

/** An environment, by default in the workspace, with a module, a program, and the workspace itself as an editable install. */
async function installInto(workspace: string, folder = path.join(workspace, '.venv')): Promise<void> {
  execFileSync('python3', ['-m', 'venv', '--without-pip', folder]);
  const packages = globSync(path.join(folder, 'lib/python3*/site-packages'))[0] ?? '';
  await writeFile(path.join(packages, 'only_there.py'), 'ONE = 1\n');
  await writeFile(path.join(packages, '__editable__.shop.pth'), `${path.join(workspace, 'src')}\n`);
  await mkdir(path.join(folder, 'bin'), { recursive: true });
  await writeFile(path.join(folder, 'bin/only-there'), '#!/bin/sh\necho a program of the environment\n', { mode: 0o755 });
}
