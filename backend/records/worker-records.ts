import type { Journal } from '../journal/journal.ts';
import type { StepRole } from '../protocol/step-role.ts';
import { STEP_ROLES } from '../protocol/step-role.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { WorkerRecord } from '../protocol/worker-record.ts';
import { judgedPlans } from './judged-plans.ts';
import { PlanValue } from './plan-value.ts';
import { nameKey, RecordBook, type Subject, type WorkerName } from './record-book.ts';

/** For a choice. Where ten workers do two steps of each plan, all answers before these weigh an eighth. A person is shown all. */
const NEWEST_STEPS = 3_000;
/** With fewer answers in a role, its share is left to the reader of the whole. */
const ENOUGH_IN_ROLE = 5;

type Worker = Pick<WorkerConfig, 'id' | 'model'>;

/** What a worker's answer is expected to be worth: the share of verified ones, for a role and with what is known of the question. */
export type Expectation = (worker: Worker, role?: StepRole) => number;

/** Nothing is known, or nothing of it is to be used: all workers are alike. */
export const ALL_ALIKE: Expectation = () => 0.5;

/** @param steps the newest steps that are read */
export function recordBook(journal: Pick<Journal, 'judgedSteps'>, steps = NEWEST_STEPS): RecordBook {
  return new RecordBook(journal.judgedSteps(steps));
}

export const ALL_STEPS = Number.MAX_SAFE_INTEGER;

/** The model counts, too: what another model of the same name did is not this worker's. */
export const nameOf = ({ id, model }: Worker): WorkerName => ({ worker: id, model });

/** A worker by its name and model, in one string. */
export const workerKey = (worker: Worker): string => nameKey(nameOf(worker));

/** What is known of plans. */
export function planValue(journal: Pick<Journal, 'judgedSteps'>): PlanValue {
  return new PlanValue(judgedPlans(journal.judgedSteps(NEWEST_STEPS)));
}

export function expectation(book: RecordBook, subject: Omit<Subject, 'role'>): Expectation {
  return (worker, role) => book.expected(nameOf(worker), { ...subject, role });
}

/**
 * What the Conductor is told of workers, for a question in a project, of a kind if it is known. Workers that tests never judged have no record.
 * @param project absolute path, as runs are given it
 */
export function workerRecords(book: RecordBook, { project, kind }: { readonly project: string; readonly kind?: string | undefined }, workers: readonly Worker[]): WorkerRecord[] {
  return workers.flatMap((worker) => {
    const name = nameOf(worker);
    const all = book.tally(name);
    if (!all) return [];
    const here = book.tally(name, { project });
    const { usdPerStep, msPerStep = 0 } = here ?? all;
    const roles = STEP_ROLES.flatMap((role) => {
      const answers = book.tally(name, { role })?.answers ?? 0;
      return answers < ENOUGH_IN_ROLE ? [] : [{ role, expected: book.expected(name, { role, kind, project }) }];
    });
    const elsewhere = { runs: all.answers - (here?.answers ?? 0), verified: all.verified - (here?.verified ?? 0) };
    return [{
      worker: worker.id, runs: here?.answers ?? 0, verified: here?.verified ?? 0, steps: here?.steps ?? 0, durationMs: msPerStep,
      ...(usdPerStep !== undefined && { usd: usdPerStep }),
      expected: book.expected(name, { kind, project }),
      ...(elsewhere.runs > 0 && { elsewhere }),
      ...(roles.length > 1 && { roles }),
    }];
  });
}
