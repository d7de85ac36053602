import { describe, expect, it } from 'vitest';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { tryProgram } from './runners/setup.ts';
import { makeScratch, trySandbox } from './setup.ts';

const { available, note } = await trySandbox();

const pytest = tryProgram('python3', '-m', 'pytest', '--version');

const PROJECT = {
  'package.json': JSON.stringify({ name: 'sample', type: 'module', scripts: { test: 'node --test' } }),
  'src/list.js': 'export const first = (list) => list[0];\nexport const last = (list) => list[list.length];\n',
  'test/list.test.js': `import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { first, last } from '../src/list.js';

describe('list', () => {
  it('finds the first', () => assert.equal(first([1, 2, 3]), 1));
  it('finds the last', () => {
    const found = last([1, 2, 3]);
    assert.equal(found, 3);
  });
});
`,
};
const FIX = '**src/list.js**\n```js\nexport const first = (list) => list[0];\nexport const last = (list) => list[list.length - 1];\n```\n';

const options = (base: string, signal = new AbortController().signal) => ({ base, command: 'node --test', signal, timeoutMs: 60_000 });

describe.skipIf(!available)(`the tests on the code as it is (${note})`, { timeout: 120_000 }, () => {
  it('name what fails, with its message and the lines of its source', async () => {
    await using scratch = await makeScratch();
    const result = await scratch.verifier.testBase(options(await scratch.project(PROJECT)));
    expect(result).toMatchObject({ total: 2, failed: 1, flaky: 0 });
    expect(result.problem).toBeUndefined();
    expect(result.failing).toMatchObject([{
      id: 'test/list.test.js > list > finds the last', message: expect.stringContaining('undefined'),
      places: [{ path: 'test/list.test.js', startLine: 7, endLine: 10 }],
    }]);
  });

  it('are those that count: what is left out is only counted', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    expect(await scratch.verifier.testBase({ ...options(base), leaveOut: 'failed before' })).toMatchObject({ total: 1, failed: 0, leftOut: 1, failing: [] });
    expect(await scratch.verifier.testBase({ ...options(base), leaveOut: ['test/list.test.js > list > finds the first'] })).not.toHaveProperty('leftOut');
  });

  it('count a file that cannot be loaded', async () => {
    await using scratch = await makeScratch();
    const result = await scratch.verifier.testBase(options(await scratch.project({ ...PROJECT, 'test/late.test.js': "import '../src/not-there.js';\n" })));
    expect(result).toMatchObject({ total: 3, failed: 2 });
  });

  it.skipIf(!pytest.isHere)(`say that the project is not installed, and run again once it is (${pytest.note})`, async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({
      'pyproject.toml': '[project]\nname = "shop"\nversion = "1"\ndependencies = ["not-there-yet"]\n',
      'shop.py': 'import not_there_yet\n\ndef total(prices):\n    return 0\n',
      'test_shop.py': 'from shop import total\n\ndef test_total():\n    assert total([1, 2]) == 3\n',
    });
    const asked = { ...options(base), command: 'python3 -m pytest' };
    expect(await scratch.verifier.testBase(asked)).toMatchObject({ total: 0, problem: expect.stringContaining('not_there_yet is not installed') });
    const patch = await parsePatch('**shop.py**\n```python\nimport not_there_yet\n\ndef total(prices):\n    return sum(prices)\n```\n', base);
    expect(await scratch.verifier.verify({ ...asked, patch })).toMatchObject({ outcome: 'infrastructure', reason: expect.stringContaining('not_there_yet is not installed') });
    await scratch.project({ 'not_there_yet.py': '' });
    expect(await scratch.verifier.verify({ ...asked, patch })).toMatchObject({ verified: true });
  });

  it('are not run again for the verdict, and are when the workspace has changed meanwhile', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const asked: string[] = [];
    const get = scratch.baseRuns.get.bind(scratch.baseRuns);
    scratch.baseRuns.get = (key, signal, make) => get(key, signal, () => {
      asked.push(key);
      return make();
    });
    await scratch.verifier.testBase(options(base));
    const patch = await parsePatch(FIX, base);
    const made = asked.length;
    expect(await scratch.verifier.verify({ ...options(base), patch })).toMatchObject({ verified: true });
    expect(asked).toHaveLength(made);
    await scratch.project({ 'src/more.js': 'export const more = 1;\n' });
    expect(await scratch.verifier.verify({ ...options(base), patch })).toMatchObject({ verified: true });
    expect(new Set(asked).size).toBe(2 * made);
  });

  it('are joined by a verdict that comes while they run, and are made anew by it when they are given up', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const patch = await parsePatch(FIX, base);
    const [result, verdict] = await Promise.all([scratch.verifier.testBase(options(base)), scratch.verifier.verify({ ...options(base), patch })]);
    expect([result.failed, verdict.verified]).toEqual([1, true]);

    await using other = await makeScratch();
    const again = await other.project(PROJECT);
    const controller = new AbortController();
    // Whichever of the two makes the run: that is left to chance.
    const onProgress = (step: string): void => void (step.startsWith('running') && controller.abort(new Error('over')));
    const given = other.verifier.testBase({ ...options(again, controller.signal), onProgress });
    const judged = other.verifier.verify({ ...options(again), patch: await parsePatch(FIX, again), onProgress });
    await expect(given).rejects.toThrow('over');
    expect(await judged).toMatchObject({ verified: true });
  });

  it('say why there is no result', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ ...PROJECT, 'test/list.test.js': 'export {};\n' });
    expect(await scratch.verifier.testBase({ ...options(base), runner: 'pitest' })).toMatchObject({ total: 0, failed: 0, problem: expect.stringContaining('cannot be read') });
    expect(await scratch.verifier.testBase({ ...options(base), command: './no-such-program' })).toMatchObject({ total: 0, failed: 0, problem: expect.stringContaining('could not be started') });
    expect(await scratch.verifier.testBase({ ...options(base), command: 'npm run no-such-script' })).toMatchObject({
      total: 0, failed: 0, problem: expect.stringMatching(/could not be started.*Missing script: "no-such-script".*Name a script that package\.json has/s),
    });
    const killed = { ...PROJECT, 'test/list.test.js': 'process.kill(process.pid, "SIGKILL");\n' };
    expect(await scratch.verifier.testBase(options(await scratch.project(killed, 'killed')))).not.toMatchObject({ failed: 0, problem: undefined });
  });
});
