import { conductorPrompt } from '../../conductor/conductor-prompt.ts';
import { parsePlan } from '../../conductor/parse-plan.ts';
import { PROMPT_PROFILES } from '../../conductor/prompt-profile.ts';
import type { LanguageModel } from '../../lm/language-model.ts';
import { draw } from '../../train/statistics/draws.ts';
import type { PlanExample } from './examples.ts';

export interface EvaluationOptions {
  readonly samples: number;
  readonly temperature: number;
  readonly maxTokens: number;
  readonly seed: number;
  readonly onQuestion?: ((done: number) => void) | undefined;
}

export const EVALUATION_DEFAULTS: EvaluationOptions = { samples: 16, temperature: 1, maxTokens: 256, seed: 9 };

/** Statistics of a model's unconstrained texts, several for each question. Shares are from 0 to 1. */
export interface Evaluation {
  readonly plans: number;
  /** Plans that parse; in a later round, three empty lists too. */
  readonly formatRate: number;
  /** Steps of valid plans; 0 if the answer is kept. */
  readonly steps: Readonly<Record<string, number>>;
  /** Kinds of entries in access lists: nothing, everything, step numbers. */
  readonly access: Readonly<Record<'none' | 'all' | 'numbers', number>>;
  /** Share of the available workers that occur in a question's plans, over questions with a plan. */
  readonly workersUsed: number;
  /** Share of distinct plans for a question, by workers and access lists. */
  readonly differentPlans: number;
  readonly meanTokens: number;
  readonly truncated: number;
  readonly tokensPerSecond: number;
  /** Why texts did not parse, and how often. */
  readonly rejections: Readonly<Record<string, number>>;
}

/** @throws what the model throws */
export async function evaluateMini(
  model: Pick<LanguageModel, 'write'>, inputs: readonly PlanExample['input'][], { samples, temperature, maxTokens, seed, onQuestion }: EvaluationOptions,
): Promise<Evaluation> {
  const steps: Record<string, number> = {};
  const access = { none: 0, all: 0, numbers: 0 };
  const rejections: Record<string, number> = {};
  const used: number[] = [];
  const different: number[] = [];
  let [tokens, truncated, parsed, seconds] = [0, 0, 0, 0];
  for (const [index, input] of inputs.entries()) {
    const { messages, prefill } = conductorPrompt(input, PROMPT_PROFILES.mini);
    const seeds = Array.from({ length: samples }, (_, sample) => draw(seed, 'evaluate', index, sample));
    const began = performance.now();
    const texts = await model.write({ messages, prefill, samples, seeds, maxTokens, temperature });
    seconds += (performance.now() - began) / 1_000;
    const workers = new Set<number>();
    const forms = new Set<string>();
    let plans = 0;
    for (const { text, tokenIds, finishReason } of texts) {
      tokens += tokenIds.length;
      truncated += Number(finishReason === 'length');
      const found = parsePlan(text, { workerCount: input.pool.length, round: input.rounds.length, truncated: finishReason === 'length' });
      if (found.kind === 'rejected') {
        rejections[found.rejection.reason] = (rejections[found.rejection.reason] ?? 0) + 1;
        continue;
      }
      parsed += 1;
      const { modelIds, accessList } = found.kind === 'plan' ? found.plan : { modelIds: [], accessList: [] };
      steps[modelIds.length] = (steps[modelIds.length] ?? 0) + 1;
      for (const entry of accessList) access[entry === 'all' ? 'all' : entry.length === 0 ? 'none' : 'numbers'] += 1;
      modelIds.forEach((worker) => workers.add(worker));
      if (found.kind === 'plan') {
        plans += 1;
        forms.add(JSON.stringify([modelIds, accessList]));
      }
    }
    if (plans > 0) {
      used.push(workers.size / input.pool.length);
      different.push(forms.size / plans);
    }
    onQuestion?.(index + 1);
  }
  const plans = inputs.length * samples;
  const entries = Math.max(1, access.none + access.all + access.numbers);
  return {
    plans,
    formatRate: rounded(parsed / plans),
    steps: Object.fromEntries(Object.entries(steps).map(([count, times]) => [count, rounded(times / parsed)])),
    access: { none: rounded(access.none / entries), all: rounded(access.all / entries), numbers: rounded(access.numbers / entries) },
    workersUsed: mean(used),
    differentPlans: mean(different),
    meanTokens: rounded(tokens / plans),
    truncated: rounded(truncated / plans),
    tokensPerSecond: Math.round(tokens / seconds),
    rejections,
  };
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;

const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : rounded(values.reduce((a, b) => a + b, 0) / values.length));
