import path from 'node:path';
import type { PromptInput } from '../../../backend/conductor/prompt-input.ts';
import { PROJECTIONS } from '../../../backend/lm/adapter/projections.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { ADAMW_DEFAULTS } from '../../../backend/lm/trainer/adamw.ts';
import { workerConfigSchema, type WorkerConfig } from '../../../backend/protocol/worker-config.ts';
import { LocalEngine } from '../../../backend/train/engines/local-engine.ts';
import { servedModels } from '../../../backend/wiring/served-models.ts';
import { WorkerCaller } from '../../../backend/workers/call-worker.ts';
import { loadPrices } from '../../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../../backend/workers/limits/provider-limits.ts';
import { MINI } from '../../support/unequal-workers.ts';

/* conductor-mini as a Conductor at a server, and adapters of it as trainings write them. */

/** What a Conductor is asked in these tests. */
export const INPUT: PromptInput = { question: 'Fix the parser: it drops the last token.', context: '', pool: [{ description: 'Writes code.' }, { description: 'Checks code for faults.' }], rounds: [] };

export const servedConductor = (baseUrl: string, fields: object = {}): WorkerConfig => workerConfigSchema.parse({
  id: 'served', provider: 'openai-compatible', model: 'conductor-mini', baseUrl, promptProfile: 'mini', enabled: false, served: { model: MINI }, ...fields,
});

/** A caller whose waits between attempts take no time. */
export const servedCaller = async (told: string[] = []): Promise<WorkerCaller> => new WorkerCaller({
  limits: new ProviderLimits(), prices: await loadPrices(), delay: async () => {}, tell: (sentence) => told.push(sentence),
  servedModels: servedModels(async (model) => model),
});

/** Writes an adapter that a few steps of a training made, and returns its folder. The same seed makes the same one. */
export async function trainedAdapter(versions: string, name: string, { seed = 1, rank = 8, learningRate = 3e-3 } = {}): Promise<string> {
  const model = await LocalModel.open({
    settings: { folder: MINI, device: 'cpu', precision: 'full', adapters: true, trainable: 'adapter', storage: versions }, device: 'cpu', deviceReasons: [], threads: 1,
  });
  try {
    await model.startTraining({ adapter: { rank, alpha: 2 * rank, projections: PROJECTIONS, seed }, optimizer: ADAMW_DEFAULTS });
    const engine = new LocalEngine(model, { versions });
    const messages = [{ role: 'user' as const, content: 'Which worker writes the parser?' }];
    const samples = await engine.sample({ messages, maxTokens: 12, temperature: 1, seeds: [seed, seed + 1, seed + 2, seed + 3] });
    const batch = samples.map(({ promptTokens, tokens, logprobs }, index) => ({ promptTokens, tokens, samplerLogprobs: logprobs, advantage: [1, -0.5, 0.25, -0.75][index]! }));
    const loss = { type: 'grpo' as const, clip: { low: 0.2, high: 0.2 }, klCoefficient: 0, importanceRatioCap: 2, temperature: 1, maxCompletionLength: 12 };
    for (let step = 0; step < 3; step += 1) {
      await engine.forwardBackward(loss, batch);
      await engine.optimStep({ learningRate, gradientClip: 1 });
    }
    await engine.saveForSampler(name);
  } finally {
    await model.close();
  }
  return path.join(versions, name);
}

/** The log-probabilities that this machine's own runtime gives to tokens after a prompt, at a temperature of 1. */
export async function ownLogprobs(texts: readonly { readonly promptTokenIds: readonly number[]; readonly tokenIds: readonly number[] }[], { adapter, storage }: { adapter?: string | undefined; storage: string }): Promise<number[][]> {
  const model = await LocalModel.open({ settings: { folder: MINI, device: 'cpu', precision: 'full', adapters: true, storage }, device: 'cpu', deviceReasons: [], threads: 1 });
  try {
    return await model.score({
      sequences: texts.map(({ promptTokenIds, tokenIds }) => [...promptTokenIds, ...tokenIds]), promptLengths: texts.map(({ promptTokenIds }) => promptTokenIds.length), temperature: 1, adapter,
    });
  } finally {
    await model.close();
  }
}
