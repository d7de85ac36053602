import type { Example, TrainEngine } from '../../train/engines/engine.ts';
import { exampleAt } from './examples.ts';
import { imitated, type PretrainParts } from './pretrain.ts';

/** Examples for each step and their weight: about a tenth of the update. */
const EXAMPLES = 4;
const WEIGHT = 0.1;

/** A seed that pre-training does not use. */
const SEED = 1_000_003;

/**
 * Reinforcement on first plans alone makes a small model forget later rounds. With this engine, each step also imitates a few later rounds.
 * `stepsDone`: completed steps of a resumed training.
 */
export function rehearsingEngine(
  engine: TrainEngine, tokenizer: PretrainParts['tokenizer'], { seed, stepsDone, withHands }: { readonly seed: number; readonly stepsDone: number; readonly withHands?: boolean | undefined },
): TrainEngine {
  let step = stepsDone;
  const examples = (): Example[] => Array.from({ length: EXAMPLES }, (_, place) =>
    imitated(exampleAt(SEED + seed, step * EXAMPLES + place, { only: 'later', withHands }), tokenizer));
  return {
    hasRoom: (prompt, tokens) => engine.hasRoom(prompt, tokens),
    sample: (request) => engine.sample(request),
    encode: (prompt, answer) => engine.encode(prompt, answer),
    forward: (batch, temperature, signal, version) => engine.forward(batch, temperature, signal, version),
    forwardBackward: async (loss, batch, signal) => {
      const trained = await engine.forwardBackward(loss, batch, signal);
      if (loss.type !== 'cross_entropy') await engine.forwardBackward({ type: 'cross_entropy', weight: WEIGHT }, examples(), signal);
      return trained;
    },
    optimStep: (options) => engine.optimStep(options),
    // Once for each step, even if the step has no gradient.
    saveForSampler: async (name) => {
      await engine.saveForSampler(name);
      step += 1;
    },
    saveState: (folder) => engine.saveState(folder),
  };
}
