import { wordedPlan } from '../conductor/plan/form-plan.ts';
import { readQuestion } from '../conductor/question/read-question.ts';
import type { LocalRecord, NoTry } from '../protocol/local-first.ts';
import type { RunEvent } from '../protocol/run-events.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import { NO_USAGE } from '../protocol/token-counts.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { Expectation } from '../records/worker-records.ts';
import { isFree } from '../workers/limits/is-free.ts';
import { askedQuestion, isInProject } from './asked-question.ts';
import { isBase, weightsOf } from './choose-planner.ts';
import { plannedSteps } from './plan-review.ts';
import { asksForTestsAlone, wantedOf } from './round.ts';

/*
 * A worker that costs nothing may try before anybody is paid. docs/decisions/0027 has the reasons.
 */

/** What is known of a project when a run begins. */
export interface TryFacts {
  /** Whether tests judge the answer. */
  readonly hasTests: boolean;
  /** What is expected of workers by what tests said of them. */
  readonly expected: Expectation;
  /** How tries turned out in this project before. */
  readonly tries: LocalRecord;
}

/** The events with which a run that asked for a try begins: the try, with its plan of one step, or why there is none. */
export function beginTry(run: RunSnapshot, { hasTests, expected, tries }: TryFacts): RunEvent[] {
  const worker = chosen(run, { hasTests, expected });
  if (typeof worker === 'string') return [{ type: 'try.omitted', because: worker }];
  const question = readQuestion(askedQuestion(run.request), { inProject: isInProject(run) });
  const plan = wordedPlan([{ role: 'write', worker, reads: [], readsAll: false }], question, 0);
  return [
    { type: 'try.begun', round: 0, record: tries },
    // Nobody was asked for it, so it cost nothing.
    { type: 'plan.proposed', round: 0, attemptId: '', text: '', ...plannedSteps(plan, 0), usage: NO_USAGE, cost: { usd: 0, estimated: false }, durationMs: 0 },
  ];
}

function chosen(run: RunSnapshot, { hasTests, expected }: Omit<TryFacts, 'tries'>): number | NoTry {
  const { base, pool, policy: { worker: planner } } = run;
  const wants = wantedOf(run);
  if (wants === 'words' || wants === 'code') return 'no-change';
  if (!hasTests) return 'no-tests';
  if (base?.result?.problem !== undefined) return 'no-result';
  if (base?.result?.failed === 0 && !asksForTestsAlone(run)) return 'nothing-red';
  return whoTries(pool, planner, expected);
}

/**
 * Who tries first by what the run costs, whatever its question: the worker's ordinal, or why nobody does. A plan is paid for like a step: with
 * workers that are all free, a Conductor that is not makes a try worth it.
 * @param pool with prices
 */
export function whoTries(pool: readonly WorkerConfig[], planner: WorkerConfig | undefined, expected: Expectation): number | 'nobody-free' | 'nobody-paid' {
  const first = firstToTry(pool, expected);
  if (first === undefined) return 'nobody-free';
  return [...pool, ...(planner ? [planner] : [])].every(isFree) ? 'nobody-paid' : first;
}

/**
 * The ordinal of the worker that tries first: of those that cost nothing the one with the best record, then one with hands, then the larger
 * model, then the first; undefined if all cost something.
 * @param pool with prices
 */
export function firstToTry(pool: readonly WorkerConfig[], expected: Expectation): number | undefined {
  const candidates = pool.flatMap((worker, ordinal) => (isFree(worker) && !isBase(worker)
    ? [{ ordinal, share: expected(worker, 'write'), hasHands: worker.hands !== undefined, weights: weightsOf(worker) ?? 0 }]
    : []));
  const [best] = candidates.toSorted((a, b) => b.share - a.share || Number(b.hasHands) - Number(a.hasHands) || b.weights - a.weights);
  return best?.ordinal;
}
