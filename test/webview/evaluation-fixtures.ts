import type { EvaluationPageState } from '../../backend/protocol/evaluation-page.ts';
import type { EvaluationView, ResultRow, WholeSample } from '../../backend/protocol/evaluations.ts';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';

/* States of the page of an evaluation. */

const usage = { ...NO_USAGE, uncachedInput: 420, output: 310 };

export const row = (name: string, right: number, costUsd: number, more: Partial<ResultRow> = {}): ResultRow => ({
  name, right: { mean: right, low: right - 0.12, high: Math.min(1, right + 0.11) }, costUsd, usage, seconds: 3.2, isOnFrontier: false,
  versusBest: { difference: { mean: right - 0.7, low: right - 0.8, high: right - 0.6 }, pValue: 0.125 }, ...more,
});

export const ROWS: readonly ResultRow[] = [
  row('fern alone', 0.45, 0.0004, { isOnFrontier: true }),
  row('juniper alone', 0.7, 0.0061, { versusBest: undefined }),
  row('random plans', 0.5, 0.0044),
  row('self-reflection, five turns', 0.65, 0.021),
  row('majority of five', 0.75, 0.03),
  row('Conductor sim-conductor', 0.8, 0.0052, { isOnFrontier: true, formatRate: 0.95 }),
];

export const view = (more: Partial<EvaluationView> = {}): EvaluationView => ({
  folder: '/home/evaluations/1', state: 'over', sources: ['gym'], startedAt: 0, simulated: true, done: 120, all: 120, isPractice: false, spentUsd: 0.93,
  budget: { usd: 5, tokens: 1e7 }, seeds: 1, compared: 20, tasks: 20, pool: ['fern', 'juniper'], best: { worker: 'juniper', why: 'most expensive' },
  spent: { usd: 0.93, tokens: 210_000, unpricedTokens: 0, calls: 310, lost: 0 }, rows: [...ROWS], page: '/home/evaluations/1/results.html', ...more,
});

export const sample: WholeSample = {
  contestant: 'Conductor sim-conductor', task: 'gym/held-out/7', seed: 0, verified: false, score: 0.5, reason: 'One of two cases failed: expected 3, got 2.', answer: 'return 2;', costUsd: 0.0052,
  usage, seconds: 4.1, isPlan: true, question: 'Write a function that counts the vowels of a word.',
  traces: [[
    { worker: 'fern', subtask: 'Outline how vowels are counted.', reads: [], output: 'Go through the letters.', served: true },
    { worker: 'juniper', subtask: 'Write the function.', reads: [0], output: 'return 2;', served: false },
  ]],
};

const listed = ['gym/held-out/7', 'gym/held-out/8', 'gym/held-out/9'].map((task, index) => ({ contestant: sample.contestant, task, seed: 0, verified: index > 0, costUsd: 0.0052 }));

export const page = (more: Partial<EvaluationPageState> = {}): EvaluationPageState => ({
  evaluation: view(), filter: { contestant: '', outcome: 'all' }, samples: listed, allSamples: 120, ...more,
});

export const EVALUATION_SCENES: Readonly<Record<string, () => EvaluationPageState>> = {
  over: () => page(),
  sample: () => page({ opened: { contestant: sample.contestant, task: sample.task, seed: 0, sample } }),
  running: () => page({ evaluation: view({ state: 'running', done: 48, compared: 7 }) }),
  preparing: () => page({ evaluation: view({ state: 'preparing', done: 0, all: 0, rows: [], tasks: 0, compared: 0, spent: undefined }), samples: [], allSamples: 0 }),
  budget: () => page({ evaluation: view({ state: 'budget', simulated: false, done: 100, message: 'The next call may cost $0.20, and $4.90 of $5.00 are spent.' }) }),
  failed: () => page({ evaluation: undefined, samples: [], allSamples: 0, problem: 'There is no evaluation in /elsewhere that this version can read.' }),
};
