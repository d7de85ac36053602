import { planRequest } from '../../conductor/plan-request.ts';
import { readPlan, type ReadPlan } from '../../conductor/plan/read-plan.ts';
import type { PastRound, PoolEntry } from '../../conductor/prompt-input.ts';
import type { PromptProfile } from '../../conductor/prompt-profile.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { shuffled } from '../../train/statistics/draws.ts';
import { feedbackOn } from '../../verify/feedback.ts';
import type { Grade } from '../../verify/graders/grader.ts';
import { MAX_STEPS, stepsOf, type Plan, type Step } from '../../workflow/plan.ts';
import type { ReadableOutput } from '../../workflow/execute-plan.ts';
import type { Ablation } from '../../conductor/plan/ablations.ts';
import type { ConductorSwitches } from '../conductor-switches.ts';
import type { Contestant, Play, PlayOptions } from '../contestant.ts';
import type { AskModel } from '../evaluation/paid-calls.ts';
import { UNANSWERED, withAll, type EvalTask, type PlanAnswer } from '../run-plan.ts';

export interface PromptedConductorOptions {
  readonly name: string;
  /** Any worker, or a model of this machine with its adapter or without. */
  readonly planner: WorkerConfig;
  readonly profile: PromptProfile;
  readonly pool: readonly Pick<WorkerConfig, 'description' | 'hands'>[];
  readonly switches: Omit<ConductorSwitches, 'ablations' | 'examples' | 'paperPrompt'>;
  readonly ablations: readonly Ablation[];
  /** Dollars for a million tokens each of input and output, by ordinal; Infinity where no price is known. */
  readonly priceOf: (worker: number) => number;
  readonly ask: AskModel;
  readonly signal: AbortSignal;
}

/**
 * A Conductor writes a plan for each task, which the workers carry out (arXiv 2512.04388). A worker gets the instructions that Solve gives to
 * one that plans; a text without a valid plan counts as a wrong answer. What the plans cost is part of the cost.
 *
 * With more than one round, it sees what became of its plan, and writes another one or keeps the answer. A verified answer ends the rounds.
 * Where nothing can judge an answer, it is shown the answer alone, as in the paper's recursion (Fig. 14). With more than one attempt, it
 * writes several plans independently. They are tried in the order of their price, until the tests verify an answer, as Solve does; where
 * nothing judges, one is tried. With itself as a worker, one step of a plan may be a plan of its own, to a depth.
 */
export function promptedConductor(options: PromptedConductorOptions): Contestant {
  const { name, planner, profile, switches, ablations } = options;
  const { rounds, attempts, self } = switches;
  return {
    name,
    version: JSON.stringify([planner.provider, planner.model, planner.adapter, profile, switches, ablations.map((one) => one.name), ...(planner.weights === undefined ? [] : [planner.weights])]),
    answer: async (task, play, seed) => {
      const conducting = new Conducting(options, { task, play, seed });
      return attempts > 1 && task.tests ? await conducting.attempts(attempts) : await conducting.rounds(rounds, { depth: self });
    },
  };
}

/** Samples of one seed have numbers that those of the next do not reach. */
const SAMPLES_OF_A_SEED = 1_000;

/** What a Conductor itself is described as, where it is one of the workers. */
const ITSELF: PoolEntry = {
  description: 'Yourself: you are asked for a plan of its own for this subtask, and hand on its answer. For a part that needs several workers. At most one step of a plan.',
};

interface Asked {
  readonly task: EvalTask;
  readonly play: Play;
  readonly seed: number;
}

/** One answer of a Conductor. */
class Conducting {
  readonly #options: PromptedConductorOptions;
  readonly #asked: Asked;
  /** Ordinals of the workers that it may use. */
  readonly #drawn: readonly number[];
  /** Everything that was paid for, in turn. */
  readonly #paid: PlanAnswer[] = [];
  #isPlan = true;

  constructor(options: PromptedConductorOptions, asked: Asked) {
    const { pool, switches: { pool: size } } = options;
    this.#options = options;
    this.#asked = asked;
    const all = pool.map((_, worker) => worker);
    this.#drawn = size === undefined ? all : shuffled(all, asked.seed, 'pool', asked.task.id).slice(0, size);
  }

  /** @param of how deep plans within plans may go, and the part that is to be planned */
  async rounds(count: number, of: { readonly depth: number; readonly part?: string }): Promise<PlanAnswer> {
    const { task } = this.#asked;
    const past: PastRound[] = [];
    let latest: PlanAnswer | undefined;
    let best: { readonly answer: PlanAnswer; readonly score: number } | undefined;
    let previousRound: PlayOptions['previousRound'];
    for (let round = 0; round < count; round += 1) {
      const { text, read } = await this.#plan({ rounds: past, sample: 0, ...of });
      if (read.kind !== 'plan') {
        if (read.kind === 'rejected') this.#isPlan = false;
        break;
      }
      latest = await this.#play(read.plan, round, { ...of, ...(previousRound && { previousRound }) });
      if (round + 1 === count && count === 1) break;
      const grade = of.part === undefined ? await task.tests?.grade({ answer: latest.answer, signal: this.#options.signal }) : undefined;
      const score = grade === undefined ? round : rankOf(grade);
      if (!best || score >= best.score) best = { answer: latest, score };
      if (grade?.verified || grade?.outcome === 'infrastructure') break;
      const feedback = grade ? feedbackOn(grade) : NOT_TESTED;
      past.push({ planText: text, answer: latest.answer, feedback });
      previousRound = { outputs: outputsOf(read.plan, latest), feedback };
    }
    return this.#all(best?.answer ?? latest ?? UNANSWERED);
  }

  async attempts(count: number): Promise<PlanAnswer> {
    const { task } = this.#asked;
    const { priceOf, signal } = this.#options;
    const plans: { readonly plan: Plan; readonly price: number; readonly sample: number }[] = [];
    for (let sample = 0; sample < count; sample += 1) {
      const { read } = await this.#plan({ rounds: [], sample, depth: 0 });
      if (read.kind === 'plan') plans.push({ plan: read.plan, sample, price: this.#carriedOut(read.plan).modelIds.reduce((sum, worker) => sum + priceOf(worker), 0) });
    }
    this.#isPlan = plans.length > 0;
    let best: { readonly answer: PlanAnswer; readonly grade: Grade } | undefined;
    for (const { plan, sample } of plans.toSorted((a, b) => (a.price === b.price ? 0 : a.price - b.price))) {
      const answer = await this.#play(plan, sample, { depth: 0 });
      const grade = await task.tests?.grade({ answer: answer.answer, signal });
      if (!grade || grade.outcome === 'infrastructure') return this.#all(answer);
      if (!best || rankOf(grade) > rankOf(best.grade)) best = { answer, grade };
      if (grade.verified) break;
    }
    return this.#all(best?.answer ?? UNANSWERED);
  }

  /** The chosen answer, with all that was paid for. */
  #all(chosen: PlanAnswer): PlanAnswer {
    return { ...withAll(chosen, this.#paid, 'in turn'), isPlan: this.#isPlan };
  }

  async #plan(
    { rounds, sample, depth, part = '' }: { readonly rounds: readonly PastRound[]; readonly sample: number; readonly depth: number; readonly part?: string },
  ): Promise<{ readonly text: string; readonly read: ReadPlan }> {
    const { planner, profile, pool, switches, ask, signal } = this.#options;
    const { task: { question, context, project, hands: place }, seed } = this.#asked;
    const inProject = project !== undefined;
    const offered = this.#drawn.map((worker): PoolEntry => {
      const { description, hands } = pool[worker] ?? {};
      return { description, ...(place && hands && { hasHands: true }) };
    });
    const workers = [...offered, ...(depth > 0 ? [ITSELF] : [])];
    const input = { question, context: [context, part].filter((text) => text !== '').join('\n\n'), pool: workers, rounds, inProject, shown: project?.shown, project: project?.facts };
    const request = planRequest(planner, input, { constrained: !switches.free }, profile);
    const { text, finishReason, ...spent } = await ask(planner, request, seed * SAMPLES_OF_A_SEED + sample, signal);
    this.#paid.push({ ...UNANSWERED, costUsd: spent.costUsd, usage: spent.usage, seconds: spent.seconds });
    const read = readPlan(text, { workerCount: workers.length, round: rounds.length, truncated: finishReason === 'length', question, inProject, profile, mayAskAgain: false });
    const isTwice = read.kind === 'plan' && depth > 0 && read.plan.modelIds.filter((worker) => worker === this.#drawn.length).length > 1;
    return { text, read: isTwice ? { kind: 'rejected', rejection: { reason: 'senseless', message: 'More than one step is a plan of its own.' } } : read };
  }

  async #play(plan: Plan, sample: number, { depth, part, ...options }: Pick<PlayOptions, 'previousRound'> & { readonly depth: number; readonly part?: string }): Promise<PlanAnswer> {
    const self = async (step: Step, inputs: readonly ReadableOutput[]): Promise<PlanAnswer> => {
      const within = new Conducting(this.#options, this.#asked);
      return await within.rounds(1, { depth: depth - 1, part: partOf(step, inputs) });
    };
    const played = await this.#asked.play(this.#carriedOut(plan), sample, { ...options, ...(part !== undefined && { moreContext: part }), ...(depth > 0 && { self }) });
    this.#paid.push(played);
    return played;
  }

  /** The plan in the ordinals of the whole pool, as the ablations have it. The worker after the last one is the Conductor itself. */
  #carriedOut(plan: Plan): Plan {
    const { pool, ablations } = this.#options;
    const named: Plan = { ...plan, modelIds: plan.modelIds.map((worker) => this.#drawn[worker] ?? pool.length) };
    return ablations.reduce<Plan>((changed, { change }) => change(changed), named);
  }
}

const NOT_TESTED = 'The answer was not tested.';

/** The order of answers by what tests said of them. */
const rankOf = ({ verified, score, outcome }: Grade): number => (verified ? 2 : outcome === 'failed' || outcome === 'passes' ? score : -1);

const outputsOf = (plan: Plan, { traces }: PlanAnswer): ReadableOutput[] =>
  stepsOf(plan).slice(0, MAX_STEPS).map((step) => ({ step, output: traces[0]?.[step.index]?.output ?? '' }));

/** What a plan of its own is told of the step that it does. */
function partOf({ subtask }: Step, inputs: readonly ReadableOutput[]): string {
  const seen = inputs.map(({ step, output }) => `What step ${step.index} ("${step.subtask}") handed on:\n${output}`);
  return ['Only this part of the question is to be done now, by a plan of its own:', subtask, ...seen].join('\n\n');
}
