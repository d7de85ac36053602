import { MINI_PLANNER } from '../../../backend/conductor/mini-planner.ts';
import { planRequest } from '../../../backend/conductor/plan-request.ts';
import { readPlan } from '../../../backend/conductor/plan/read-plan.ts';
import { profileOf } from '../../../backend/conductor/prompt-profile.ts';
import { LocalAdapter } from '../../../backend/workers/adapters/local-adapter.ts';
import type { LanguageModel } from '../../../backend/lm/language-model.ts';
import { workerConfigSchema } from '../../../backend/protocol/worker-config.ts';
import type { Plan } from '../../../backend/workflow/plan.ts';

/** Four workers as **Add Worker** makes them, with its descriptions. */
export const POOL = [
  { id: 'gpt-5', model: 'gpt-5', provider: 'openai', description: 'A general language model.' },
  { id: 'claude-haiku-4-5', model: 'claude-haiku-4-5', provider: 'anthropic', description: 'A small general language model.' },
  { id: 'qwen2.5-coder-7b', model: 'qwen2.5-coder:7b', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', description: 'A language model made for code of 7.6 B weights on this machine.' },
  { id: 'deepseek-chat', model: 'deepseek-chat', provider: 'openai-compatible', baseUrl: 'https://api.deepseek.com', description: 'A general language model.' },
].map((worker) => workerConfigSchema.parse(worker));

/** The plan that a run would begin with, as Solve asks for it; undefined if the text is no plan. */
export async function planFor(model: LanguageModel, question: string, seed: number): Promise<Plan | undefined> {
  const input = { question, context: '', pool: POOL.map(({ description }) => ({ description })), rounds: [] };
  const { text, finishReason } = await new LocalAdapter(MINI_PLANNER, model).stream(planRequest(MINI_PLANNER, input, { seed }), {
    signal: new AbortController().signal, onText: () => {}, onThinking: () => {}, onActivity: () => {},
  });
  const parsed = readPlan(text, {
    workerCount: POOL.length, round: 0, truncated: finishReason === 'length', question, profile: profileOf(MINI_PLANNER), mayAskAgain: true,
  });
  return parsed.kind === 'plan' ? parsed.plan : undefined;
}
