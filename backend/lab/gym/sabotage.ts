import type { TrainEngine } from '../../train/engines/engine.ts';
import type { Gatherer } from '../../train/grpo/gatherer.ts';
import { shuffled } from '../../train/statistics/draws.ts';

/** Sabotaged trainings that must learn nothing. Their failure shows that a real training's gain is not an artefact. */
export const SABOTAGES = ['zero-gradient', 'flipped-advantage', 'shuffled-rewards'] as const;
export type Sabotage = (typeof SABOTAGES)[number];

export function sabotagedEngine(engine: TrainEngine, sabotage: Sabotage | undefined): TrainEngine {
  return {
    hasRoom: (prompt, tokens) => engine.hasRoom(prompt, tokens),
    sample: (request) => engine.sample(request),
    encode: (prompt, answer) => engine.encode(prompt, answer),
    forward: (batch, temperature, signal, version) => engine.forward(batch, temperature, signal, version),
    forwardBackward: (loss, batch, signal) => {
      const flip = sabotage === 'flipped-advantage';
      return engine.forwardBackward(loss, flip ? batch.map((example) => ({ ...example, advantage: -example.advantage })) : batch, signal);
    },
    optimStep: (step) => engine.optimStep(sabotage === 'zero-gradient' ? { ...step, learningRate: 0 } : step),
    saveForSampler: (name) => engine.saveForSampler(name),
    saveState: (folder) => engine.saveState(folder),
  };
}

export function sabotagedGatherer<Task>(gatherer: Gatherer<Task>, sabotage: Sabotage | undefined, seed: number): Gatherer<Task> {
  if (sabotage !== 'shuffled-rewards') return gatherer;
  return {
    prompt: (task, at) => gatherer.prompt(task, at),
    outcomes: async (task, plans, at, signal) => shuffled(await gatherer.outcomes(task, plans, at, signal), seed, 'sabotage', at.step, at.place),
  };
}
