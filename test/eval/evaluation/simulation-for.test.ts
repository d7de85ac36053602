import { expect, it } from 'vitest';
import { simulationFor } from '../../../backend/eval/evaluation/simulation-for.ts';
import { simulationSchema } from '../../../backend/protocol/simulation.ts';

/* Whether an evaluation is with the simulated workers that run. */

const running = simulationSchema.parse({
  tasks: ['/data/known.jsonl'], seed: 3, beside: false, folder: '/home/simulation', workers: [{ id: 'sim-a', provider: 'openai', model: 'sim-a', simulated: true }],
});
const asked = { sources: ['gym'], seed: 3, simulated: false, pool: undefined };

it('is, unless none runs, other simulated ones are asked for, or other workers are named', () => {
  expect(simulationFor(asked, running)).toBe(running);
  expect(simulationFor({ ...asked, pool: ['sim-a', 'mine'] }, running)).toBe(running);
  expect(simulationFor({ ...asked, sources: ['/data/known.jsonl'], seed: 9 }, running)).toBe(running);
  expect(simulationFor(asked, undefined)).toBeUndefined();
  expect(simulationFor({ ...asked, simulated: true }, running)).toBeUndefined();
  expect(simulationFor({ ...asked, pool: ['mine'] }, running)).toBeUndefined();
});

it('is refused for tasks that they do not know, and says how to start workers that do', () => {
  expect(() => simulationFor({ ...asked, seed: 1 }, running)).toThrow(/seed 3: use --seed 3, .*: conductor simulate$/);
  expect(() => simulationFor({ ...asked, seed: 4 }, running)).toThrow(/conductor simulate --seed 4$/);
  expect(() => simulationFor({ ...asked, sources: ['gym', '/data/other.jsonl'] }, running)).toThrow(/do not know \/data\/other\.jsonl: .*conductor simulate --seed 3 \/data\/other\.jsonl$/);
});
