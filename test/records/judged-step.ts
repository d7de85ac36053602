import { judgedStepSchema, type JudgedStep } from '../../backend/protocol/judged-step.ts';

let runs = 0;

/** The only step of a plan that was verified, unless it says otherwise; each of a run of its own. */
export const judgedStep = (more: Partial<JudgedStep> = {}): JudgedStep => judgedStepSchema.parse({
  runId: `r${(runs += 1)}`, round: 0, step: 0, steps: 1, source: 'question', project: '/here', kind: 'bug', at: 0, judgement: 'verified',
  worker: 'ann', model: 'model-of-ann', role: 'write', usd: 0.01, tokens: 1_000, durationMs: 2_000, ...more,
});

export const by = (worker: string): Pick<JudgedStep, 'worker' | 'model'> => ({ worker, model: `model-of-${worker}` });

/** So many answers, of which some are verified. */
export const answers = (all: number, verified: number, more: Partial<JudgedStep> = {}): JudgedStep[] =>
  Array.from({ length: all }, (_, index) => judgedStep({ judgement: index < verified ? 'verified' : 'failed', ...more }));
