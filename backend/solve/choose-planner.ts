import { planRequest } from '../conductor/plan-request.ts';
import { profileOf } from '../conductor/prompt-profile.ts';
import type { PlanEstimate, PlannerChoice, PlannerReason } from '../protocol/planner-choice.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { estimateInputTokens } from '../workers/limits/estimate-tokens.ts';
import { isFree } from '../workers/limits/is-free.ts';

/*
 * Who plans if the person chose nobody. docs/decisions/0018 has the reasons for the order and the figures.
 */

/** How the latest plans of a worker turned out. */
export interface PlanningRecord {
  /** Runs that it planned first. */
  readonly runs: number;
  /** Of them, those whose first text was a valid plan. */
  readonly valid: number;
  /** Of the valid ones, the mean cost and time. `usd` is absent if one of them had no price. */
  readonly usd?: number | undefined;
  readonly durationMs?: number | undefined;
}

export type RecordOf = (worker: Pick<WorkerConfig, 'id' | 'model'>) => PlanningRecord | undefined;
const NO_RECORDS: RecordOf = () => undefined;

export interface ChosenPlanner {
  readonly worker: WorkerConfig;
  readonly why: PlannerReason;
}

/** In dollars. The prompted Conductors for which a gain was published cost at most half of this for a plan. */
export const CHEAP_PLAN_USD = 0.04;
/** Tokens of a plan with its reasoning: the paper's limit (arXiv 2512.04388 §4.1). */
const PLAN_TOKENS = 1_024;
/** A long question, and a context that no budget of tokens exceeds. */
const QUESTION_CHARACTERS = 500;
const MOST_CONTEXT_CHARACTERS = 48_000;
/** The smallest Conductor of the paper has three billion weights, and it was trained for planning. */
const SMALLEST_PLANNER = 3e9;
/** The open workers of the paper's pool have 27 to 32 billion weights. */
const LARGE = 2e10;
/** Assumed of a free model whose name has no size, such as `llama3.1`. */
const USUAL = 7e9;
/** The prompt and a plan do not fit into a smaller context. */
const SMALL_CONTEXT = 8_192;
/** With fewer runs, a record says nothing. */
const ENOUGH_RUNS = 5;
/** For means, where one exception does no harm. */
const ENOUGH_FOR_MEAN = 3;

/**
 * The worker that plans best for its price: first free and large models, then those whose plan is cheap, the strongest first, then dear ones,
 * the cheapest first, then those without a known price, then small free ones. A high price stands for strength, because nothing better is
 * known before a run. A worker whose plans mostly turned out invalid is passed over, and so is a simulated one.
 * @param pool the ready workers, with their prices
 * @returns undefined if none of them can plan
 */
export function bestPlanner(pool: readonly WorkerConfig[], recordOf = NO_RECORDS): ChosenPlanner | undefined {
  const able = pool.filter((worker) => canPlan(worker, recordOf(worker)));
  // Sorting is stable: of equals, the first in workers.json plans.
  const [best] = able
    .map((worker) => ({ worker, rank: rankOf(worker, pool.length) }))
    .toSorted((a, b) => a.rank.tier - b.rank.tier || b.rank.strength - a.rank.strength || share(recordOf(b.worker)) - share(recordOf(a.worker)));
  if (!best) return undefined;
  return { worker: best.worker, why: able.length === 1 ? 'only' : best.rank.why };
}

/** Why a worker plans, with what a plan of it is expected to cost. @param worker with its price */
export function choiceOf(worker: WorkerConfig, why: PlannerReason, poolSize: number, recordOf = NO_RECORDS): PlannerChoice {
  return { why, estimate: estimateOf(worker, poolSize, recordOf(worker)) };
}

interface Rank {
  /** The lower, the better. */
  readonly tier: number;
  /** Within a tier; the higher, the better. */
  readonly strength: number;
  readonly why: PlannerReason;
}

function rankOf(worker: WorkerConfig, poolSize: number): Rank {
  const usd = planUsd(worker, poolSize);
  if (isFree(worker) || usd === 0) {
    const strength = weightsOf(worker) ?? USUAL;
    return { tier: strength >= LARGE ? 0 : 4, strength, why: 'free' };
  }
  if (usd === undefined) return { tier: 3, strength: 0, why: 'unpriced' };
  return usd <= CHEAP_PLAN_USD ? { tier: 1, strength: usd, why: 'strongest' } : { tier: 2, strength: -usd, why: 'cheapest' };
}

function canPlan(worker: WorkerConfig, record: PlanningRecord | undefined): boolean {
  // An agent is made to work on files, and its plans take minutes.
  if (worker.agent) return false;
  if (worker.simulated || worker.maxOutputTokens < leastOutputTokens(worker) || isBase(worker)) return false;
  if ((weightsOf(worker) ?? USUAL) < SMALLEST_PLANNER) return false;
  return record === undefined || record.runs < ENOUGH_RUNS || share(record) >= 0.5;
}

/** A model of a server here may answer with half of its context (found-models.ts); the other half has to hold the prompt. */
function leastOutputTokens(worker: WorkerConfig): number {
  return isFree(worker) ? SMALL_CONTEXT / 2 : PLAN_TOKENS / 2;
}

/** Without a record, plans count as valid. */
function share(record: PlanningRecord | undefined): number {
  return record === undefined || record.runs < ENOUGH_RUNS ? 1 : record.valid / record.runs;
}

/** A base model continues a text and follows no instruction. */
export function isBase({ model }: Pick<WorkerConfig, 'model'>): boolean {
  return /(?:^|[\W_])base(?:[\W_]|$)/i.test(model);
}

/** The number of weights that the model's name states, such as `qwen3:32b`, or else the description that was made for a found model. */
export function weightsOf({ model, description = '' }: Pick<WorkerConfig, 'model' | 'description'>): number | undefined {
  const name = model.split('/').at(-1) ?? '';
  const billions = /(?<![a-z\d.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z\d])/i.exec(name);
  if (billions) return Number(billions[1] ?? 1) * Number(billions[2]) * 1e9;
  // `1m` is the length of a context.
  const millions = /(?<![a-z\d.])(\d{2,3})m(?![a-z\d])/i.exec(name);
  if (millions) return Number(millions[1]) * 1e6;
  const described = /\bof (\d+(?:\.\d+)?) ([BM]) weights\b/.exec(description);
  return described ? Number(described[1]) * (described[2] === 'B' ? 1e9 : 1e6) : undefined;
}

function estimateOf(worker: WorkerConfig, poolSize: number, record: PlanningRecord | undefined): PlanEstimate {
  if (record && record.valid >= ENOUGH_FOR_MEAN) {
    const { usd, durationMs, valid } = record;
    return { ...(usd !== undefined && { usd }), ...(durationMs !== undefined && { durationMs }), plans: valid };
  }
  const usd = planUsd(worker, poolSize);
  return { ...(usd !== undefined && { usd }), plans: 0 };
}

/** The cost of a plan for a question with as much context as the prompt takes; undefined without a price. */
function planUsd(worker: WorkerConfig, poolSize: number): number | undefined {
  const { price } = worker;
  if (isFree(worker)) return 0;
  if (!price) return undefined;
  return (promptTokens(worker, poolSize) * price.inputPerMillion + PLAN_TOKENS * price.outputPerMillion) / 1_000_000;
}

function promptTokens(worker: WorkerConfig, poolSize: number): number {
  const { contextCharacters } = profileOf(worker);
  const pool = Array.from({ length: poolSize }, () => ({ description: 'A general language model.' }));
  const context = ' '.repeat(Math.min(contextCharacters, MOST_CONTEXT_CHARACTERS));
  const input = { question: ' '.repeat(QUESTION_CHARACTERS), context, pool, rounds: [] };
  return estimateInputTokens(planRequest(worker, input));
}
