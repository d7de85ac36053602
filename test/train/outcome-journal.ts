import type { Journal } from '../../backend/journal/journal.ts';
import { seededUniforms } from '../../backend/lm/checkpoint/seeded-uniforms.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
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
/** Of two plans, the right worker does all of one, and any of the others each step of the other. */
export const knowsItsWorkersALittle = (draw: () => number, question: number): number =>
  (question % 2 === 0 ? right : (right + 1 + Math.floor(draw() * (POOL.length - 1))) % POOL.length);

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
