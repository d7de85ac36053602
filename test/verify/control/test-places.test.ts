import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { placesOfTests } from '../../../backend/verify/control/test-places.ts';
import type { TestRunner } from '../../../backend/verify/runners/test-runner.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const FILES = {
  'go.mod': 'module example.com/mux\n',
  'route_test.go': 'package mux\n\nfunc helper() {}\n\n// TestMatch is about routes.\nfunc TestMatch(t *testing.T) {\n\tt.Run("no method", func(t *testing.T) {\n\t\tt.Fail()\n\t})\n}\n',
  'other_test.go': 'package mux\n\nfunc TestOther(t *testing.T) {}\n',
  'test_shapes.py': 'import pytest\n\n\nclass TestSquare:\n    def test_area(self):\n        assert area(2) == 4\n\n\n@pytest.mark.parametrize("n", [1, 2])\ndef test_side(n):\n    assert side(n)\n',
  'a.test.ts': 'it(\'adds\', () => {\n  expect(1).toBe(2);\n});\n\nit.each([1])(\'adds %i\', (n) => {\n  expect(n).toBe(2);\n});\n',
  'sums.cpp': 'TEST(Sums, Adds) {\n  EXPECT_EQ(1, 2);\n}\n',
};

const RUNNERS: Readonly<Record<string, Pick<TestRunner, 'name' | 'idRoot'>>> = {
  go: { name: 'go', idRoot: 'go package' }, pytest: { name: 'pytest', idRoot: 'file' }, vitest: { name: 'vitest', idRoot: 'file' },
};

it.each([
  ['go', 'example.com/mux > TestMatch', 'route_test.go', 6, 10],
  ['go', 'example.com/mux > TestMatch/no_method', 'route_test.go', 6, 10],
  ['pytest', 'test_shapes.py > TestSquare > test_area', 'test_shapes.py', 5, 6],
  ['pytest', 'test_shapes.py > test_side[1]', 'test_shapes.py', 10, 11],
  ['vitest', 'a.test.ts > adds', 'a.test.ts', 1, 3],
  ['vitest', 'a.test.ts', 'a.test.ts', 1, 8],
  ['vitest', 'sums.cpp > Adds', 'sums.cpp', 1, 1],
])('finds the lines of a test: %s, %s', async (runner, id, file, startLine, endLine) => {
  expect((await places(runner, [id])).get(id)).toEqual([{ path: file, startLine, endLine }]);
});

it.each([
  ['go', 'example.com/mux > TestGone'], ['go', 'example.com/elsewhere > TestMatch'], ['pytest', 'gone.py > test_area'], ['vitest', '../a.test.ts > adds'],
])('finds nothing: %s, %s', async (runner, id) => {
  expect((await places(runner, [id])).get(id)).toBeUndefined();
});

async function places(runner: string, ids: readonly string[]): ReturnType<typeof placesOfTests> {
  const folder = await temporaryFolder();
  for (const [file, text] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  return await placesOfTests({ folder, paths: new Set(Object.keys(FILES)), runner: RUNNERS[runner] as (typeof RUNNERS)[string], ids });
}
