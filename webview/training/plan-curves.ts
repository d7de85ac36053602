import * as l10n from '@vscode/l10n';
import { kindsIn, PLAN_SHAPES, planMetric, tellsPlans, workerShares, type Metrics, type PlanShape } from '../../backend/protocol/plan-metrics.ts';
import { percent, SHARE, type Curve } from './curves.ts';

/* Curves of what the plans of a training do. */

export interface CurveGroup {
  readonly id: string;
  readonly title: string;
  readonly curves: readonly Curve[];
}

/** More small pictures would show nothing. */
const MAX_WORKERS = 12;

/** Nothing for trainings of an earlier version, whose steps do not tell it. */
export function planCurves(metrics: readonly Metrics[]): readonly CurveGroup[] {
  if (!metrics.some(tellsPlans)) return [];
  const share = (name: string, metric: string, meaning: string): Curve => ({
    name, meaning, ...SHARE,
    // A share of 0 is left out of a step's metrics.
    values: metrics.map((step) => (tellsPlans(step) ? step[planMetric(metric)] ?? 0 : undefined)),
  });
  const figure = (metric: string): (number | undefined)[] => metrics.map((step) => step[planMetric(metric)]);
  const lengths = [1, 2, 3, 4, 5].map((steps) => share(
    steps === 1 ? l10n.t('1 step') : l10n.t('{0} steps', steps), `steps/${steps}`, l10n.t('share of plans'),
  ));
  return [
    {
      id: 'length', title: l10n.t('How long they are'),
      curves: [
        { name: l10n.t('Steps of a plan'), meaning: l10n.t('mean'), span: [1, 3], format: (steps) => steps.toFixed(1), values: figure('mean_steps') },
        ...lengths.filter(isThere),
      ],
    },
    { id: 'workers', title: l10n.t('Who works'), curves: workersIn(metrics).map((id) => share(id, `worker/${id}`, l10n.t('share of steps'))) },
    { id: 'roles', title: l10n.t('What is asked for'), curves: roleNames().map(([role, name]) => share(name, `role/${role}`, l10n.t('share of steps'))) },
    { id: 'access', title: l10n.t('Who reads whom'), curves: PLAN_SHAPES.map((shape) => share(shapeName(shape), `access/${shape}`, shapeMeaning(shape))) },
    {
      id: 'diversity', title: l10n.t('How different they are'),
      curves: [{ name: l10n.t('Diversity'), meaning: l10n.t('share of different plans among those for one task'), ...SHARE, values: figure('diversity') }],
    },
  ];
}

const isThere = ({ values }: Curve): boolean => values.some((value) => (value ?? 0) > 0);

/** Ids of the workers with the largest shares, in the order of their names. */
export function workersIn(metrics: readonly Metrics[]): string[] {
  const sums = new Map<string, number>();
  for (const step of metrics) for (const [id, share] of workerShares(step)) sums.set(id, (sums.get(id) ?? 0) + share);
  return [...sums].sort(([, a], [, b]) => b - a).slice(0, MAX_WORKERS).map(([id]) => id).sort();
}

const roleNames = (): readonly (readonly [string, string])[] => [['plan', l10n.t('To plan')], ['write', l10n.t('To write')], ['check', l10n.t('To check')]];

function shapeName(shape: PlanShape): string {
  switch (shape) {
    case 'none': return l10n.t('Nobody');
    case 'chain': return l10n.t('Chain');
    case 'tree': return l10n.t('Tree');
    case 'all': return l10n.t('All');
  }
}

function shapeMeaning(shape: PlanShape): string {
  switch (shape) {
    case 'none': return l10n.t('plans in which no step reads another');
    case 'chain': return l10n.t('plans in which each step reads the one before');
    case 'tree': return l10n.t('plans in which steps read some of those before');
    case 'all': return l10n.t('plans in which each step reads all before it');
  }
}

export interface KindRow {
  readonly kind: string;
  /** Of each worker: its share at the beginning and at the end, as text. */
  readonly shares: readonly string[];
}

/** Who works for which kind of question, in the first and in the last third of the steps that have some. Empty if there is one kind only. */
export function workersByKind(metrics: readonly Metrics[], workers: readonly string[]): readonly KindRow[] {
  const kinds = kindsIn(metrics);
  if (kinds.length < 2) return [];
  return kinds.map((kind) => {
    const steps = metrics.map((step) => new Map(workerShares(step, kind))).filter(({ size }) => size > 0);
    const third = Math.max(1, Math.floor(steps.length / 3));
    const meanOf = (some: readonly ReadonlyMap<string, number>[], id: string): string => percent(some.reduce((sum, step) => sum + (step.get(id) ?? 0), 0) / some.length);
    const [first, last] = [steps.slice(0, third), steps.slice(-third)];
    return { kind, shares: workers.map((id) => (steps.length < 2 ? meanOf(last, id) : l10n.t('{0} → {1}', meanOf(first, id), meanOf(last, id)))) };
  });
}
