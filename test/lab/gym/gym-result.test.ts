import { describe, expect, it } from 'vitest';
import { BASELINES } from '../../../backend/eval/contestant.ts';
import { drawLearning, writerShares } from '../../../backend/lab/gym/draw-learning.ts';
import { BEST_ALONE, standingsTable, withVariantsApart } from '../../../backend/eval/standings.ts';
import { CONDUCTOR, type GymResult, gymResultSchema, gymStandings, poolsTable, type TriedContestant } from '../../../backend/lab/gym/gym-result.ts';

const tried = (name: string, right: number, more: Partial<TriedContestant> = {}): TriedContestant =>
  ({ name, right: Array.from({ length: 10 }, (_, task) => (task < right ? 1 : 0)), costUsd: 0.002, ...more });

/** One training, in which so many of ten held-out tasks were answered right by each. */
function result(seed: number, conductor: number, alone: readonly number[]): GymResult {
  const fixed = [
    tried(CONDUCTOR.after, conductor, { formatRate: 0.9 }), tried(`${CONDUCTOR.after}, no step reads anything`, 4), tried(BASELINES.random, 2), tried(BASELINES.oracle, 8),
    ...alone.map((right, worker) => tried(`w${worker} alone`, right)),
  ];
  const workers = { plan: { w0: 1 }, write: { w0: 3, w1: 1, drawn: 4 }, check: {} };
  return gymResultSchema.parse({
    simulation: true, seed, options: {}, heldOut: Array.from({ length: 10 }, () => 'reverse-words'), pools: { fixed, unseen: [] },
    metrics: [{ verified_rate: 0.25, format_rate: 0.5 }, { verified_rate: 0.5, format_rate: 1 }],
    plans: [1, 2].map((step) => ({ step, kind: 'strings', sampled: 4, lengths: [1, 2, 0, 0, 0], workers })),
  });
}

describe('results of trainings on the gym', () => {
  const standings = gymStandings([result(1, 5, [3, 4]), result(2, 7, [6, 4])], 'fixed');
  const of = (name: string) => standings.find((standing) => standing.name === name)!;

  it('are averaged over the trainings, the best first', () => {
    expect(of(CONDUCTOR.after)).toMatchObject({ right: { mean: 0.6 }, costUsd: 0.002, formatRate: 0.9 });
    expect(of(CONDUCTOR.after).right.low).toBeLessThan(0.6);
    expect(standings[0]!.name).toBe(BASELINES.oracle);
  });

  it('have the best worker alone of each training, whoever it was', () => {
    expect(of(BEST_ALONE).right.mean).toBeCloseTo((4 + 6) / 20);
  });

  it('say how far the way from random plans to the oracle was gone', () => {
    const { contestants } = withVariantsApart(standings);
    const row = rowsOf(standingsTable(contestants)).find(({ contestant }) => contestant === CONDUCTOR.after);
    expect(row?.['way from random to oracle']).toBeCloseTo((100 * (0.6 - 0.2)) / (0.8 - 0.2), 0);
    expect(row).toMatchObject({ right: 60, '$ per 1,000 tasks': 2, 'texts that are plans': 90 });
  });
});

describe('plans with something taken away', () => {
  const standings = gymStandings([result(1, 5, [3, 4])], 'fixed');
  const { contestants, variants } = withVariantsApart(standings);

  it('stand apart from those who took part', () => {
    expect(variants.map(({ name }) => name)).toEqual(['Conductor, no step reads anything']);
    expect(contestants.map(({ name }) => name)).toContain(BEST_ALONE);
    expect(contestants).toHaveLength(standings.length - 1);
  });

  it('are measured by the same way from random plans to the oracle', () => {
    const [row] = rowsOf(standingsTable(variants, standings));
    expect(row).toMatchObject({ contestant: 'Conductor, no step reads anything', right: 40 });
    expect(row?.['way from random to oracle']).toBeCloseTo((100 * (0.4 - 0.2)) / (0.8 - 0.2), 0);
  });
});

it('tells what trainings for other pools came to', () => {
  const table = poolsTable([{ ...result(1, 5, [3]), options: { pools: 'fixed' } }, { ...result(1, 7, [3]), options: { pools: 'both' } }]);
  expect(rowsOf(table)).toMatchObject([
    { 'trained for': 'fixed', seed: 1, 'right, fixed pool': 50 },
    { 'trained for': 'both', seed: 1, 'right, fixed pool': 70 },
  ]);
});

describe('the picture of trainings on the gym', () => {
  const trainings = [result(1, 5, [3]), result(2, 7, [6])].map(({ metrics, plans }) => ({
    verified: metrics.map(({ verified_rate }) => verified_rate!), format: metrics.map(({ format_rate }) => format_rate!), plans,
  }));
  const svg = drawLearning(trainings, [{ name: 'oracle', share: 0.8 }], ['w0', 'w1']);

  it('is whole, and says that it is of a simulation', () => {
    expect(isWellFormed(svg)).toBe(true);
    expect(svg).not.toMatch(/NaN|undefined/);
    expect(svg).toMatch(/Simulation/);
    expect(svg).toMatch(/Answers verified, 2 trainings/);
  });

  it('names each kind of question and worker, and no worker that was drawn', () => {
    expect(textsOf(svg)).toEqual(expect.arrayContaining(['strings', 'w0', 'w1']));
    expect(textsOf(svg)).not.toContain('drawn');
  });

  it('has a larger circle for the worker who wrote more', () => {
    const radii = [...svg.matchAll(/<circle [^>]*r="([\d.]+)"/g)].map(([, radius]) => Number(radius));
    // The last two are of the end of the training: w0 and w1.
    const [often, seldom] = radii.slice(-2);
    expect(often).toBeGreaterThan(seldom!);
    expect(seldom).toBeGreaterThan(0);
  });
});

it('counts who writes the code of each kind of question, among the workers that are named', () => {
  const entry = (kind: string, write: Record<string, number>) =>
    ({ step: 1, kind, sampled: 1, lengths: [1, 0, 0, 0, 0], workers: { plan: { w1: 9 }, write, check: {} } });
  const plans = [entry('strings', { w0: 1, w1: 1, drawn: 4 }), entry('lists', { w1: 2 }), entry('strings', { w0: 2 })];
  expect(writerShares(plans, ['w0', 'w1'])).toEqual([{ kind: 'lists', shares: [0, 1] }, { kind: 'strings', shares: [0.75, 0.25] }]);
});

/** The rows of a Markdown table by the names of their columns, figures as numbers. */
function rowsOf(table: string): Record<string, string | number>[] {
  const [head = [], , ...rows] = table.trim().split('\n').map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
  const valueOf = (cell: string): string | number => (/^[\d.]+( %)?$/.test(cell) ? Number.parseFloat(cell) : cell);
  return rows.map((cells) => Object.fromEntries(cells.map((cell, column) => [head[column], valueOf(cell)])));
}

const textsOf = (svg: string): string[] => [...svg.matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text as string);

/** Every element that is opened is closed, in order. */
function isWellFormed(xml: string): boolean {
  const open: string[] = [];
  return [...xml.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)].every(([, closes, name, isEmpty]) => {
    if (closes) return open.pop() === name;
    if (!isEmpty) open.push(name as string);
    return true;
  }) && open.length === 0;
}
