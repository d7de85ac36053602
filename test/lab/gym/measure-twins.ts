import { writeFile } from 'node:fs/promises';
import { SABOTAGES } from '../../../backend/lab/gym/sabotage.ts';
import { shortTraining } from './short-training.ts';

/*
 * What the sabotaged twins of the short training come to, for its test to compare with: node with-node.mjs node test/lab/gym/measure-twins.ts
 */

const gains: Record<string, unknown> = {};
for (const sabotage of SABOTAGES) {
  const { gain } = await shortTraining(sabotage);
  gains[sabotage] = gain;
  process.stdout.write(`${sabotage}: ${JSON.stringify(gain)}\n`);
}
await writeFile(new URL('twins.json', import.meta.url), `${JSON.stringify(gains, null, 2)}\n`);
