import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const installed = (name: string): string => path.dirname(require.resolve(`${name}/package.json`));

/** What a question in a flow may be about. */
export interface FlowBug {
  /** The file with the bug and the one with its tests, relative to the project. */
  readonly path: string;
  readonly testPath: string;
  /** The file as it should be. */
  readonly correctSource: string;
  /** The question that reports the bug. */
  readonly question: string;
}

/** The line that stops at the depth that was asked for, and what the project has instead. */
const RIGHT_DEPTH = 'currentDepth < maxDepth';
const WRONG_DEPTH = 'currentDepth <= maxDepth';

/**
 * The published package `flat` with its own tests, as somebody has it who has cloned and installed it, and with one bug that these tests
 * see.
 */
export async function writeFlatProject(folder: string): Promise<FlowBug> {
  await cp(installed('flat'), folder, { recursive: true });
  const correctSource = await readFile(path.join(folder, 'index.js'), 'utf8');
  await replaceIn(path.join(folder, 'index.js'), RIGHT_DEPTH, WRONG_DEPTH);
  // Its linter is not installed here.
  await replaceIn(path.join(folder, 'package.json'), / && standard [^"]*/, '');
  const modules = path.join(folder, 'node_modules');
  await mkdir(path.join(modules, '.bin'), { recursive: true });
  await symlink(installed('mocha'), path.join(modules, 'mocha'));
  await symlink('../mocha/bin/mocha.js', path.join(modules, '.bin', 'mocha'));
  return { path: 'index.js', testPath: 'test/test.js', correctSource, question: 'flatten() with maxDepth: 2 goes one level too deep. Fix it.' };
}

/** Writes the test of an option that `flatten` does not have, as somebody does who writes tests first. */
export async function writeTestOfSkipEmpty(folder: string): Promise<void> {
  await replaceIn(path.join(folder, 'test', 'test.js'), "suite('Unflatten', function () {", `suite('Skip Empty', function () {
  test('Leaves out keys whose value is empty', function () {
    assert.deepStrictEqual(flatten({ name: 'flat', tags: [], meta: { none: {}, one: 1 } }, { skipEmpty: true }), {
      name: 'flat',
      'meta.one': 1
    })
  })
})

suite('Unflatten', function () {`);
}

/** @throws Error where the file does not hold it once: the package is another one than this was written for. */
async function replaceIn(file: string, before: string | RegExp, after: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  if (text.split(before).length !== 2) throw new Error(`${file} does not hold ${String(before)} once.`);
  await writeFile(file, text.replace(before, () => after));
}
