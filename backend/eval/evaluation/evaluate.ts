import { createHash } from 'node:crypto';
import { mapInOrder } from '../../common/map-in-order.ts';
import { sampleSchema, type Sample } from '../../protocol/evaluations.ts';
import { VERSION } from '../../protocol/product-version.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import type { GraderSpec } from '../../verify/graders/tasks/grader-spec.ts';
import { requestFor } from '../../workers/call-worker.ts';
import { WorkerError } from '../../workers/errors.ts';
import type { Contestant, Play } from '../contestant.ts';
import { planExecutor } from '../execute-on-task.ts';
import { gradeAnswer, PlanNotRunError, UNANSWERED, type EvalTask } from '../run-plan.ts';
import type { EvaluationFile } from './evaluation-file.ts';
import type { AskModel } from './paid-calls.ts';

/** A task and what identifies it with its grader, so that a kept grade is not used for another one. */
export interface FiledTask extends EvalTask {
  readonly fingerprint: string;
  /** The data set that it was taken for. */
  readonly form?: string;
  /** How its file says that answers are judged. */
  readonly spec?: GraderSpec;
}

export interface EvaluateOptions {
  readonly tasks: readonly FiledTask[];
  readonly contestants: readonly Contestant[];
  /** By ordinal. */
  readonly pool: readonly WorkerConfig[];
  /** Independent repeats, from 0. */
  readonly seeds: number;
  readonly ask: AskModel;
  /** Keeps judged samples; absent for a rehearsal. */
  readonly file?: Pick<EvaluationFile, 'sample' | 'keepSample' | 'get' | 'set'> | undefined;
  /** Distinguishes kept samples of simulated workers. */
  readonly simulation?: string | undefined;
  /** Number of concurrent samples. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly onSample?: (sample: Sample, done: number, all: number) => void;
}

/** Samples of one seed have numbers that those of the next do not reach. */
const SAMPLES_OF_A_SEED = 1_000;

/** Failures that concern one call only: the sample is wrong. Any other failure (no network, no key, no credit) ends the evaluation. */
const FAILURES_OF_ONE_CALL: ReadonlySet<string> = new Set(['invalid-request', 'context-overflow', 'too-large', 'invalid-response']);

/**
 * Has every contestant answer every task, once for each seed, and judges the answers. Samples judged earlier are taken from the file. The
 * result is in the order of seeds, tasks and contestants.
 * @throws PlanNotRunError if a worker, the sandbox or the machine fails; EvaluationBudgetError; the signal's reason
 */
export async function evaluate({
  tasks, contestants, pool, seeds, ask, file, simulation, concurrency, signal, onSample,
}: EvaluateOptions): Promise<Sample[]> {
  const units = Array.from({ length: seeds }, (_, seed) => tasks.flatMap((task) => contestants.map((contestant) => ({ seed, task, contestant })))).flat();
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const execute = planExecutor(
    async (worker, messages, sample, stepSignal) => await ask(worker, requestFor(worker, { messages }), sample, stepSignal),
    { ask: async (worker, request, sample, stepSignal) => await ask(worker, requestFor(worker, request), sample, stepSignal), memory: file },
  );
  const wider = (times: number): WorkerConfig[] => pool.map((worker) => ({ ...worker, maxOutputTokens: worker.maxOutputTokens * times }));
  let done = 0;
  try {
    return await mapInOrder(units, concurrency, async ({ seed, task, contestant }) => {
      either.throwIfAborted();
      const key = keyOf(contestant, task, seed, pool, simulation);
      const play: Play = (plan, sample, { outputTimes = 1, ...options } = {}) => execute(task, plan, {
        ...options,
        pool: outputTimes === 1 ? pool : wider(outputTimes), sample: seed * SAMPLES_OF_A_SEED + sample, signal: either,
      });
      const sample = keptSample(file?.sample(key)) ?? (await judged(contestant, task, play, seed, either));
      file?.keepSample(key, JSON.stringify(sample));
      onSample?.(sample, (done += 1), units.length);
      return sample;
    });
  } catch (error) {
    failed.abort(error);
    signal.throwIfAborted();
    const cause = error instanceof PlanNotRunError ? error.cause : undefined;
    throw cause instanceof WorkerError || (cause instanceof Error && cause.name === 'BudgetSpentError') ? cause : error;
  }
}

async function judged(contestant: Contestant, task: EvalTask, play: Play, seed: number, signal: AbortSignal): Promise<Sample> {
  const about = { contestant: contestant.name, task: task.id, seed };
  try {
    const answered = await contestant.answer(task, play, seed);
    const { verified, score, reason, change, answer, costUsd, usage, seconds, traces, isPlan } = await gradeAnswer(task, answered, signal);
    return sampleSchema.parse({ ...about, verified, score, reason, change, answer, costUsd, usage, seconds, traces, ...(isPlan !== undefined && { isPlan }) });
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof PlanNotRunError ? error.cause : error;
    if (!(cause instanceof WorkerError) || !FAILURES_OF_ONE_CALL.has(cause.kind)) throw error;
    const { answer, usage, seconds } = UNANSWERED;
    const costUsd = error instanceof PlanNotRunError ? error.costUsd : 0;
    return { ...about, verified: false, score: 0, reason: cause.message, answer, costUsd, usage, seconds, traces: [] };
  }
}

/** Undefined if there is none, or only one in the form of another version. */
function keptSample(value: string | undefined): Sample | undefined {
  if (value === undefined) return undefined;
  try {
    return sampleSchema.safeParse(JSON.parse(value)).data;
  } catch {
    return undefined;
  }
}

function keyOf(contestant: Contestant, { id, fingerprint, hands: works }: FiledTask, seed: number, pool: readonly WorkerConfig[], simulation: string | undefined): string {
  const workers = pool.map(({ id: worker, provider, model, baseUrl, simulated, maxOutputTokens, temperature, topP, reasoningEffort, description, hands, weights }) => [
    worker, provider, model, simulated ? simulation : baseUrl, maxOutputTokens, temperature, topP, reasoningEffort, description, ...(works && hands ? [hands] : []), ...(weights === undefined ? [] : [{ weights }]),
  ]);
  const identity = [VERSION, contestant.name, contestant.version, id, fingerprint, seed, workers];
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex');
}
