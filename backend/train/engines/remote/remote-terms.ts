import { formatUsd } from '../../../protocol/figures.ts';
import type { TrainingConfig } from '../../../protocol/training.ts';
import type { WorkerConfig } from '../../../protocol/worker-config.ts';
import { priceOf, type ServerPrice } from './server-price.ts';

/** The API has no field for it; SkyRL's constant, and Tinker's (https://thinkingmachines.ai/blog/lora/). */
const ALPHA = 32;

/** What a server with Tinker's API cannot do; one sentence. */
export function remoteProblem(config: Pick<TrainingConfig, 'temperature' | 'train' | 'adapter' | 'loss' | 'updates'>, conductor: Pick<WorkerConfig, 'adapter' | 'weights'>): string | undefined {
  const { temperature, train, adapter, loss, updates } = config;
  if (train === 'weights') return 'A training server with Tinker\'s API trains adapters alone: set "train" to "adapter", or train on this machine.';
  if (temperature !== 1) return 'A training server samples and trains at a temperature of 1 alone: set "temperature" to 1, or train on this machine.';
  if (adapter.alpha !== ALPHA) return `A training server makes adapters with an alpha of ${ALPHA}: set "adapter.alpha" to ${ALPHA}, or train on this machine.`;
  if (loss.divergence > 0 && updates > 1) {
    return 'A training server cannot weigh the divergence with more than one of "updates": set "updates" to 1 or "loss.divergence" to 0, or train on this machine.';
  }
  if (conductor.adapter !== undefined) {
    return 'A training server cannot start from an adapter that is on this machine: have the Conductor plan without it first (conductor train back), or train on this machine.';
  }
  if (conductor.weights !== undefined) {
    return 'A training server cannot start from weights that were trained on this machine: have the Conductor plan without them first (conductor train back), or train on this machine.';
  }
  return undefined;
}

type TermsConfig = Pick<TrainingConfig, 'engine' | 'steps' | 'tasksPerStep' | 'groupSize' | 'loss'>;

/** A question with its context and the workers, and a plan: what the estimate counts on. Both vary with the project and the model. */
const LIKELY = { prompt: 2_000, plan: 250 } as const;

/** Each plan is sampled, scored by the trainer before its step, and learned from; with a divergence it is scored once more. */
function estimate({ steps, tasksPerStep, groupSize, loss }: TermsConfig, price: ServerPrice): string {
  const { prompt, plan } = LIKELY;
  const whole = prompt + plan;
  const aPlan = priceOf({ prefill: prompt + whole * (loss.divergence > 0 ? 2 : 1), sample: plan, train: whole }, price);
  const all = steps * tasksPerStep * groupSize * aPlan;
  return `The server costs about ${formatUsd(all / steps)} a step and ${formatUsd(all)} for ${steps} steps, if a question with its context has ${prompt.toLocaleString('en')} tokens and a plan ${plan}; ` +
    'the comparison comes on top. What it costs is part of the budget.';
}

/** What a person is told before a server gets anything. */
export function remoteTerms(config: TermsConfig): readonly string[] {
  const { engine } = config;
  if (engine === 'local') return [];
  const { url, key, price } = engine;
  const ofKey = key === undefined ? '' : `, and your key ${key}`;
  return [
    `Plans are sampled and learned from by the server ${new URL(url).origin}. It gets the token ids of every question with its context, of the plans and of their advantages${ofKey}.`,
    price ? estimate(config, price) : 'What this server costs is not counted, and the budget does not limit it: set "engine.price" if it bills tokens.',
    'SkyRL as a server does not clip gradients, so that "gradientClip" has no effect there; entropies are not measured.',
  ];
}
