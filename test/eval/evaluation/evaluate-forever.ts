import { BASELINES } from '../../../backend/eval/contestant.ts';
import { Evaluation } from '../../../backend/eval/evaluation/open-evaluation.ts';
import { WorkerCaller } from '../../../backend/workers/call-worker.ts';
import { loadPrices } from '../../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../../backend/workers/limits/provider-limits.ts';
import { ASKED, exactTasks, workerNamed } from './exact-tasks.ts';

/* An evaluation in a process of its own, for the test that kills it: node evaluate-forever.ts FOLDER URL. */

const [folder = '', url = ''] = process.argv.slice(2);
const pool = ['one', 'two'].map((id) => workerNamed(id, url));
const prices = await loadPrices();
const evaluation = new Evaluation({
  sources: [{ name: 'exact', tasks: exactTasks(12), forms: { exact: 12 } }],
  practice: [], contestants: ['alone', 'reflection', 'majority'], planners: [], pool, best: 'one', seeds: 2,
  budget: { usd: 1, tokens: 10_000_000 }, folder, concurrency: 4,
  caller: new WorkerCaller({ limits: new ProviderLimits({ workers: pool }), prices }),
  asked: ASKED,
  keys: { get: () => Promise.reject(new Error('No key is needed.')), forget: () => {} },
  priceOf: (worker) => prices.of(worker),
  sameFor: () => (one, other) => Promise.resolve(one === other),
});
const { results } = await evaluation.run(new AbortController().signal, () => {});
evaluation.close();
process.stdout.write(JSON.stringify({ spent: results.spent, majority: results.contestants.find(({ name }) => name === BASELINES.majority)?.right.mean }));
