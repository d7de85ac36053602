import { fileURLToPath } from 'node:url';
import type { ScriptedAnswer, ScriptedRequest } from './scripted-server.ts';

/*
 * What a training needs to learn anything: a Conductor that writes plans, and workers of whom one is right and one is wrong. Tasks ask
 * "What is N?" and expect N.
 */

/** The folder of the model that is part of Conductor. */
export const MINI = fileURLToPath(new URL('../../media/conductor-mini', import.meta.url));

/** The longest plan of conductor-mini, in tokens. */
export const MINI_PLAN_TOKENS = 256;

/** A worker of `unequalAnswer`'s server. */
const worker = (id: string, baseUrl: string): object =>
  ({ id, model: id, provider: 'openai-compatible', baseUrl, price: { inputPerMillion: 1, outputPerMillion: 1 }, simulated: true });

/** For workers.json. */
export const unequalWorkers = (baseUrl: string): object[] => [worker('right', baseUrl), worker('wrong', baseUrl)];

export function unequalAnswer({ model, text }: Pick<ScriptedRequest, 'model' | 'text'>): ScriptedAnswer {
  const [, asked = ''] = /What is (\d+)\?/.exec(text) ?? [];
  return `The answer is ${model === 'right' ? asked : '99'}.`;
}
