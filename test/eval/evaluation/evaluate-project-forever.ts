import { openEvaluation } from '../../../backend/wiring/evaluation.ts';
import { environmentKeys } from '../../../backend/wiring/evaluation-keys.ts';

/* An evaluation on tasks of a project in a process of its own, for the test that kills it: node evaluate-project-forever.ts FOLDER WORKSPACE HOME. */

const [folder = '', workspace = '', home = ''] = process.argv.slice(2);
const { signal } = new AbortController();
const { evaluation, close } = await openEvaluation({
  sources: ['project'], practice: [], project: { workspace }, contestants: ['alone', 'majority'], rounds: 1, attempts: 1, planners: ['one'], simulated: false, best: 'one',
  limit: 3, seeds: 1, seed: 1, budget: { usd: 10, tokens: 1e8 }, folder, concurrency: 3,
}, { home, keys: environmentKeys({}), host: 'terminal', signal });
const { results, samples } = await evaluation.run(signal, () => {});
await close();
process.stdout.write(JSON.stringify({ spent: results.spent, rows: results.contestants.map(({ name, right }) => [name, right.mean]), tasks: [...new Set(samples.map(({ task }) => task))] }));
