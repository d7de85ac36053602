import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { MemoryBaseRunCache } from '../../backend/verify/judge/base-run-cache.ts';
import { Verifier } from '../../backend/verify/verify.ts';
import { tryProgram } from './runners/setup.ts';
import { makeScratch, trySandbox, type Scratch } from './setup.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '--version');
const pytest = tryProgram('python3', '-m', 'pytest', '--version');
const { signal } = new AbortController();

const PRICES = `import subprocess
import sys

RATE = 2


def total(rows):
    found = 0
    for row in rows:
        found += row * RATE
    return found


def largest(rows):
    best = max(rows)
    return best


def unused(rows):
    rows = list(rows)
    return rows


def printed(text):
    command = [sys.executable, "-c", "from shop.prices import shout; shout(%r)" % text]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def shout(text):
    text = text.upper()
    print(text)
`;
const TESTS = `import time
import unittest

from shop.prices import largest, printed, total


class Totals(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(total([1, 2]), 6)

    def test_adds_nothing(self):
        self.assertEqual(total([]), 0)


class Others(unittest.TestCase):
    def test_finds_something(self):
        self.assertIn(largest([3, 4]), (3, 4))

    def test_waits(self):
        time.sleep(2)


class Programs(unittest.TestCase):
    def test_prints(self):
        self.assertEqual(printed("a").strip(), "A")
`;
const FILES = { 'shop/__init__.py': '', 'shop/prices.py': PRICES, 'tests/__init__.py': '', 'tests/test_prices.py': TESTS };
const id = (...names: string[]): string => ['tests/test_prices.py', ...names].join(' > ');

/** What each run was told: which tests, if not all, and whether to tell its coverage. */
function watched({ sandbox, folders, copies }: Scratch, isLong = true): { verifier: Verifier; runs: () => readonly string[] } {
  const runs: string[] = [];
  const verifier = new Verifier({
    sandbox: {
      pinnedImage: (image) => sandbox.pinnedImage(image),
      run: async (command) => {
        const text = await readFile(path.join(command.readable?.[0] ?? '', 'python/conductor_coverage.py'), 'utf8').catch(() => undefined);
        const only = /^ONLY = json.loads\((.*)\)$/m.exec(text ?? '')?.[1];
        const keys = only === undefined ? null : (JSON.parse(JSON.parse(only) as string) as string[] | null);
        if (text !== undefined) runs.push(keys ? keys.map((key) => /\w+$/.exec(key)?.[0]).toSorted().join() : text.includes('DESTINATION = json.loads("null")') ? 'all' : 'covered');
        return await sandbox.run(command);
      },
    },
    folders, copies, baseRuns: new MemoryBaseRunCache(), paysToRunFirst: () => isLong,
  });
  return { verifier, runs: () => runs.splice(0) };
}

describe.skipIf(!available || !python.isHere).each([
  ['unittest', 'python3 -m unittest', true],
  ['pytest', 'python3 -m pytest', pytest.isHere],
])(`tests that call a function (${note}; ${python.note}; %s)`, { timeout: 240_000 }, (_, command, isHere) => {
  it.skipIf(!isHere)('try a bug in it by themselves, and admit it with one run of all tests', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(FILES);
    const { verifier, runs } = watched(scratch);
    const edit = (from: string, to: string) => ({ path: 'shop/prices.py', kind: 'modify' as const, before: PRICES, after: PRICES.replace(from, to) });
    const notices = (from: string, to: string) => verifier.notices({ base, baseEdits: [edit(from, to)], command, signal });

    // A test that starts a program may call anything by it.
    expect(await notices('rows = list(rows)', 'rows = tuple(rows)')).toEqual({ state: 'unnoticed', reason: 'None of the tests that reach it notices it.' });
    expect(runs()).toEqual(['all', 'all', 'covered', 'test_prints']);
    expect(await notices('best = max(rows)', 'best = min(rows)')).toEqual({ state: 'unnoticed', reason: 'None of the tests that reach it notices it.' });
    expect(runs()).toEqual(['test_finds_something,test_prints']);
    expect(await notices('text = text.upper()', 'text = text.lower()')).toEqual({ state: 'noticed' });
    expect(runs()).toEqual(['test_prints', 'all', 'test_prints']);
    expect(await notices('RATE = 2', 'RATE = 3')).toEqual({ state: 'noticed' });
    expect(runs()).toEqual(['all']);

    const bug = edit('found += row', 'found -= row');
    expect(await notices('found += row', 'found -= row')).toEqual({ state: 'noticed' });
    const some = 'test_adds,test_adds_nothing,test_prints';
    // With the bug, then without it: they end by themselves as among all tests.
    expect(runs()).toEqual([some, 'all', some]);
    const patch = { edits: [{ ...bug, before: bug.after, after: bug.before }], refused: [] };
    const verdict = await verifier.verify({ base, baseEdits: [bug], patch, command, signal });
    expect(verdict).toMatchObject({ outcome: 'verified', reason: '1 test that failed before passed, and 4 tests that passed still did.' });
    expect(verdict.tests.find(({ before }) => before === 'failed')?.id).toBe(id('Totals', 'test_adds'));
    // Both runs with the bug and both without it are there; the negative control is left.
    expect(runs()).toEqual([some]);
  });

  it.skipIf(!isHere)('refute a wrong answer to a bug by themselves', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(FILES);
    const { verifier, runs } = watched(scratch);
    const bug = { path: 'shop/prices.py', kind: 'modify' as const, before: PRICES, after: PRICES.replace('found += row', 'found -= row') };
    const answered = async (to: string) => {
      const patch = { edits: [{ ...bug, before: bug.after, after: bug.before.replace('found += row', to) }], refused: [] };
      return (await verifier.verify({ base, baseEdits: [bug], patch, command, signal })).outcome;
    };
    const some = 'test_adds,test_adds_nothing,test_prints';
    expect(await answered('found += 2 + row')).toBe('failed');
    // The base twice, the coverage of the workspace, and the tests alone without and with the answer.
    expect(runs()).toEqual(['all', 'all', 'covered', some, some]);
    expect(await answered('found += 3 + row')).toBe('failed');
    expect(runs()).toEqual([some]);
    expect(await answered('found += 0 + row')).toBe('verified');
    expect(runs()).toEqual([some, 'all', 'all', 'all']);
  });

  it.skipIf(!isHere)('are not told where a program is started before any test; all tests are run then', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ ...FILES, 'tests/__init__.py': 'import subprocess\nsubprocess.run(["true"])\n' });
    const { verifier, runs } = watched(scratch);
    const baseEdits = [{ path: 'shop/prices.py', kind: 'modify' as const, before: PRICES, after: PRICES.replace('rows = list(rows)', 'rows = tuple(rows)') }];
    expect(await verifier.notices({ base, baseEdits, command, signal })).toEqual({ state: 'unnoticed', reason: 'No test notices it.' });
    expect(runs()).toEqual(['all', 'all', 'covered', 'all']);
  });

  it.skipIf(!isHere)('are none for what no test calls: it is rejected without a run, however short all are', async () => {
    await using scratch = await makeScratch();
    const others = TESTS.slice(0, TESTS.indexOf('class Programs'));
    const base = await scratch.project({ ...FILES, 'tests/test_prices.py': others, 'setup.py': 'import sys\n\nprint(sys.argv)\n' });
    const { verifier, runs } = watched(scratch, false);
    const notices = (file: string, before: string, after: string) => verifier.notices({ base, baseEdits: [{ path: file, kind: 'modify', before, after }], command, signal });
    expect(await notices('shop/prices.py', PRICES, PRICES.replace('text.upper()', 'text.lower()'))).toEqual({ state: 'unnoticed', reason: 'No test reaches it.' });
    expect(runs()).toEqual(['all', 'all', 'covered']);
    expect(await notices('setup.py', 'import sys\n\nprint(sys.argv)\n', 'import sys\n\nprint(sys.path)\n')).toEqual({ state: 'unnoticed', reason: 'No test reaches it.' });
    expect(runs()).toEqual([]);
    expect(await notices('shop/prices.py', PRICES, PRICES.replace('best = max(rows)', 'best = min(rows)'))).toEqual({ state: 'unnoticed', reason: 'No test notices it.' });
    expect(runs()).toEqual(['all']);
  });
});
