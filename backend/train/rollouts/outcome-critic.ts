import { readPlan } from '../../conductor/plan/read-plan.ts';
import { shapeOf } from '../../conductor/plan/shape.ts';
import type { PromptProfile } from '../../conductor/prompt-profile.ts';
import { readQuestion } from '../../conductor/question/read-question.ts';
import { roleOfStep } from '../../protocol/step-role.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { type JudgedPlan, PlanValue, type PlanSubject, type ValuedStep } from '../../records/plan-value.ts';
import { valuedStep } from '../../solve/plan-by-records.ts';
import type { SampledCompletion } from '../engines/engine.ts';
import type { Critic, TaskGroup } from '../grpo/critic.ts';
import type { GroupPlace } from '../grpo/gatherer.ts';
import type { RolloutOutcome } from '../grpo/reward.ts';

/** What the critic reads of a task. */
interface CriticTask {
  readonly question: string;
  /** The project, where it is a task of one. */
  readonly installed?: string | undefined;
}

export interface OutcomeCriticOptions {
  readonly profile: Pick<PromptProfile, 'isInstructed'>;
  /** The workers that a group can use, by ordinal. */
  readonly poolOf: (at: GroupPlace) => readonly WorkerConfig[];
  /** What answers count as that pass without being verified. */
  readonly passes: 'wrong' | 'right';
  /** Of the same training before it was interrupted. */
  readonly judged?: readonly JudgedPlan[] | undefined;
}

/** Expects of a plan what records would: who does what in it, for which kind of question and in which project (`backend/records/plan-value.ts`). */
export class OutcomeCritic implements Critic<CriticTask> {
  readonly #options: OutcomeCriticOptions;
  #judged: readonly JudgedPlan[];
  #value: PlanValue;

  constructor(options: OutcomeCriticOptions) {
    this.#options = options;
    this.#judged = options.judged ?? [];
    this.#value = new PlanValue(this.#judged);
  }

  get judged(): readonly JudgedPlan[] {
    return this.#judged;
  }

  chances(task: CriticTask, completions: readonly SampledCompletion[], at: GroupPlace): readonly (number | undefined)[] {
    const belief = this.#value.belief(subjectOf(task));
    return completions.map((completion) => {
      const steps = this.#stepsOf(task, completion, at);
      return steps && belief.chance(steps);
    });
  }

  learn(step: readonly TaskGroup<CriticTask>[]): void {
    const judged = step.flatMap(({ task, at, group }) => group.flatMap(({ completion, outcome }): JudgedPlan[] => {
      const steps = outcome?.kind === 'judged' && this.#stepsOf(task, completion, at);
      return steps ? [{ ...subjectOf(task), steps, isRight: this.#isRight(outcome) }] : [];
    }));
    this.#judged = [...judged.toReversed(), ...this.#judged];
    // From the start each time, so that a resumed training finds the same.
    this.#value = new PlanValue(this.#judged);
  }

  #isRight(outcome: Extract<RolloutOutcome, { kind: 'judged' }>): boolean {
    return outcome.verified || (outcome.passes === true && this.#options.passes === 'right');
  }

  #stepsOf({ question, installed }: CriticTask, { text, finishReason }: SampledCompletion, at: GroupPlace): readonly ValuedStep[] | undefined {
    const pool = this.#options.poolOf(at);
    const read = readPlan(text, {
      workerCount: pool.length, round: 0, truncated: finishReason === 'length', question, inProject: installed !== undefined, profile: this.#options.profile, mayAskAgain: false,
    });
    return read.kind === 'plan' ? shapeOf(read.plan, read.plan.subtasks.map(roleOfStep)).map((one) => valuedStep(one, pool)) : undefined;
  }
}

const subjectOf = ({ question, installed }: CriticTask): PlanSubject => ({ project: installed, kind: readQuestion(question, { inProject: installed !== undefined }).kind });
