import { planRequest } from '../../conductor/plan-request.ts';
import { readPlan } from '../../conductor/plan/read-plan.ts';
import { profileOf } from '../../conductor/prompt-profile.ts';
import { addUsage } from '../../protocol/token-counts.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import type { AskModel } from '../evaluation/paid-calls.ts';
import type { Contestant } from '../contestant.ts';
import { UNANSWERED } from '../run-plan.ts';

export interface PromptedConductorOptions {
  readonly name: string;
  /** Any worker, or a model of this machine with its adapter or without. */
  readonly planner: WorkerConfig;
  readonly pool: readonly Pick<WorkerConfig, 'description'>[];
  readonly ask: AskModel;
  readonly signal: AbortSignal;
}

/**
 * A Conductor writes a plan for each task, which the workers carry out (arXiv 2512.04388). A worker gets the instructions that Solve gives to
 * one that plans; a text without a valid plan counts as a wrong answer. What the plan cost is part of the cost.
 */
export function promptedConductor({ name, planner, pool, ask, signal }: PromptedConductorOptions): Contestant {
  return {
    name,
    version: JSON.stringify([planner.provider, planner.model, planner.adapter, profileOf(planner).version]),
    answer: async ({ question, context, project }, play, seed) => {
      const inProject = project !== undefined;
      const request = planRequest(planner, { question, context, pool, rounds: [], inProject, shown: project?.shown, project: project?.facts });
      const written = await ask(planner, request, seed, signal);
      const parsed = readPlan(written.text, {
        workerCount: pool.length, round: 0, truncated: written.finishReason === 'length', question, inProject, profile: profileOf(planner), mayAskAgain: false,
      });
      const isPlan = parsed.kind === 'plan';
      const played = isPlan ? await play(parsed.plan, 0) : UNANSWERED;
      return {
        ...played, isPlan,
        costUsd: played.costUsd + written.costUsd, usage: addUsage(played.usage, written.usage), seconds: played.seconds + written.seconds,
      };
    },
  };
}
