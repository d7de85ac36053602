import { readFile, writeFile } from 'node:fs/promises';
import { MINI_PLANNER } from '../../../backend/conductor/mini-planner.ts';
import { planRequest } from '../../../backend/conductor/plan-request.ts';
import { readPlan } from '../../../backend/conductor/plan/read-plan.ts';
import { shapeOf, type ShapeStep } from '../../../backend/conductor/plan/shape.ts';
import { roleOfStep } from '../../../backend/protocol/step-role.ts';
import { profileOf } from '../../../backend/conductor/prompt-profile.ts';
import { BUNDLED_FOLDER, withConductorModel } from '../../../backend/lab/gym/with-conductor-model.ts';
import type { LanguageModel } from '../../../backend/lm/language-model.ts';
import { draw } from '../../../backend/train/statistics/draws.ts';
import type { Sampled } from './conductor-learners.ts';
import type { LearnTask } from './learn-tasks.ts';

export const PLAN_TOKENS = 256;
/** Plans of one task that contestants without training draw from. */
const SAMPLES = 32;

export interface SampleOptions {
  readonly workers: number;
  readonly seed: number;
  readonly samples: number;
  /** A PEFT folder. */
  readonly adapter?: string | undefined;
}

/** Plans of conductor-mini as Solve asks for them: constrained, in the words of its forms. */
export async function samplePlans(model: LanguageModel, { id, question }: LearnTask, { workers, seed, samples, adapter }: SampleOptions): Promise<ShapeStep[][]> {
  const pool = Array.from({ length: workers }, () => ({}));
  const { messages, continuation } = planRequest(MINI_PLANNER, { question, context: '', inProject: true, pool, rounds: [] }, { temperature: 1 });
  const texts = await model.write({
    messages: messages.map(({ role, content }) => ({ role, content })), prefill: continuation?.prefill, grammar: continuation?.grammar, maxTokens: PLAN_TOKENS, temperature: 1, topK: 0, topP: 1,
    samples, seeds: Array.from({ length: samples }, (_, sample) => draw(seed, 'learn', id, sample)), adapter,
  });
  return texts.flatMap(({ text, finishReason }) => stepsIn(text, { workers, question, truncated: finishReason === 'length' }) ?? []).map((steps) => [...steps]);
}

/** Undefined where the text is no valid plan. */
export function stepsIn(text: string, { workers, question, truncated }: { readonly workers: number; readonly question: string; readonly truncated: boolean }): [ShapeStep[]] | undefined {
  const read = readPlan(text, { workerCount: workers, round: 0, truncated, question, inProject: true, profile: profileOf(MINI_PLANNER), mayAskAgain: false });
  return read.kind === 'plan' ? [shapeOf(read.plan, read.plan.subtasks.map(roleOfStep))] : undefined;
}

/** Samples of the untrained model for every task and size of a pool. @param file what was sampled is kept there */
export async function sampledPlans(tasks: readonly LearnTask[], sizes: readonly number[], file: string): Promise<(workers: number) => Sampled> {
  const kept = await readFile(file, 'utf8').then((text) => JSON.parse(text) as Record<string, ShapeStep[][]>, (): Record<string, ShapeStep[][]> => ({}));
  const keyOf = (workers: number, { id }: LearnTask): string => `${workers} ${id}`;
  const missing = sizes.flatMap((workers) => tasks.filter((task) => !kept[keyOf(workers, task)]).map((task) => ({ workers, task })));
  if (missing.length > 0) {
    await withConductorModel(BUNDLED_FOLDER, async (model) => {
      for (const [index, { workers, task }] of missing.entries()) {
        kept[keyOf(workers, task)] = await samplePlans(model, task, { workers, seed: 1, samples: SAMPLES });
        if (index % 10 === 9 || index === missing.length - 1) {
          await writeFile(file, JSON.stringify(kept));
          console.error(`sampled plans for ${index + 1} of ${missing.length} prompts`);
        }
      }
    });
  }
  return (workers) => (task) => kept[keyOf(workers, task)] ?? [];
}
