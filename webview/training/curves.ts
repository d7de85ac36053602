import * as l10n from '@vscode/l10n';
import { formatTokens, formatUsd } from '../../backend/protocol/figures.ts';
import type { Training } from '../../backend/protocol/training.ts';

/*
 * The curves of a training's metrics, with TRL's metric names where TRL has one.
 */

export interface Curve {
  readonly name: string;
  /** An explanation for users without training experience. */
  readonly meaning: string;
  /** One value per step; undefined if the step has none, such as the entropy of a step without an update. */
  readonly values: readonly (number | undefined)[];
  /** The minimum and maximum of the samples whose mean is in `values`. */
  readonly spread?: readonly (readonly [number, number] | undefined)[] | undefined;
  /** The minimum range of the axis. */
  readonly span: readonly [number, number];
  readonly format: (value: number) => string;
}

interface Row extends Omit<Curve, 'values' | 'spread'> {
  readonly metric: string;
  readonly spread?: readonly [string, string];
}

export const percent = (share: number): string => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
const decimal = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));
export const SHARE = { span: [0, 1], format: percent } as const;

const rows = (): readonly Row[] => [
  { metric: 'reward', name: l10n.t('Reward'), meaning: l10n.t('mean over the plans of a step'), span: [0, 1], format: (value) => value.toFixed(3) },
  { metric: 'verified_rate', name: l10n.t('Verified'), meaning: l10n.t('plans whose answer is verified'), ...SHARE },
  { metric: 'format_rate', name: l10n.t('Plans that parse'), meaning: l10n.t('plans with a valid format'), ...SHARE },
  {
    metric: 'completions/mean_length', name: l10n.t('Length'), meaning: l10n.t('tokens of a plan: mean, shortest and longest'), span: [0, 1],
    format: (tokens) => formatTokens(Math.round(tokens)), spread: ['completions/min_length', 'completions/max_length'],
  },
  { metric: 'completions/clipped_ratio', name: l10n.t('Cut off'), meaning: l10n.t('plans that were longer than allowed'), ...SHARE },
  { metric: 'entropy', name: l10n.t('Entropy'), meaning: l10n.t('how evenly the Conductor spreads probability over tokens'), span: [0, 0], format: decimal },
  { metric: 'clip_ratio/region_mean', name: l10n.t('Clip fraction'), meaning: l10n.t('tokens whose update was clipped'), span: [0, 0.1], format: percent },
  { metric: 'kl', name: l10n.t('Divergence'), meaning: l10n.t('from the model without its adapter'), span: [0, 0], format: decimal },
  { metric: 'grad_norm', name: l10n.t('Gradient'), meaning: l10n.t('norm, before clipping'), span: [0, 0], format: decimal },
];

/** The curves that have measured values. */
export function curvesOf({ metrics }: Pick<Training, 'metrics'>): readonly Curve[] {
  const valuesOf = (metric: string): (number | undefined)[] => metrics.map((values) => finite(values[metric]));
  const measured = rows().flatMap(({ metric, spread, ...row }): Curve[] => {
    const values = valuesOf(metric);
    if (!values.some((value) => value !== undefined)) return [];
    const [low, high] = spread ? [valuesOf(spread[0]), valuesOf(spread[1])] : [];
    const between = low && high && low.map((value, index): readonly [number, number] | undefined => {
      const top = high[index];
      return value === undefined || top === undefined ? undefined : [value, top];
    });
    return [{ ...row, values, spread: between }];
  });
  const costs = valuesOf('cost_usd');
  if (!costs.some((cost) => cost !== undefined)) return measured;
  let sum = 0;
  const spent = costs.map((cost) => (sum += cost ?? 0));
  return [...measured, {
    name: l10n.t('Cost of plans'), meaning: l10n.t('all steps so far; a step that plans share counts in each'), span: [0, 0], format: formatUsd, values: spent,
  }];
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

/** The range of the axis: all values and spreads, and at least `span`. Never empty. */
export function extentOf({ values, spread, span }: Curve): readonly [number, number] {
  let [low, high] = span;
  for (const value of [...values, ...(spread ?? []).flat()]) {
    if (value === undefined) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high > low ? [low, high] : [low, low + 1];
}

export interface PlotSize {
  readonly width: number;
  readonly height: number;
}

/** The most points to draw: more than a side panel has pixels. */
const MAX_POINTS = 600;

/** The SVG path of a curve. Steps without a value interrupt it. A single step is drawn as a short dash, so that it is visible. */
export function pathOf(curve: Curve, { width, height }: PlotSize): string {
  const { values } = curve;
  const place = placer(curve, { width, height });
  const stride = Math.max(1, Math.ceil(values.length / MAX_POINTS));
  let path = '';
  let isDrawing = false;
  for (const [index, value] of values.entries()) {
    if (index % stride !== 0 && index !== values.length - 1) continue;
    if (value === undefined) {
      isDrawing = false;
      continue;
    }
    const [x, y] = place(index, value);
    const isAlone = !isDrawing && values[index + stride] === undefined;
    path += isAlone ? `M${round(Math.min(width - 6, Math.max(0, x - 3)))} ${round(y)}h6` : `${isDrawing ? 'L' : 'M'}${round(x)} ${round(y)}`;
    isDrawing = true;
  }
  return path;
}

/** The area between minimum and maximum; empty if the curve has none. */
export function bandOf(curve: Curve, size: PlotSize): string {
  const place = placer(curve, size);
  const known = (curve.spread ?? []).flatMap((one, index) => (one ? [{ index, low: one[0], high: one[1] }] : []));
  if (known.length < 2) return '';
  const stride = Math.max(1, Math.ceil(known.length / MAX_POINTS));
  const drawn = known.filter((_, index) => index % stride === 0 || index === known.length - 1);
  const points = [...drawn.map(({ index, high }) => place(index, high)), ...drawn.toReversed().map(({ index, low }) => place(index, low))];
  return `M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join('L')}Z`;
}

/** The horizontal position of a step, in the plot's units. */
export function xOf(index: number, steps: number, { width }: PlotSize): number {
  return steps < 2 ? width / 2 : (index / (steps - 1)) * width;
}

function placer(curve: Curve, size: PlotSize): (index: number, value: number) => readonly [number, number] {
  const [low, high] = extentOf(curve);
  return (index, value) => [xOf(index, curve.values.length, size), size.height * (1 - (value - low) / (high - low))];
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** A text alternative for screen readers. */
export function describe({ name, meaning, values, format }: Curve): string {
  const known = values.filter((value) => value !== undefined);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return l10n.t('{0}, {1}: nothing measured.', name, meaning);
  const [least, most] = known.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [first, first]);
  const figures = [first, last, least, most].map(format);
  return values.length === 1
    ? l10n.t('{0}, over 1 step: from {1} to {2}, between {3} and {4}.', meaning, ...figures)
    : l10n.t('{0}, over {5} steps: from {1} to {2}, between {3} and {4}.', meaning, ...figures, values.length);
}
