import type { JudgedStep } from '../protocol/judged-step.ts';
import type { Tally } from '../protocol/records.ts';
import type { StepRole } from '../protocol/step-role.ts';
import { wilson } from './wilson.ts';

/*
 * What tests said of the work of each worker. docs/decisions/0028 has the reasons.
 *
 * A verdict is one piece of evidence, however many took part: it is divided equally among the steps of its plan. A step whose own change was refuted is
 * a wrong answer by itself. The newest count most.
 */

/** An answer counts half as much as one that the same worker gave this many answers later: providers change models, and people change code. */
const HALF_LIFE = 100;

/**
 * How many answers "what is known otherwise" weighs. With a Beta distribution of this strength, the true shares of workers differ as much as those
 * of the seven workers in arXiv 2512.04388, Table 7: 8.1 on code (LiveCodeBench), 6.6 on mathematics (MATH-500); on the other two they differ less.
 */
const STRENGTH = 8;

export type WorkerName = Pick<JudgedStep, 'worker' | 'model'>;

/** What a record is about; a part that is absent does not matter. */
export interface Subject {
  readonly project?: string | undefined;
  readonly role?: StepRole | undefined;
  readonly kind?: string | undefined;
}

interface Evidence {
  readonly step: JudgedStep;
  /** Of one verdict, by its age. */
  readonly weight: number;
  /** Undefined where the verdict says nothing of the work. */
  readonly isRight: boolean | undefined;
}

interface Shares {
  readonly right: number;
  readonly all: number;
}

export class RecordBook {
  readonly #evidence: ReadonlyMap<string, readonly Evidence[]>;
  /** Of all workers together. */
  readonly #shareOfAll: number;

  /** @param steps newest first */
  constructor(steps: readonly JudgedStep[]) {
    const ofWorkers = Map.groupBy(steps, nameKey);
    this.#evidence = new Map([...ofWorkers].map(([key, own]) => [key, weighed(own)]));
    const { right, all } = sharesOf([...this.#evidence.values()].flat());
    // Where nothing is known, a half: as likely as not.
    this.#shareOfAll = (right + 1) / (all + 2);
  }

  /** All workers of whom something is known. */
  workers(): WorkerName[] {
    return [...this.#evidence.values()].flatMap(([first]) => (first ? [{ worker: first.step.worker, model: first.step.model }] : []));
  }

  /**
   * The share of verified answers to expect of a worker. Where it is known from few answers, it is drawn towards what is known otherwise: of all
   * workers, of this worker, of this role of it, of this kind of question, and last of this project. Of its own, no answer counts at two of these.
   */
  expected(name: WorkerName, { role, kind, project }: Subject = {}): number {
    const own = this.#evidence.get(nameKey(name)) ?? [];
    const narrower: readonly ((step: JudgedStep) => boolean)[] = [
      ...(role === undefined ? [] : [(step: JudgedStep) => step.role === role]),
      ...(kind === undefined ? [] : [(step: JudgedStep) => step.kind === kind]),
      ...(project === undefined ? [] : [(step: JudgedStep) => step.project === project]),
    ];
    // The same for all workers: drawn towards the others alone, the worse of two would be expected to be the better one.
    let share = this.#shareOfAll;
    let left = own;
    for (const belongs of [...narrower, undefined]) {
      const [inner, outer] = belongs ? parted(left, ({ step }) => belongs(step)) : [[], left];
      share = drawn(sharesOf(outer), share);
      left = inner;
    }
    return share;
  }

  /** What is known of a worker by itself; undefined where tests never judged it. */
  tally(name: WorkerName, subject: Subject = {}): Tally | undefined {
    const own = this.#about(name, subject);
    return own.length === 0 ? undefined : tallyOf(own);
  }

  /** The kinds of questions of which something is known, by a worker. */
  kindsOf(name: WorkerName, subject: Subject): string[] {
    return [...new Set(this.#about(name, subject).map(({ step: { kind } }) => kind))];
  }

  /** The number of plans with a verdict. @param project undefined: of all projects */
  answers(project: string | undefined): number {
    const steps = [...this.#evidence.values()].flat().map(({ step }) => step);
    return new Set(steps.filter((step) => project === undefined || step.project === project).map(planKey)).size;
  }

  #about(name: WorkerName, { role, kind, project }: Subject): Evidence[] {
    return (this.#evidence.get(nameKey(name)) ?? []).filter(({ step }) =>
      (role === undefined || step.role === role) && (kind === undefined || step.kind === kind) && (project === undefined || step.project === project));
  }
}

function drawn({ right, all }: Shares, towards: number): number {
  return (right + STRENGTH * towards) / (all + STRENGTH);
}

function weighed(steps: readonly JudgedStep[]): Evidence[] {
  const plans = new Map<string, number>();
  return steps.map((step) => {
    const plan = planKey(step);
    const age = plans.get(plan) ?? plans.size;
    plans.set(plan, age);
    return { step, weight: 2 ** (-age / HALF_LIFE), isRight: step.isRefuted ? false : isRight(step) };
  });
}

/**
 * Tests that pass without being shown to notice a wrong answer prove nothing of a question: it may be that none could. A training has only tasks that
 * can be verified, so there it counts as a training rewards it by default: as wrong.
 */
export function isRight({ judgement, source }: JudgedStep): boolean | undefined {
  if (judgement === 'passes') return source === 'rollout' || source === 'evaluation' ? false : undefined;
  return judgement === 'verified';
}

function sharesOf(evidence: readonly Evidence[]): Shares {
  let [right, all] = [0, 0];
  for (const { step, weight, isRight: right_ } of evidence) {
    if (right_ === undefined) continue;
    const part = weight / (step.isRefuted ? 1 : step.steps);
    all += part;
    if (right_) right += part;
  }
  return { right, all };
}

function tallyOf(evidence: readonly Evidence[]): Tally {
  const { right, all } = sharesOf(evidence);
  const judged = [...Map.groupBy(evidence, ({ step }) => planKey(step)).values()].map((own) => ({
    right: own.some(({ isRight: right_ }) => right_ === true),
    passes: own.some(({ step }) => step.judgement === 'passes' && !step.isRefuted),
  }));
  const sum = (of: (one: Evidence) => number): number => evidence.reduce((total, one) => total + of(one), 0);
  const isPriced = evidence.every(({ step: { usd } }) => usd !== undefined);
  const usd = isPriced ? sum(({ step }) => step.usd ?? 0) : undefined;
  const spent = isPriced ? sum(({ step, weight }) => weight * (step.usd ?? 0)) : undefined;
  const times = evidence.flatMap(({ step: { durationMs } }) => durationMs ?? []);
  return {
    answers: judged.length,
    verified: judged.filter((plan) => plan.right).length,
    passes: judged.filter((plan) => plan.passes).length,
    steps: evidence.length,
    evidence: all,
    ...(all > 0 && { share: { mean: right / all, ...wilson(right, all) } }),
    ...(spent !== undefined && right > 0 && { usdPerVerified: spent / right }),
    ...(usd !== undefined && { usdPerAnswer: usd / judged.length, usdPerStep: usd / evidence.length }),
    ...(times.length > 0 && { msPerAnswer: (mean(times) * evidence.length) / judged.length, msPerStep: mean(times) }),
    tokens: sum(({ step }) => step.tokens),
  };
}

const mean = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0) / values.length;
export const nameKey = ({ worker, model }: WorkerName): string => JSON.stringify([worker, model]);
export const planKey = ({ runId, round }: JudgedStep): string => `${runId}/${round}`;

function parted<T>(values: readonly T[], belongs: (value: T) => boolean): [inner: T[], outer: T[]] {
  const [inner, outer]: [T[], T[]] = [[], []];
  for (const value of values) (belongs(value) ? inner : outer).push(value);
  return [inner, outer];
}
