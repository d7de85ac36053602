import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const script = path.join(import.meta.dirname, '..', '..', '.ci', 'counts.mjs');
const root = path.join(import.meta.dirname, '..', '..');

const file = (name: string, tests: Readonly<Record<string, string>>, more: object = {}) => ({
  name: path.join(root, name), status: Object.values(tests).includes('failed') ? 'failed' : 'passed', message: '',
  assertionResults: Object.entries(tests).map(([fullName, status]) => ({ fullName, status, failureMessages: status === 'failed' ? [`Error: ${fullName}\n  at x`] : [] })),
  ...more,
});

/** What the script prints for these reports. */
async function printed(reports: readonly object[], options: readonly string[] = []): Promise<string[]> {
  const folder = await temporaryFolder();
  const paths = reports.map((_report, at) => path.join(folder, `${String(at)}.json`));
  await Promise.all(reports.map((report, at) => writeFile(paths[at] ?? '', JSON.stringify(report))));
  return spawnSync(process.execPath, [script, ...options, ...paths], { cwd: root, encoding: 'utf8' }).stdout.trimEnd().split('\n');
}

const first = { testResults: [
  file('a.test.ts', { one: 'passed', two: 'failed', three: 'pending' }),
  file('b.test.ts', { four: 'passed', five: 'todo' }),
  file('c.test.ts', {}, { status: 'failed', message: 'Cannot find module\nmore' }),
] };

describe('the counts of a report', () => {
  it('are those of its tests, and name what failed', async () => {
    expect(await printed([first])).toEqual(['2 2 2', 'a.test.ts > two: Error: two', 'c.test.ts: Cannot find module']);
    expect(await printed([first], ['--failed'])).toEqual([path.join(root, 'a.test.ts'), path.join(root, 'c.test.ts')]);
    expect(await printed([{ passed: 3, failed: 1, skipped: 2 }])).toEqual(['3 1 2']);
  });

  it('take the results of files that were run again', async () => {
    const again = { testResults: [file('a.test.ts', { one: 'passed', two: 'passed', three: 'pending' }), file('c.test.ts', { six: 'failed' })] };
    expect(await printed([first, again])).toEqual(['3 1 2', 'c.test.ts > six: Error: six']);
  });

  it.each([
    ['it ran no test', { testResults: [] }],
    ['it ran no test', { passed: 0, failed: 0, skipped: 4 }],
  ])('say: %s', async (said, report) => {
    expect(await printed([report])).toEqual([said]);
    expect(spawnSync(process.execPath, [script, 'nowhere.json'], { encoding: 'utf8' })).toMatchObject({ status: 1, stdout: 'it left no report\n' });
  });
});
