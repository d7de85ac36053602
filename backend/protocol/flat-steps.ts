/*
 * Steps of a training that teach nothing. In each of their groups all rewards are equal, so no plan is better than another one, or all plans
 * are left out because they were cut off. So there is no gradient. Their plans are paid all the same.
 */

/**
 * What the plans of such a group have in common. `solved`: all are verified; `unsolved`: none has a better answer than the others; `cut-off`: all
 * are longer than they may be; `invalid`: no text is a plan; `unknown`: none could be judged.
 */
export const FLAT_CAUSES = ['solved', 'unsolved', 'cut-off', 'invalid', 'unknown'] as const;
export type FlatCause = (typeof FLAT_CAUSES)[number];

/** The metric that counts a step's flat groups of this kind. */
export const flatMetric = (cause: FlatCause): string => `flat_groups/${cause}`;

/** What of a training says what its steps taught. */
export interface TaughtSteps {
  readonly metrics: readonly Readonly<Record<string, number>>[];
  readonly pool?: readonly unknown[] | undefined;
}

export interface FlatSteps {
  readonly flat: number;
  /** Completed steps. */
  readonly of: number;
  /** What most groups of the flat steps have in common; undefined for steps of an earlier version. */
  readonly cause: FlatCause | undefined;
  /** Every plan gives its steps to the only worker, so plans differ little. */
  readonly hasOneWorker: boolean;
}

/** @param step the metrics of a step */
export const isFlat = (step: TaughtSteps['metrics'][number] | undefined): boolean => step?.['examples'] === 0;

/** The flat steps so far; undefined if there are none. */
export function flatStepsOf({ metrics, pool }: TaughtSteps): FlatSteps | undefined {
  const flat = metrics.filter(isFlat);
  if (flat.length === 0) return undefined;
  const groups = (cause: FlatCause): number => flat.reduce((sum, values) => sum + (values[flatMetric(cause)] ?? 0), 0);
  const most = FLAT_CAUSES.reduce((best, one) => (groups(one) > groups(best) ? one : best));
  const cause = groups(most) > 0 ? most : undefined;
  return { flat: flat.length, of: metrics.length, cause, hasOneWorker: pool?.length === 1 };
}

/** How many steps taught nothing, the likely reason, and what can be done. */
export function flatMessage(flat: FlatSteps): string {
  const steps = flat.of === 1 ? 'The only step' : `${flat.flat} of ${flat.of} steps`;
  // Plans that are left out may have had different rewards.
  const why = flat.cause === 'cut-off' ? 'plans were cut off' : 'all plans of a task had the same reward';
  return `${steps} taught nothing: ${why}. ${flatReason(flat)}`.trim();
}

function flatReason({ cause, hasOneWorker }: Pick<FlatSteps, 'cause' | 'hasOneWorker'>): string {
  switch (cause) {
    case 'solved':
      return 'Every plan was verified. Add harder tasks, or let cost count (reward.costWeight).';
    case 'unsolved':
      return hasOneWorker
        ? 'No plan did better than another, and there is only one worker, so plans differ little. Add a worker.'
        : 'No plan did better than another. Add easier tasks or a stronger worker, or sample more plans for each task (groupSize).';
    case 'cut-off':
      return 'The Conductor wrote more than maxTokens allows. Raise maxTokens, or train another Conductor.';
    case 'invalid':
      return 'No text of the Conductor was a valid plan. Raise maxTokens if some are cut off, or train another Conductor.';
    case 'unknown':
      return 'No plan could be judged. Read the errors of the plans.';
    case undefined:
      return '';
  }
}
