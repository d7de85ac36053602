import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Workbench } from '../harness/workbench.ts';

const BROKEN = 'import only_there\n\n\ndef total(a, b):\n    return a - b * only_there.ONE\n';
const MENDED = BROKEN.replace('a - b', 'a + b');

describe('a project of Python', () => {
  let workbench: Workbench;
  let folder: string;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-python-')));
    const environment = path.join(folder, 'environment');
    execFileSync('python3', ['-m', 'venv', '--without-pip', environment]);
    await writeFile(path.join(globSync(path.join(environment, 'lib/python3*/site-packages'))[0] ?? '', 'only_there.py'), 'ONE = 1\n');
    workbench = await Workbench.start({
      latency: 0,
      settings: { 'conductor.rounds': 1, 'python.defaultInterpreterPath': path.join(environment, 'bin/python') },
      writeProject: async (project) => {
        await mkdir(project, { recursive: true });
        await writeFile(path.join(project, 'shop.py'), BROKEN);
        await writeFile(path.join(project, 'test_shop.py'), 'import unittest\nfrom shop import total\n\n\nclass Total(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total(1, 2), 3)\n');
        return { path: 'shop.py', testPath: 'test_shop.py', correctSource: MENDED, question: 'total(1, 2) should be 3.' };
      },
      rule: () => `\`\`\`python shop.py\n${MENDED}\`\`\`\n`,
    });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(async () => {
    await workbench?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('is judged with the environment that the person has chosen', async () => {
    const { window, panel } = workbench;
    await window.runCommand('Conductor: Show Panel');
    await workbench.solve();
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).toContain('Verified 1 of 1');
  });
});
