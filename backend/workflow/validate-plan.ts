import { MAX_STEPS, type Access, type Plan } from './plan.ts';

/** The rule that a text breaks. Plans are validated before any worker is called, so an invalid plan costs no worker call. */
export type PlanRejectionReason =
  | 'missing-list'
  | 'malformed-list'
  | 'no-steps'
  | 'unequal-lengths'
  | 'too-many-steps'
  | 'unknown-worker'
  | 'malformed-subtask'
  | 'malformed-access'
  | 'forward-reference'
  | 'truncated'
  /** Valid, and yet no plan for this question (backend/conductor/plan/plan-sense.ts). */
  | 'senseless';

export interface PlanRejection {
  readonly reason: PlanRejectionReason;
  /** One sentence that tells the Conductor how to correct the plan. */
  readonly message: string;
}

/** The three lists as read, with unchecked entries. */
export interface RawPlan {
  readonly modelIds: readonly unknown[];
  readonly subtasks: readonly unknown[];
  readonly accessList: readonly unknown[];
}

export type PlanValidation =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly rejection: PlanRejection };

/** Longest subtask, in characters: a plan holds instructions, not documents. */
export const MAX_SUBTASK_LENGTH = 8_000;

class Rejected extends Error {
  readonly rejection: PlanRejection;

  constructor(reason: PlanRejectionReason, message: string) {
    super(message);
    this.rejection = { reason, message };
  }
}

/**
 * Checks whether three lists are a valid plan for a pool of `workerCount` workers (arXiv 2512.04388 §3.1 and App. B.8). Numeric strings
 * count as numbers, as in the paper's parser. An unknown worker makes the plan invalid.
 */
export function validatePlan(raw: RawPlan, { workerCount }: { readonly workerCount: number }): PlanValidation {
  const lengths = [raw.modelIds.length, raw.subtasks.length, raw.accessList.length] as const;
  try {
    if (lengths.every((length) => length === 0)) throw new Rejected('no-steps', 'The three lists are empty: a plan has at least one step.');
    if (new Set(lengths).size > 1) {
      throw new Rejected(
        'unequal-lengths',
        `The lists must have one entry a step, but model_id has ${lengths[0]}, subtasks ${lengths[1]} and access_list ${lengths[2]}.`,
      );
    }
    if (lengths[0] > MAX_STEPS) {
      throw new Rejected('too-many-steps', `The plan has ${lengths[0]} steps; at most ${MAX_STEPS} are allowed.`);
    }
    return {
      ok: true,
      plan: {
        modelIds: raw.modelIds.map((id) => workerOrdinal(id, workerCount)),
        subtasks: raw.subtasks.map(subtaskText),
        accessList: raw.accessList.map(accessOf),
      },
    };
  } catch (error) {
    if (error instanceof Rejected) return { ok: false, rejection: error.rejection };
    throw error;
  }
}

/** An integer, or a string of digits. */
function wholeNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (typeof value === 'string' && /^\s*\d{1,9}\s*$/.test(value)) return Number(value);
  return undefined;
}

/** Quotes a value of a rejected plan, clipped and on one line. */
function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function workerOrdinal(value: unknown, workerCount: number): number {
  const ordinal = wholeNumber(value);
  if (ordinal === undefined || ordinal >= workerCount) {
    throw new Rejected('unknown-worker', `model_id names worker ${quoted(value)}; the workers are 0 to ${workerCount - 1}.`);
  }
  return ordinal;
}

function subtaskText(value: unknown, index: number): string {
  if (typeof value !== 'string' || value.trim() === '') {
    throw new Rejected('malformed-subtask', `Subtask ${index} must be an instruction in words, not ${quoted(value)}.`);
  }
  if (value.length > MAX_SUBTASK_LENGTH) {
    throw new Rejected('malformed-subtask', `Subtask ${index} is longer than ${MAX_SUBTASK_LENGTH} characters.`);
  }
  return value.trim();
}

const isAll = (value: unknown): boolean => typeof value === 'string' && value.trim().toLowerCase() === 'all';

function accessOf(value: unknown, index: number): Access {
  if (isAll(value)) return 'all';
  if (!Array.isArray(value)) {
    throw new Rejected('malformed-access', `access_list entry ${index} must be [], ["all"] or step numbers, not ${quoted(value)}.`);
  }
  if (value.some(isAll)) return 'all';
  const positions = value.map((entry) => {
    const position = wholeNumber(entry);
    if (position === undefined) {
      throw new Rejected('malformed-access', `access_list entry ${index} holds ${quoted(entry)}, which is neither "all" nor a step number.`);
    }
    if (position >= index) {
      throw new Rejected('forward-reference', `Step ${index} may only read earlier steps, but access_list gives it step ${position}.`);
    }
    return position;
  });
  return positions;
}
