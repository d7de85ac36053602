import { readFile, stat, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { PROJECTIONS } from '../../../backend/lm/adapter/projections.ts';
import { writeAdapter } from '../../../backend/lm/adapter/write-adapter.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import type { DecoderConfig } from '../../../backend/lm/checkpoint/decoder-config.ts';
import type { Precision } from '../../../backend/lm/language-model.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { newAdapterLayers } from '../../../backend/lm/trainer/new-adapter.ts';
import { randomNumbers } from '../decode/random.ts';
import type { Job } from './job.ts';

/*
 * Completes a job:  prepare.ts --job FILE --precision full|4-bit --rank N --prompts separate|shared --rows N --length N
 * Draws the adapter, where its folder is not there yet, and the tokens, and lets our runtime score the completions: that is what the
 * sampler would have said. A process of its own, so that it takes no memory when others are measured.
 */

const { values } = parseArgs({
  options: {
    job: { type: 'string' }, precision: { type: 'string' }, rank: { type: 'string' }, prompts: { type: 'string' }, rows: { type: 'string' },
    length: { type: 'string' },
  },
});
/** So far from the policy at hand that the ratio is clipped on both sides, e^±0.3 being 1.35 and 0.74. */
const DRIFT = 0.3;
/** As a reward of one in two gives them. */
const ADVANTAGES = [1, -1] as const;

const begun = JSON.parse(await readFile(values.job as string, 'utf8')) as Omit<Job, 'sequences' | 'oldLogprobs' | 'advantages'>;
const { config } = await openCheckpoint(begun.model);
if (!await stat(begun.adapter).then(() => true, () => false)) await drawAdapter(config);

const [rows, length] = [Number(values.rows), Number(values.length)];
const random = randomNumbers(length);
const draw = (count: number): number[] => Array.from({ length: count }, () => Math.floor(random() * config.vocabularySize));
const prompt = draw(begun.promptTokens);
const sequences = Array.from({ length: rows }, () =>
  [...(values.prompts === 'shared' ? prompt : draw(begun.promptTokens)), ...draw(length - begun.promptTokens)]);

const model = await LocalModel.open({
  settings: {
    folder: begun.model, device: begun.device, precision: values.precision as Precision, contextLength: length, adapters: true,
    storage: begun.storage,
  },
  device: begun.device, deviceReasons: [], threads: begun.threads,
});
const scores = await model.score({ sequences, promptLengths: sequences.map(() => begun.promptTokens), adapter: begun.adapter });
await model.close();

const job: Job = {
  ...begun,
  sequences,
  oldLogprobs: scores.map((row) => row.map((logprob) => logprob + DRIFT * (2 * random() - 1))),
  advantages: sequences.map((_, row) => ADVANTAGES[row % 2] as number),
};
await writeFile(values.job as string, JSON.stringify(job));

/** A new adapter, but with something in `b`: where it is 0 no gradient reaches `a`. */
async function drawAdapter(config: DecoderConfig): Promise<void> {
  const rank = Number(values.rank);
  const layers = newAdapterLayers(config, { rank, alpha: 2 * rank, projections: PROJECTIONS, seed: 1 });
  const number = randomNumbers(1);
  for (const pairs of layers) for (const { b } of pairs.values()) b.forEach((_, index) => (b[index] = 0.02 * (number() - 0.5)));
  await writeAdapter(begun.adapter, { rank, alpha: 2 * rank, baseModel: begun.model, layers });
}
