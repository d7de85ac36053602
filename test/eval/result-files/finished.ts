import { aloneName } from '../../../backend/eval/contestant.ts';
import { resultRows } from '../../../backend/eval/evaluation/results.ts';
import type { Sample } from '../../../backend/protocol/evaluations.ts';
import type { Finished } from '../../../backend/eval/result-files/finished.ts';
import { NO_USAGE } from '../../../backend/protocol/token-counts.ts';

type FinishedTask = NonNullable<ReturnType<Finished['tasks']['get']>>;

export const usage = { ...NO_USAGE, uncachedInput: 90, cacheRead: 10, output: 40, reasoning: 5 };

export const sampleOf = (sample: Partial<Sample> & Pick<Sample, 'contestant' | 'task'>): Sample => ({
  seed: 0, verified: true, score: 1, reason: 'It is right.', answer: 'Answer: B', costUsd: 0.001, usage, seconds: 2,
  traces: [[{ worker: 'one', subtask: 'Solve it.', reads: [], output: 'Answer: B', served: false }]], ...sample,
});

const program = 'def twice(x):\n    return 2 * x\n';
const planned = (answer: string): Partial<Sample> => ({
  answer, isPlan: true, costUsd: 0.004,
  traces: [[
    { worker: 'one', subtask: 'Outline it.', reads: [], output: 'An outline.', served: true },
    { worker: 'two', subtask: 'Write it.', reads: [0], output: answer, served: false },
  ]],
});

/** Two contestants on a task of choice, a program of HumanEval and one of MBPP, for two seeds. */
export function finished(change: Partial<Pick<Finished, 'samples' | 'tasks'>> & { readonly simulated?: boolean } = {}): Finished {
  const fenced = `Here it is.\n\n\`\`\`python\n${program}\`\`\`\n`;
  const samples = change.samples ?? [0, 1].flatMap((seed) => [
    sampleOf({ contestant: aloneName('one'), task: 'letters', seed, verified: seed === 0, score: 1 - seed }),
    sampleOf({ contestant: 'Conductor two', task: 'letters', seed, ...planned('Answer: C') }),
    sampleOf({ contestant: aloneName('one'), task: 'HumanEval/0', seed, answer: fenced }),
    sampleOf({ contestant: 'Conductor two', task: 'HumanEval/0', seed, ...planned('No code.'), verified: false, score: 0 }),
    sampleOf({ contestant: aloneName('one'), task: 'mbpp/2', seed, answer: fenced }),
    sampleOf({ contestant: 'Conductor two', task: 'mbpp/2', seed, ...planned(fenced) }),
  ]);
  const tasks: Finished['tasks'] = change.tasks ?? new Map<string, FinishedTask>([
    ['letters', { question: 'Which one?', form: 'MMLU', spec: { kind: 'choice', choices: ['a', 'b', 'c'], answer: 1 } }],
    ['HumanEval/0', { question: 'Complete it.', form: 'HumanEval', spec: { kind: 'check', prelude: 'import math\n\n\ndef twice(x):\n    """Doubles."""\n', test: 'check(twice)' } }],
    ['mbpp/2', { question: 'Write it.', form: 'MBPP', spec: { kind: 'check', prelude: '', test: 'assert twice(1) == 2' } }],
  ]);
  return {
    samples, tasks,
    results: {
      version: 1, conductor: '0.1.0', at: '2026-03-01T10:00:00.000Z', simulated: change.simulated ?? false,
      sources: [{ name: 'some.jsonl', tasks: tasks.size, forms: { HumanEval: 1 } }], tasks: tasks.size, seeds: 2,
      pool: [{ id: 'one', provider: 'openai-compatible', model: 'one-1' }], best: { worker: 'one', why: 'chosen' },
      spent: { usd: 0.1, tokens: 1_000, unpricedTokens: 0, calls: 10, lost: 0, paid: 10, served: 2 },
      contestants: resultRows(samples),
      samples: samples.map(({ contestant, task, seed, verified, score, costUsd }) => ({ contestant, task, seed, verified, score, costUsd })),
    },
  };
}
