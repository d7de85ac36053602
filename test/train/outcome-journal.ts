import { parsePlan } from '../../backend/conductor/parse-plan.ts';
import { planRequest } from '../../backend/conductor/plan-request.ts';
import type { Journal } from '../../backend/journal/journal.ts';
import { seededUniforms } from '../../backend/lm/checkpoint/seeded-uniforms.ts';
import type { LanguageModel } from '../../backend/lm/language-model.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { roleOfStep } from '../../backend/protocol/step-role.ts';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { plannedSteps } from '../../backend/solve/plan-review.ts';
import { planTokens } from '../../backend/solve/plan-tokens.ts';
import { done, endedBy, ran } from '../journal/judged.ts';
import { usage } from '../journal/sample-events.ts';

/*
 * A journal of questions that a prompted Conductor planned, with a pool of equal descriptions in which one worker is right. It chooses at random.
 */

export const RIGHT = 'c';
export const POOL = ['a', 'b', 'c', 'd'].map((id) => ({ id, model: `model-${id}`, provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', description: 'A general language model.' }));
const PLANNER = { id: 'planner', model: 'big', provider: 'openai', key: 'K' };

const SUBJECTS = ['mergeIntervals', 'parseDate', 'readHeader', 'slugify', 'countWords', 'toRoman', 'findCycle', 'chunkText', 'isLeap', 'roundMoney'];
const FAULTS = ['drops the last entry', 'throws for an empty input', 'is off by one', 'loses the order', 'repeats the first item', 'ignores the time zone', 'never ends for zero'];

const SHAPES: readonly { readonly subtasks: readonly string[]; readonly reads: readonly (readonly number[])[] }[] = [
  { subtasks: ['Write the corrected function and return the file.'], reads: [[]] },
  { subtasks: ['Diagnose the cause.', 'Write the fix as diagnosed.'], reads: [[], [0]] },
  { subtasks: ['Write the fix.', 'Review the fix case by case.'], reads: [[], [0]] },
];

/** Whether the worker that wrote is the right one: who wrote last without being a check's author. */
export const isRightPlan = (modelIds: readonly number[], subtasks: readonly string[]): boolean =>
  POOL[modelIds[subtasks.findLastIndex((subtask) => subtask.startsWith('Write'))] ?? -1]?.id === RIGHT;

export const questionAt = (index: number): string =>
  `${SUBJECTS[index % SUBJECTS.length]} ${FAULTS[Math.floor(index / SUBJECTS.length) % FAULTS.length]} when it is called for case ${index}. Please fix it.`;

/** An ordinal in the pool. */
const anyWorker = (draw: () => number, _question: number): number => Math.floor(draw() * POOL.length);

const right = POOL.findIndex(({ id }) => id === RIGHT);
/** Here the newest fifth of sixty questions begins. */
const KNOWS_MORE_FROM = 48;
/** The right worker does all of every fourth plan, later of every second, and any of the others each step of the rest: few plans to imitate, and enough of both kinds among the newest. */
export const knowsItsWorkersALittle = (draw: () => number, question: number): number =>
  (question % (question < KNOWS_MORE_FROM ? 4 : 2) === 0 ? right : (right + 1 + Math.floor(draw() * (POOL.length - 1))) % POOL.length);

/** Asks so many questions, the oldest first. @param isRight what the tests say; by default the truth about the workers. @param choose who does a step */
export function fillJournal(journal: Journal, questions: number, { seed = 1, isRight = isRightPlan, choose = anyWorker, overrides = {}, from = 0 }: {
  readonly seed?: number; readonly isRight?: typeof isRightPlan; readonly choose?: typeof anyWorker; readonly overrides?: Record<string, unknown>; readonly from?: number;
} = {}, request: Record<string, unknown> = {}): string[] {
  const draw = seededUniforms(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T;
  return Array.from({ length: questions }, (_, index) => {
    const { subtasks, reads } = pick(SHAPES);
    const modelIds = subtasks.map(() => choose(draw, index));
    const runId = `q${from + index}`;
    const plan: RunEvent = {
      type: 'plan.proposed', round: 0, attemptId: 'p', text: 'Let me think. I would ask the third.\nmodel_id = [0]', usage, cost: { usd: 0.02, estimated: false }, durationMs: 9_000,
      plan: { modelIds, subtasks: [...subtasks], accessList: reads.map((read) => [...read]) },
      steps: subtasks.map((subtask, step) => ({ worker: modelIds[step] as number, subtask, reads: [...reads[step] as number[]], readsPreviousRound: false })),
    };
    ran(journal, runId, [
      { type: 'context.gathered', pieces: [], leftOut: [], tokens: 0, text: '' }, plan, ...subtasks.map((_one, step) => done(step, 0.01)),
      ...endedBy(isRight(modelIds, subtasks) ? 'verified' : 'failed'),
    ], { pool: POOL, policy: { kind: 'endpoint', model: 'big', promptVersion: 'standard-3', worker: PLANNER }, asks: { kind: 'bug', wants: 'change' }, ...overrides }, { question: questionAt(from + index), ...request });
    return runId;
  });
}

/** How often the right worker is right, and the others. */
const LUCK = { right: 0.95, other: 0.15 };

/** Asks so many questions of which conductor-mini samples each plan itself, as Solve has it do. Texts that are no plan are left out. */
export async function fillWithOwnPlans(journal: Journal, model: LanguageModel, questions: number, conductor: WorkerConfig): Promise<readonly string[]> {
  const runs: string[] = [];
  const luck = seededUniforms(1);
  for (let index = 0; index < questions; index += 1) {
    const runId = `own${index}`;
    const question = questionAt(index);
    const { messages, continuation: { prefill } = {} } = planRequest(conductor, { question, context: '', pool: POOL, rounds: [] });
    const [written] = await model.write({ messages: messages.map(({ role, content }) => ({ role, content })), prefill, maxTokens: 256, temperature: 1, samples: 1, seeds: [index] });
    const parsed = written && parsePlan(written.text, { workerCount: POOL.length, round: 0 });
    if (parsed?.kind !== 'plan') continue;
    const { plan } = parsed;
    const isGood = POOL[plan.modelIds[plan.subtasks.map(roleOfStep).lastIndexOf('write')] ?? -1]?.id === RIGHT;
    const isRight = luck() < (isGood ? LUCK.right : LUCK.other);
    const proposed: RunEvent = {
      type: 'plan.proposed', round: 0, attemptId: 'p', text: written?.text ?? '', usage, cost: { usd: 0, estimated: false }, durationMs: 9_000, ...plannedSteps(plan, 0),
      tokens: planTokens({ tokens: { promptTokenIds: written?.promptTokenIds ?? [], tokenIds: written?.tokenIds ?? [], logprobs: written?.logprobs ?? [], temperature: 1 } }),
    };
    ran(journal, runId, [
      { type: 'context.gathered', pieces: [], leftOut: [], tokens: 0, text: '' }, proposed, ...plan.modelIds.map((_, step) => done(step, 0.01)), ...endedBy(isRight ? 'verified' : 'failed'),
    ], { pool: POOL, policy: { kind: 'local', model: conductor.model, promptVersion: 'mini-1', worker: conductor }, asks: { kind: 'bug', wants: 'change' } }, { question });
    runs.push(runId);
  }
  return runs;
}
