import { NO_USAGE } from '../../protocol/token-counts.ts';
import type { SimulatedWorker } from '../../simulator/pool.ts';
import { countTokens } from '../../simulator/simulated-model.ts';
import type { WorkerRule } from '../../simulator/worker-model.ts';
import { planRunner } from '../../eval/execute-on-task.ts';
import type { RunPlan } from '../../eval/run-plan.ts';

export interface InProcessOptions {
  readonly seed: number;
  readonly workers: readonly SimulatedWorker[];
  readonly rule: WorkerRule;
}

/** Gives the same answers and costs as over the wire, but in process: search and tuning need a million calls. */
export function runPlanInProcess({ seed, workers, rule }: InProcessOptions): RunPlan {
  const byName = new Map(workers.map((worker) => [worker.name, worker]));
  return planRunner(({ model }, messages, sample) => {
    const worker = byName.get(model);
    if (!worker) return Promise.reject(new RangeError(`There is no simulated worker "${model}".`));
    const seeded = worker.wire === 'openai-chat' ? { sample } : {};
    const answer = rule({ name: worker.name, skills: worker.skills, seed, hasHands: worker.hasHands }, { messages, ...seeded });
    const text = typeof answer === 'string' ? answer : answer.text;
    const { input, output } = typeof answer === 'string'
      ? { input: messages.reduce((sum, { content }) => sum + countTokens(content), 0), output: countTokens(text) }
      : answer.tokens;
    const { inputPerMillion, outputPerMillion } = worker.price;
    const costUsd = (input * inputPerMillion + output * outputPerMillion) / 1e6;
    return Promise.resolve({ text, costUsd, usage: { ...NO_USAGE, uncachedInput: input, output }, seconds: 0 });
  });
}
