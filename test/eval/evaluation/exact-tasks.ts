import type { EvaluationOptions } from '../../../backend/eval/evaluation/open-evaluation.ts';
import { USUAL_EVALUATION } from '../../../backend/protocol/evaluation-request.ts';
import { workerConfigSchema, type WorkerConfig } from '../../../backend/protocol/worker-config.ts';
import type { FiledTask } from '../../../backend/eval/evaluation/evaluate.ts';
import { ExactAnswerGrader } from '../../../backend/verify/graders/exact-answer.ts';

/** Tasks whose right answer is "right", judged without a process. */
export const exactTasks = (count: number): FiledTask[] => Array.from({ length: count }, (_, index) => ({
  id: `task ${index}`, question: `What is question ${index}?`, context: '', fingerprint: String(index),
  grader: new ExactAnswerGrader({ answers: ['right'] }),
}));

export const workerNamed = (id: string, baseUrl: string): WorkerConfig => workerConfigSchema.parse({
  id, provider: 'openai-compatible', model: id, baseUrl, concurrency: 4, maxOutputTokens: 100, price: { inputPerMillion: 1, outputPerMillion: 1 },
});

/** What is kept of an evaluation that no command asked for. */
export const ASKED: EvaluationOptions['asked'] = {
  version: 1, host: 'terminal', startedAt: 0, request: { ...USUAL_EVALUATION, practice: [], contestants: [], planners: [], sources: ['gym'] },
};
