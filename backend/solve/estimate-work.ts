import { roleOfStep } from '../protocol/step-role.ts';
import { HANDS_LIMITS } from '../hands/limits.ts';
import type { PaidStep } from '../journal/paid-steps.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { AgentConfig, Price, WorkerConfig } from '../protocol/worker-config.ts';
import type { Range, StepEstimate, WorkEstimate } from '../protocol/work-estimate.ts';
import { estimateInputTokens } from '../workers/limits/estimate-tokens.ts';
import { priceFor } from '../workers/limits/prices.ts';
import { stepsOf, type Plan, type Step } from '../workflow/plan.ts';
import { handsOf, stepPrompt } from './step-prompt.ts';

/** Below this many steps the quartiles are those of a few accidents. */
const FEWEST_STEPS = 3;

const NOTHING: Range = { low: 0, high: 0 };

/**
 * What the steps of a plan will take, from what such steps took before. Of the worker's steps of the same kind (to plan, to write, to check),
 * or of all its steps where there are fewer than three of the kind, half lie between the quartiles: these are the ends of the estimate. Where
 * there are fewer than three steps at all, the lower end is what the step is sent and the upper end the most that it may be sent and write.
 * Without a price the dollars are unknown. Ends are added up, so those of a long plan are further apart than half of such plans lie.
 * @param record the steps that were paid for in this project
 * @param left what the limits still hold
 */
export function estimateWork(run: RunSnapshot, round: number, plan: Plan, record: readonly PaidStep[], left: WorkEstimate['left']): WorkEstimate {
  const readFrom = ({ reads }: Step): number => reads.reduce((sum, index) => sum + (run.pool[plan.modelIds[index] ?? -1]?.maxOutputTokens ?? 0), 0);
  const steps = stepsOf(plan).map((step) => estimateStep(run, round, step, record, readFrom(step)));
  const isPriced = steps.every(({ usd }) => usd !== undefined);
  return {
    ...(isPriced && { usd: sumOf(steps.map(({ usd = NOTHING }) => usd)) }),
    tokens: sumOf(steps.map(({ tokens }) => tokens)),
    steps,
    unpriced: [...new Set(steps.flatMap(({ usd }, index) => (usd === undefined ? (run.pool[plan.modelIds[index] ?? -1]?.id ?? []) : [])))],
    left,
  };
}

/** @param read the most tokens that it may read of earlier steps */
function estimateStep(run: RunSnapshot, round: number, step: Step, record: readonly PaidStep[], read: number): StepEstimate {
  const worker = run.pool[step.worker] as WorkerConfig;
  const own = record.filter((paid) => paid.worker.id === worker.id && paid.worker.model === worker.model && paid.worker.hands === worker.hands);
  const role = roleOfStep(step.subtask);
  const alike = own.filter(({ subtask }) => roleOfStep(subtask) === role);
  const known = alike.length >= FEWEST_STEPS ? alike : own;
  if (known.length < FEWEST_STEPS) return byLimits(run, round, step, worker, read);
  const costs = known.flatMap(({ usd }) => usd ?? []);
  // A price that became known since is not in the record.
  const usd = (worker.price ?? worker.agent) && costs.length >= FEWEST_STEPS ? quartilesOf(costs) : undefined;
  if (!usd && (worker.price !== undefined || worker.agent?.stepUsd !== undefined)) return byLimits(run, round, step, worker, read);
  return { from: known === alike ? 'kind' : 'worker', steps: known.length, tokens: quartilesOf(known.map(({ tokens }) => tokens)), ...(usd && { usd }) };
}

/** Of one call; with hands, of as many turns as the limits allow. */
function byLimits(run: RunSnapshot, round: number, step: Step, worker: WorkerConfig, read: number): StepEstimate {
  const sent = estimateInputTokens({ messages: stepPrompt(run, round, step, [], run.contexts.at(-1)) });
  const hasHands = handsOf(run, step.worker) !== undefined;
  if (worker.agent) return { from: 'limits', steps: 0, tokens: { low: sent, high: Math.max(sent, worker.agent.stepTokens) }, ...usdOfAgent(worker.agent) };
  const input: Range = { low: sent, high: hasHands ? HANDS_LIMITS.tokens : sent + read };
  const output: Range = { low: 0, high: worker.maxOutputTokens * (hasHands ? HANDS_LIMITS.turns : 1) };
  return {
    from: 'limits', steps: 0,
    tokens: sumOf([input, output]),
    ...(worker.price && { usd: { low: costOf(worker.price, input.low, output.low), high: costOf(worker.price, input.high, output.high) } }),
  };
}

/** How often an agent asks its model is its own affair: what is set aside for a step is all that is known. */
function usdOfAgent({ stepUsd }: AgentConfig): Pick<StepEstimate, 'usd'> {
  return stepUsd === undefined ? {} : { usd: { low: 0, high: stepUsd } };
}

function costOf(price: Price, input: number, output: number): number {
  const { inputPerMillion, outputPerMillion } = priceFor(price, input);
  return (input * inputPerMillion + output * outputPerMillion) / 1_000_000;
}

/** The lower and the upper quartile, by linear interpolation between the nearest two values. */
function quartilesOf(values: readonly number[]): Range {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => {
    const place = share * (sorted.length - 1);
    const [below = 0, above = below] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    return below + (above - below) * (place - Math.floor(place));
  };
  return { low: at(0.25), high: at(0.75) };
}

function sumOf(ranges: readonly Range[]): Range {
  return ranges.reduce((sum, { low, high }) => ({ low: sum.low + low, high: sum.high + high }), NOTHING);
}
