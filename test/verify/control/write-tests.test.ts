import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { writeTests } from '../../../backend/verify/control/write-tests.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const FILES = { 'src/a.py': 'one\n', 'tests/test_a.py': 'two\n', 'tests/test_b.py': 'three \u00e9\n' };

it('writes the files of tests, altered or not, and leaves nothing by which the two could be told apart', async () => {
  const [plain, altered] = [await written(new Map()), await written(new Map([['tests/test_b.py', 'six']]))];
  expect(plain.texts).toEqual(Object.values(FILES));
  expect(altered.texts).toEqual([FILES['src/a.py'], FILES['tests/test_a.py'], 'six']);
  for (const { times, changes } of [plain, altered]) {
    // The patched file, the tests and all folders around them.
    expect(new Set(times).size).toBe(1);
    expect(changes).toEqual(changes.toSorted());
  }
});

async function written(texts: ReadonlyMap<string, string>) {
  const folder = await temporaryFolder();
  for (const [file, text] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
    await utimes(path.join(folder, file), 1, 1);
  }
  const ids = ['tests/test_a.py > a', 'tests/test_b.py > b', 'tests/test_gone.py > c'];
  await writeTests({ folder, paths: new Set([...Object.keys(FILES), 'tests/test_gone.py']), runner: { name: 'pytest', idRoot: 'file' }, ids }, texts, ['src/a.py', 'gone/b.py']);
  const found = await Promise.all(['src', 'tests', ...Object.keys(FILES)].map((file) => stat(path.join(folder, file), { bigint: true })));
  const inOrder = await Promise.all(['src', 'src/a.py', 'tests', 'tests/test_a.py', 'tests/test_b.py'].map((file) => stat(path.join(folder, file), { bigint: true })));
  return {
    texts: await Promise.all(Object.keys(FILES).map((file) => readFile(path.join(folder, file), 'utf8'))),
    times: found.map(({ mtimeNs }) => mtimeNs),
    changes: inOrder.map(({ ctimeNs }) => String(ctimeNs)),
  };
}
