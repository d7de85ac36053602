import path from 'node:path';
import { parseArgs } from 'node:util';
import { writeMeanOfModels } from '../gym/mean-of-models.ts';

/* Makes one model of several trainings: the mean of their weights. */

const USAGE = `usage: node with-node.mjs node backend/lab.ts gym-mean --out DIR MODEL...

  MODEL     the "trained" folder of a training, in dist/gym
  --out DIR where the mean goes, in bfloat16, beside what else lies there
`;

const { values, positionals } = parseArgs({
  allowPositionals: true, options: { out: { type: 'string' }, help: { type: 'boolean', default: false } },
});
if (values.help || values.out === undefined || positionals.length === 0) {
  process.stdout.write(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else await writeMeanOfModels(positionals.map((folder) => path.resolve(folder)), path.resolve(values.out));
