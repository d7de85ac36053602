import { conductorPrompt } from '../../conductor/conductor-prompt.ts';
import { profileOf } from '../../conductor/prompt-profile.ts';
import { ownText, taughtText, type TaughtText } from '../../conductor/taught-text.ts';
import type { Plan } from '../../protocol/plan.ts';
import { modelHere } from '../../protocol/served.ts';
import type { RoundView, RunSnapshot, StepView } from '../../protocol/run-snapshot.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { planInput } from '../../solve/plan-prompt.ts';
import { contextOf } from '../../solve/shown-files.ts';
import type { Prompt } from '../engines/engine.ts';
import { placeIn, planInPool } from './outcome.ts';

export interface Learner {
  readonly conductor: WorkerConfig;
  /** The workers on offer now. */
  readonly pool: readonly WorkerConfig[];
}

export interface TaughtOutcome extends TaughtText {
  readonly prompt: Prompt;
}

/**
 * What a Conductor is to write for a plan that was carried out: its own prompt for that question, made by the code that makes all of them, with the
 * workers of now; and the plan in its own form, as it sampled it if it did. Undefined where a worker of the plan or of a round before is gone.
 */
export function taughtOutcome(run: RunSnapshot, index: number, { conductor, pool }: Learner): TaughtOutcome | undefined {
  const profile = profileOf(conductor);
  const isOwn = isPlannedBy(run, conductor) && samePool(run.pool, pool);
  const rounds = run.rounds.map((round) => (isOwn ? round : retold(round, run, { conductor, pool })));
  const round = rounds[index];
  if (!round?.plan || rounds.slice(0, index + 1).some((one) => one === undefined)) return undefined;
  const { records: _records, ...unrecorded } = run;
  const recast = { ...unrecorded, pool, policy: { ...run.policy, worker: conductor }, rounds: rounds.map((one, at) => one ?? run.rounds[at] as RoundView) };
  const { messages, prefill } = conductorPrompt(planInput(recast, index, contextOf(run, index, round.planAttempt)), profile);
  const prompt = { messages: messages.map(({ role, content }) => ({ role, content })), prefill };
  const { planText = '', planMended, planEdited } = round;
  const isAsWritten = isOwn && !planMended && !planEdited && planText.startsWith(prefill);
  return { prompt, ...(isAsWritten ? ownText(planText.slice(prefill.length), profile) : taughtText(round.plan, profile)) };
}

const isPlannedBy = ({ policy: { worker } }: Pick<RunSnapshot, 'policy'>, conductor: WorkerConfig): boolean =>
  worker !== undefined && modelHere(worker) === conductor.model && profileOf(worker).name === profileOf(conductor).name;

const samePool = (one: readonly WorkerConfig[], other: readonly WorkerConfig[]): boolean =>
  one.length === other.length && one.every((worker, place) => placeIn(other, worker) === place);

/** A round as the learner would have planned it: in its form, with the ordinals of now, and without texts that the other Conductor had refused. */
function retold(round: RoundView, run: Pick<RunSnapshot, 'pool'>, { conductor, pool }: Learner): RoundView | undefined {
  const textOf = (plan: Plan): string | undefined => {
    const here = planInPool(plan, run.pool, pool);
    return here && taughtText(here, profileOf(conductor)).text;
  };
  const { plan, rejections: _rejections, discarded = [], steps, ...rest } = round;
  const planText = plan && textOf(plan);
  if (plan && planText === undefined) return undefined;
  const told = discarded.flatMap((one) => {
    const text = textOf(one.plan);
    return text === undefined ? [] : [{ ...one, text, rejections: 0 }];
  });
  return {
    ...rest, rejections: [], discarded: told, steps: steps.map((step) => inPool(step, run.pool, pool)),
    ...(plan && planText !== undefined && { plan: planInPool(plan, run.pool, pool) ?? plan, planText }),
  };
}

const inPool = (step: StepView, from: readonly WorkerConfig[], to: readonly WorkerConfig[]): StepView => ({
  ...step, worker: placeIn(to, from[step.worker]),
  ...(step.handedOn && { handedOn: step.handedOn.map((one) => ({ ...one, worker: placeIn(to, from[one.worker]) })) }),
});
