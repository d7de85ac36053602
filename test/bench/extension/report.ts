import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import path from 'node:path';

/** What a bench measured, by the name of the row. */
export type Rows = Readonly<Record<string, Readonly<Record<string, number | string>>>>;

const folder = path.resolve(import.meta.dirname, '../../e2e/artifacts/bench');

/**
 * Prints the table with the machine and the commit, and leaves the same with every single figure in test/e2e/artifacts/bench.
 * @param load the machine's at the beginning: at the end it would hold the bench itself
 */
export async function report(bench: string, { rows, figures, load }: { readonly rows: Rows; readonly figures: unknown; readonly load: number }): Promise<void> {
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, load ${load.toFixed(1)} at the beginning`;
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  console.log(`\n${machine}; ${commit}`);
  console.table(rows);
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, `${bench}.json`);
  await writeFile(file, `${JSON.stringify({ bench, machine, commit, rows, figures }, undefined, 2)}\n`);
  console.log(`All figures: ${path.relative(process.cwd(), file)}`);
}

/** Processes that want a core, over the last minute. */
export const loadNow = (): number => loadavg()[0] ?? Number.NaN;

/** Of an even number the lower one in the middle. */
export function median(figures: readonly number[]): number {
  return quantile(figures, 0.5);
}

/** The smallest figure that no fewer than `share` of all are below or at. */
export function quantile(figures: readonly number[], share: number): number {
  return figures.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * figures.length) - 1)] ?? Number.NaN;
}

/** By least squares: how much `y` grows when `x` grows by one. */
export function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))];
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  return points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread;
}

/** Milliseconds, or others, with one decimal. */
export const round = (figure: number): number => Math.round(figure * 10) / 10;
