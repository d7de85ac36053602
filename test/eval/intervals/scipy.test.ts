import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
/** PYTHON names an interpreter that has SciPy. */
const python = process.env['PYTHON'] ?? 'python3';
const hasSciPy = await run(python, ['-c', 'import scipy.stats']).then(() => true, () => false);
const fileBeside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

interface Figures {
  readonly tasks: readonly { interval: readonly number[] }[];
  readonly tasksAndSeeds: readonly { interval: readonly number[] }[];
  readonly pairs: readonly { pValue: number }[];
}

const numbersOf = ({ tasks, tasksAndSeeds, pairs }: Figures): number[] => [...tasks, ...tasksAndSeeds].flatMap(({ interval }) => interval).concat(pairs.map(({ pValue }) => pValue));

it.skipIf(!hasSciPy)(`figures.json is what figures.py prints (${hasSciPy ? 'compared' : `not tried, ${python} has no SciPy`})`, async () => {
  const { stdout } = await run(python, [fileBeside('figures.py')], { maxBuffer: 8 * 1024 ** 2 });
  const now = numbersOf(JSON.parse(stdout) as Figures);
  const committed = numbersOf(JSON.parse(await readFile(fileBeside('figures.json'), 'utf8')) as Figures);
  // Another version of NumPy may draw other resamples.
  expect(now).toEqual(committed.map((figure) => expect.closeTo(figure, 1) as number));
}, 120_000);
