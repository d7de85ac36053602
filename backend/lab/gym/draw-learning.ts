import { ROLES } from '../../simulator/roles.ts';
import { mean } from '../../train/statistics/statistics.ts';
import type { PlanEntry } from './plan-diary.ts';

/** The data of one training; steps count from 1. */
export interface LearningToDraw {
  /** Share of the rollouts of each step whose answer was verified. */
  readonly verified: readonly number[];
  /** Share of each step's texts that are valid plans. */
  readonly format: readonly number[];
  readonly plans: readonly PlanEntry[];
}

/** A reference line in the first chart. */
export interface Level {
  readonly name: string;
  readonly share: number;
}

const WIDTH = 1_200;
const HEIGHT = 780;
const FONT = 'font-family="system-ui, sans-serif"';
const INK = '#1f2328';
const FAINT = '#8b949e';
const GRID = '#e6e8eb';
/** Okabe and Ito's palette, which is distinguishable in print and for most colour-blind people. */
const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9'] as const;

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

type Place = (step: number, share: number) => string;

/**
 * An SVG with four charts: results at each step, lengths of plans, roles of steps, and the workers that write code for each kind of question, at
 * the start and at the end. Only the listed `workers` are drawn.
 */
export function drawLearning(trainings: readonly LearningToDraw[], levels: readonly Level[], workers: readonly string[]): string {
  const steps = Math.max(...trainings.map(({ verified }) => verified.length));
  const plans = trainings.flatMap((training) => training.plans);
  const lengths = windows(plans, steps).map((entries) => shares(sumRows(entries.map((entry) => entry.lengths))));
  const roles = windows(plans, steps).map((entries) => shares(ROLES.map((role) =>
    sum(entries.flatMap(({ workers }) => Object.values(workers[role]))))));
  const parts = [
    learningCurves({ x: 60, y: 70, width: 640, height: 300 }, trainings, levels, steps),
    stacked({ x: 60, y: 460, width: 290, height: 240 }, 'Steps of a plan', lengths[0]?.map((_, index) => String(index + 1)) ?? [], lengths, steps),
    stacked({ x: 410, y: 460, width: 290, height: 240 }, 'What steps do', ROLES, roles, steps),
    writersByKind({ x: 850, y: 70, width: 330, height: 300 }, 'Who writes, at the beginning', workers, plans.filter(({ step }) => step <= steps / 10)),
    writersByKind({ x: 850, y: 440, width: 330, height: 300 }, 'Who writes, at the end', workers, plans.filter(({ step }) => step > steps * 0.9)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}">` +
    `<rect width="100%" height="100%" fill="#ffffff"/>${parts.join('')}` +
    `${label(WIDTH - 20, HEIGHT - 12, 'Simulation: made-up workers on the tasks of the gym.', { anchor: 'end', fill: FAINT, size: 12 })}</svg>\n`;
}

function learningCurves(box: Box, trainings: readonly LearningToDraw[], levels: readonly Level[], steps: number): string {
  const at = placeIn(box, steps);
  const all = (pick: (training: LearningToDraw) => readonly number[]): number[] =>
    Array.from({ length: steps }, (_, step) => mean(trainings.flatMap((training) => pick(training)[step] ?? [])));
  const levelLines = levels.map(({ name, share }) =>
    `<path d="M${at(0, share)}L${at(steps, share)}" stroke="${FAINT}" stroke-dasharray="4 4" fill="none"/>` +
    label(box.x + box.width + 6, yOf(box, share) + 4, name, { size: 11, fill: FAINT }));
  return [
    axes(box, `Answers verified, ${trainings.length === 1 ? 'one training' : `${trainings.length} trainings`}`, steps),
    ...levelLines,
    ...trainings.map(({ verified }) => line(smoothed(verified), at, COLOURS[0], { width: 1, opacity: 0.35 })),
    line(smoothed(all(({ format }) => format)), at, COLOURS[1], { width: 1.5, opacity: 1 }),
    line(smoothed(all(({ verified }) => verified)), at, COLOURS[0], { width: 3, opacity: 1 }),
    legend(box.x + 10, box.y - 14, [['verified', COLOURS[0]], ['text is a plan', COLOURS[1]]]),
  ].join('');
}

/** Stacked shares over the steps; one row for each window. */
function stacked(box: Box, title: string, names: readonly string[], rows: readonly (readonly number[])[], steps: number): string {
  const at = placeIn(box, steps);
  const middle = (index: number): number => ((index + 0.5) * steps) / rows.length;
  const areas = names.map((_, layer) => {
    const below = rows.map((row) => sum(row.slice(0, layer)));
    const above = rows.map((row) => sum(row.slice(0, layer + 1)));
    const there = above.map((share, index) => at(middle(index), share));
    const back = below.map((share, index) => at(middle(index), share)).reverse();
    return `<path d="M${[...there, ...back].join('L')}Z" fill="${COLOURS[layer % COLOURS.length]}" fill-opacity="0.85"/>`;
  });
  const colours = names.map((name, layer): [string, string] => [name, COLOURS[layer % COLOURS.length] as string]);
  return axes(box, title, steps) + areas.join('') + legend(box.x + 10, box.y - 14, colours);
}

/** A circle for each kind of question and worker. Its size is the worker's share of written code. */
function writersByKind(box: Box, title: string, workers: readonly string[], plans: readonly PlanEntry[]): string {
  const kinds = writerShares(plans, workers);
  const left = 80;
  const cell = { width: (box.width - left) / Math.max(1, workers.length), height: (box.height - 30) / Math.max(1, kinds.length) };
  const x = (column: number): number => box.x + left + (column + 0.5) * cell.width;
  const y = (row: number): number => box.y + 30 + (row + 0.5) * cell.height;
  const largest = Math.min(cell.width, cell.height) / 2;
  return [
    label(box.x, box.y - 34, title, { size: 16, weight: 600 }),
    ...workers.map((worker, column) => label(x(column), box.y + 10, worker.replace(/^sim-/, ''), { anchor: 'middle', size: 12 })),
    ...kinds.flatMap(({ kind, shares }, row) => [
      label(box.x, y(row) + 4, kind, { size: 12 }),
      ...shares.map((share, column) =>
        `<circle cx="${round(x(column))}" cy="${round(y(row))}" r="${round(largest * Math.sqrt(share))}" fill="${COLOURS[0]}" fill-opacity="0.85"/>`),
    ]),
  ].join('');
}

/** For each kind of question, each worker's share of the written code. Other workers are left out. */
export function writerShares(plans: readonly PlanEntry[], workers: readonly string[]): { kind: string; shares: number[] }[] {
  const kinds = [...new Set(plans.map(({ kind }) => kind))].sort();
  return kinds.map((kind) => {
    const written = plans.filter((entry) => entry.kind === kind).map((entry) => entry.workers.write);
    return { kind, shares: shares(workers.map((worker) => sum(written.map((steps) => steps[worker] ?? 0)))) };
  });
}

function axes(box: Box, title: string, steps: number): string {
  const marks = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    `<path d="M${box.x} ${round(yOf(box, share))}h${box.width}" stroke="${GRID}"/>` +
    label(box.x - 8, yOf(box, share) + 4, `${100 * share} %`, { anchor: 'end', size: 11, fill: FAINT }));
  const ends = label(box.x, box.y + box.height + 18, 'step 1', { size: 11, fill: FAINT }) +
    label(box.x + box.width, box.y + box.height + 18, String(steps), { anchor: 'end', size: 11, fill: FAINT });
  return label(box.x, box.y - 34, title, { size: 16, weight: 600 }) + marks.join('') + ends;
}

function legend(x: number, y: number, entries: readonly (readonly [name: string, colour: string])[]): string {
  let at = x;
  return entries.map(([name, colour]) => {
    const entry = `<rect x="${at}" y="${y - 9}" width="10" height="10" fill="${colour}"/>${label(at + 15, y, name, { size: 12 })}`;
    at += 30 + name.length * 7;
    return entry;
  }).join('');
}

function label(
  x: number, y: number, text: string,
  { anchor = 'start', size, fill = INK, weight = 400 }: { anchor?: 'start' | 'middle' | 'end'; size: number; fill?: string; weight?: number },
): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" ${FONT} font-size="${size}" font-weight="${weight}" fill="${fill}">${text}</text>`;
}

const line = (values: readonly number[], at: Place, colour: string, { width, opacity }: { width: number; opacity: number }): string =>
  `<path d="M${values.map((share, index) => at(index + 1, share)).join('L')}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-opacity="${opacity}"/>`;

const placeIn = (box: Box, steps: number): Place => (step, share) => `${round(box.x + (box.width * step) / steps)} ${round(yOf(box, share))}`;
const yOf = (box: Box, share: number): number => box.y + box.height * (1 - share);
const round = (value: number): number => Math.round(value * 10) / 10;

/** A moving average, because a step has few questions of unequal difficulty. */
const smoothed = (values: readonly number[]): number[] => values.map((_, index) => mean(values.slice(Math.max(0, index - 4), index + 5)));

/** The number of equal parts of the training. */
const WINDOWS = 20;

const windows = (plans: readonly PlanEntry[], steps: number): (readonly PlanEntry[])[] =>
  Array.from({ length: WINDOWS }, (_, window) => plans.filter(({ step }) => Math.floor(((step - 1) * WINDOWS) / steps) === window))
    .filter((entries) => entries.length > 0);

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const sumRows = (rows: readonly (readonly number[])[]): number[] => (rows[0] ?? []).map((_, column) => sum(rows.map((row) => row[column] as number)));
const shares = (counts: readonly number[]): number[] => counts.map((count) => count / Math.max(1, sum(counts)));
