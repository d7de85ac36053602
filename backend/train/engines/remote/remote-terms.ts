import type { TrainingConfig } from '../../../protocol/training.ts';
import type { WorkerConfig } from '../../../protocol/worker-config.ts';

/** The API has no field for it; SkyRL's constant, and Tinker's (https://thinkingmachines.ai/blog/lora/). */
const ALPHA = 32;

/** What a server with Tinker's API cannot do; one sentence. */
export function remoteProblem(config: Pick<TrainingConfig, 'temperature' | 'adapter' | 'loss' | 'updates'>, conductor: Pick<WorkerConfig, 'adapter'>): string | undefined {
  const { temperature, adapter, loss, updates } = config;
  if (temperature !== 1) return 'A training server samples and trains at a temperature of 1 alone: set "temperature" to 1, or train on this machine.';
  if (adapter.alpha !== ALPHA) return `A training server makes adapters with an alpha of ${ALPHA}: set "adapter.alpha" to ${ALPHA}, or train on this machine.`;
  if (loss.divergence > 0 && updates > 1) {
    return 'A training server cannot weigh the divergence with more than one of "updates": set "updates" to 1 or "loss.divergence" to 0, or train on this machine.';
  }
  if (conductor.adapter !== undefined) {
    return 'A training server cannot start from an adapter that is on this machine: have the Conductor plan without it first (conductor train back), or train on this machine.';
  }
  return undefined;
}

/** What a person is told before a server gets anything. */
export function remoteTerms({ engine }: Pick<TrainingConfig, 'engine'>): readonly string[] {
  if (engine === 'local') return [];
  const { url, key } = engine;
  const ofKey = key === undefined ? '' : `, and your key ${key}`;
  return [
    `Plans are sampled and learned from by the server ${new URL(url).origin}. It gets the token ids of every question with its context, of the plans and of their advantages${ofKey}.`,
    'What this server costs is not counted, and the budget does not limit it.',
    'SkyRL as a server does not clip gradients, so that "gradientClip" has no effect there; entropies are not measured.',
  ];
}
