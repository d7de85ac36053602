import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { SABOTAGES } from '../../../backend/lab/gym/sabotage.ts';
import { trySandbox } from '../../verify/setup.ts';
import { type ShortTraining, shortTraining } from './short-training.ts';

const { available, note } = await trySandbox();

/** Measured by measure-twins.ts. */
const twins = JSON.parse(await readFile(new URL('twins.json', import.meta.url), 'utf8')) as Record<string, ShortTraining['gain']>;

it.skipIf(!available)(`a short training on the gym raises the reward on held-out tasks, and none of its sabotaged twins does (${note})`, async () => {
  const { gain, metrics } = await shortTraining();
  // The reward of a text that is no plan is 0, of a plan whose answer is wrong 0.5, of one whose answer is right 1.
  expect(gain.mean).toBeGreaterThan(0.25);
  for (const name of SABOTAGES) expect(gain.low, name).toBeGreaterThan(twins[name]!.high);
  expect(metrics.every(({ errored_rollouts }) => errored_rollouts === 0)).toBe(true);
}, 600_000);
