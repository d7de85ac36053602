import type { SimulatedWorker } from '../../simulator/pool.ts';
import { skillsOf, type SkillRow } from '../../simulator/skills.ts';

/*
 * The pool of `conductor simulate`: workers whose descriptions say nothing. Who is good at what shows only in the outcomes of plans, so a
 * Conductor that has never met them chooses badly, and a training has something to find out. The numbers are made up.
 */

const DESCRIPTION = 'A language model. Nothing is known of what it does well.';

function untold(name: string, skill: SkillRow, usdPerMillion: number): SimulatedWorker {
  return {
    name, wire: 'openai-chat', description: DESCRIPTION, skills: skillsOf(skill),
    price: { inputPerMillion: usdPerMillion, outputPerMillion: 4 * usdPerMillion }, latency: { firstTokenMs: 0, tokensPerSecond: 1e9 },
  };
}

/** By ordinal: one that plans well, one that writes well, one that checks well, and two that do nothing well, of which one is the most expensive. */
export const UNTOLD_POOL: readonly SimulatedWorker[] = [
  untold('sim-fern', [0.4, 0.45, 0.4], 4),
  untold('sim-grove', [0.95, 0.5, 0.45], 2),
  untold('sim-hazel', [0.4, 0.42, 0.4], 1),
  untold('sim-iris', [0.45, 0.8, 0.5], 0.6),
  untold('sim-juniper', [0.4, 0.5, 0.93], 0.3),
];
