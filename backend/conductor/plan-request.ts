import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { Message, ModelRequest } from '../workers/model.ts';
import { conductorPrompt, endpointMessages } from './conductor-prompt.ts';
import type { PromptInput } from './prompt-input.ts';
import { planGrammar, type PlanGrammarOptions } from './plan-grammar.ts';
import { planRegex } from './plan-regex.ts';
import { mostSteps } from './plan/read-plan.ts';
import { profileOf } from './prompt-profile.ts';
import { readQuestion } from './question/read-question.ts';

/** Plans of this pool, in no more steps than the question is worth: small talk cannot get two. */
function formFor({ question, inProject = false, pool, rounds }: PromptInput): Pick<PlanGrammarOptions, 'workers' | 'maximumSteps' | 'revision'> {
  const maximumSteps = mostSteps(readQuestion(question, { inProject }), rounds.length);
  return { workers: pool.length, maximumSteps, revision: rounds.length > 0 && rounds.at(-1)?.mayKeep !== false };
}

/** The worker that plays the Conductor. */
export type Planner = Pick<WorkerConfig, 'provider'> &
  Partial<Pick<WorkerConfig, 'promptProfile' | 'served' | 'adapter' | 'temperature' | 'topP' | 'maxOutputTokens'>>;

export interface PlanSampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly seed?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Plans for the same prompt, in one request; 1 by default. Only of a served Conductor. */
  readonly plans?: number | undefined;
  /** False lets a model of this machine or a served one write any text; by default it writes valid plans only. Other endpoints ignore it. */
  readonly constrained?: boolean | undefined;
}

/** Tokens for a plan and its reasoning: the paper's 1,024 (arXiv 2512.04388 §4.1), with room for models that always reason. */
const ENDPOINT_PLAN_TOKENS = 8_192;
/** The paper's number. The plan's grammar needs this much room to end a plan in time, whatever the worker's own limit is. */
const LOCAL_PLAN_TOKENS = 1_024;

/** A plan is asked for without tools. */
export interface PlanRequest extends ModelRequest {
  readonly messages: readonly Message[];
}

/**
 * The request for a plan. A policy is this request and the model that it is sent to: the planner is called like any worker. A served Conductor
 * may be asked for n plans at once; for n plans of another, send it n times with n seeds. An evaluation may ask with another prompt than the
 * planner's own. A model of this machine, and a served one at a temperature of 1, replies with token ids and log-probabilities, too.
 */
export function planRequest(planner: Planner, input: PromptInput, sampling: PlanSampling = {}, profile = profileOf(planner)): PlanRequest {
  const temperature = sampling.temperature ?? planner.temperature;
  const topP = sampling.topP ?? planner.topP;
  const named = {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(sampling.seed !== undefined && { seed: sampling.seed }),
  };
  const { served } = planner;
  if (planner.provider !== 'local' && !served) {
    const maxTokens = sampling.maxTokens ?? ENDPOINT_PLAN_TOKENS;
    return { messages: endpointMessages(input, profile), maxOutputTokens: Math.min(maxTokens, planner.maxOutputTokens ?? maxTokens), ...named };
  }
  const { messages, prefill } = conductorPrompt(input, profile);
  // A training samples at a temperature of 1 and without a form: a served Conductor of that temperature is asked in the same way at first, and
  // its log-probabilities are then those of the model. After a text that is no plan the form holds it.
  const { constrained = !(served && temperature === 1 && !input.rejection), plans = 1 } = sampling;
  return {
    messages,
    maxOutputTokens: sampling.maxTokens ?? LOCAL_PLAN_TOKENS,
    // With a temperature of its own a plan is drawn from the whole distribution.
    ...(temperature !== undefined && { topP: 1 }),
    ...named,
    ...(served && plans > 1 && { samples: plans }),
    continuation: {
      prefill,
      ...(temperature !== undefined && { topK: 0 }),
      ...(constrained && (served ? { regex: planRegex(formFor(input)) } : { grammar: planGrammar({ ...formFor(input), prefill }) })),
      ...(planner.adapter !== undefined && { adapter: planner.adapter }),
    },
  };
}
