import { STEP_ROLES, type StepRole } from '../protocol/step-role.ts';
import { cholesky, solved, solvedTransposed } from './cholesky.ts';

/*
 * How likely tests verify the answer of a plan, learned from judged plans: a Bayesian logistic regression. Its features are who does what, in which
 * project, for which kind of question, and the order of roles. Priors are normal. The posterior is approximated by a normal distribution round its
 * mode (Laplace), from which Thompson's sampling draws (O. Chapelle and L. Li, "An Empirical Evaluation of Thompson Sampling", 2011).
 * docs/decisions/0030 says where the numbers come from.
 */

/** Standard deviations of the priors, in log-odds. */
const SPREADS = {
  level: 1.5,
  project: 0.5,
  kind: 0.5,
  /** The order of roles. */
  roles: 1,
  /** A worker in a role; and beside that in a project, for a kind of question, and for this kind in this project. */
  does: 1,
  here: 1,
  asked: 0.4,
  hereAsked: 1.8,
} as const;
type Feature = keyof typeof SPREADS;

/** Who plans or checks changes less than who writes the answer, as far as is known before. */
const NOT_WRITING = 0.6;
/** In log-odds, for each step above one: a plan of several has to show that it is better than one worker. */
const MORE_STEPS = -2.5;
/** Draws are nearer to the mode than the posterior says, so that less is paid for what is unlikely. */
const BOLDNESS = 0.6;

/** A plan weighs half as much as one that was judged this many plans later. */
const HALF_LIFE = 300;
/** Plans before these are left out: the time that a fit takes grows with their number. */
const NEWEST_PLANS = 400;
const NEWTON_STEPS = 12;
const CLOSE = 0.05;
const SMALLEST_PART = 1e-3;

export interface ValuedStep {
  readonly role: StepRole;
  /** A name that tells workers apart. */
  readonly worker: string;
}

/** What a plan is for. */
export interface PlanSubject {
  readonly project?: string | undefined;
  readonly kind: string;
}

export interface JudgedPlan extends PlanSubject {
  readonly steps: readonly ValuedStep[];
  readonly isRight: boolean;
}

/** What is believed of plans for one subject. */
export interface Belief {
  /** How likely the answer of a plan is verified. */
  chance(steps: readonly ValuedStep[]): number;
  /** What a worker adds in a role, in log-odds. */
  worth(role: StepRole, worker: string): number;
}

export class PlanValue {
  /** Those of whom something is known. */
  readonly workers: ReadonlySet<string>;
  /** The place of each feature. */
  readonly #places: ReadonlyMap<string, number>;
  readonly #mode: readonly number[];
  /** Cholesky's factor of the posterior's precision. */
  readonly #factor: readonly (readonly number[])[];

  /**
   * @param plans newest first
   * @param near the value of nearly the same plans, from which this one is found sooner
   */
  constructor(plans: readonly JudgedPlan[], near?: PlanValue) {
    const seen = plans.slice(0, NEWEST_PLANS).map((plan) => featuresOf(plan, plan.steps));
    this.workers = new Set(plans.slice(0, NEWEST_PLANS).flatMap(({ steps }) => steps.map(({ worker }) => worker)));
    const names = [...new Set(seen.flatMap((features) => [...features.keys()]))];
    this.#places = new Map(names.map((name, place) => [name, place]));
    const rows = seen.map((features, age): Row => ({
      at: [...features].map(([name, value]) => [this.#places.get(name) ?? 0, value]),
      offset: offsetOf(plans[age]?.steps ?? []), right: Number(plans[age]?.isRight), weight: 2 ** (-age / HALF_LIFE),
    }));
    [this.#mode, this.#factor] = fitted(rows, names.map(spreadOf), names.map((name) => near?.modeOf(name) ?? 0));
  }

  /** @param normal draws of the standard normal distribution, by which the belief is drawn; without them it is the likeliest one */
  belief(subject: PlanSubject, normal?: () => number): Belief {
    // With LLᵀ as the precision, x of Lᵀx = z has its inverse as covariance.
    const off = normal ? solvedTransposed(this.#factor, this.#mode.map(normal)) : [];
    const drawn = new Map<string, number>();
    const weight = (name: string): number => {
      const place = this.#places.get(name);
      if (place !== undefined) return (this.#mode[place] ?? 0) + BOLDNESS * (off[place] ?? 0);
      const known = drawn.get(name) ?? (normal ? BOLDNESS * spreadOf(name) * normal() : 0);
      drawn.set(name, known);
      return known;
    };
    const sumOf = (names: readonly string[]): number => names.reduce((sum, name) => sum + weight(name), 0);
    const level = sumOf(ofSubject(subject));
    const worths = new Map<string, number>();
    const worth = (role: StepRole, worker: string): number => {
      const key = `${role} ${worker}`;
      const known = worths.get(key) ?? sumOf(ofWorker(subject, role, worker));
      worths.set(key, known);
      return known;
    };
    return { worth, chance: (steps) => logistic(offsetOf(steps) + level + weight(ofRoles(steps)) + shared(steps).reduce((sum, { role, worker, part }) => sum + part * worth(role, worker), 0)) };
  }

  modeOf(name: string): number | undefined {
    return this.#mode[this.#places.get(name) ?? -1];
  }
}

const nameOf = (feature: Feature, ...of: readonly (string | undefined)[]): string => JSON.stringify([feature, ...of]);

function spreadOf(name: string): number {
  const [feature, role] = JSON.parse(name) as [Feature, string?];
  return SPREADS[feature] * (role === 'plan' || role === 'check' ? NOT_WRITING : 1);
}

const ofSubject = ({ project, kind }: PlanSubject): string[] => [nameOf('level'), nameOf('project', undefined, project), nameOf('kind', undefined, kind)];
const ofRoles = (steps: readonly ValuedStep[]): string => nameOf('roles', undefined, ...steps.map(({ role }) => role));
const ofWorker = ({ project, kind }: PlanSubject, role: StepRole, worker: string): string[] =>
  [nameOf('does', role, worker), nameOf('here', role, worker, project), nameOf('asked', role, worker, kind), nameOf('hereAsked', role, worker, project, kind)];

/** Workers in one role share what it adds. */
const shared = (steps: readonly ValuedStep[]): (ValuedStep & { readonly part: number })[] => STEP_ROLES.flatMap((role) => {
  const own = steps.filter((step) => step.role === role);
  return own.map((step) => ({ ...step, part: 1 / own.length }));
});

function featuresOf(subject: PlanSubject, steps: readonly ValuedStep[]): ReadonlyMap<string, number> {
  const features = new Map([...ofSubject(subject), ofRoles(steps)].map((name) => [name, 1]));
  for (const { role, worker, part } of shared(steps)) for (const name of ofWorker(subject, role, worker)) features.set(name, (features.get(name) ?? 0) + part);
  return features;
}

const offsetOf = (steps: readonly ValuedStep[]): number => MORE_STEPS * (steps.length - 1);

interface Row {
  readonly at: readonly (readonly [place: number, value: number])[];
  /** In log-odds, beside the features. */
  readonly offset: number;
  readonly right: number;
  readonly weight: number;
}

/** The mode of the posterior by Newton's method with steps that are halved until they lead upwards, and the factor of its precision. */
function fitted(rows: readonly Row[], spreads: readonly number[], from: readonly number[]): [mode: number[], factor: number[][]] {
  const priors = spreads.map((spread) => spread ** -2);
  const height = (at: readonly number[]): number => rows.reduce(
    (sum, row) => sum - row.weight * softplus((row.right ? -1 : 1) * logOddsOf(row, at)), -0.5 * priors.reduce((sum, prior, place) => sum + prior * at[place]! ** 2, 0),
  );
  let mode = [...from];
  for (let step = 1; ; step += 1) {
    const gradient = mode.map((value, place) => -priors[place]! * value);
    const precision = priors.map((prior, place) => [...new Array<number>(place).fill(0), prior]);
    for (const row of rows) {
      const { at, right, weight } = row;
      const chance = logistic(logOddsOf(row, mode));
      const curvature = weight * chance * (1 - chance);
      for (const [place, value] of at) {
        gradient[place]! += weight * (right - chance) * value;
        for (const [other, its] of at) if (other <= place) precision[place]![other]! += curvature * value * its;
      }
    }
    const factor = cholesky(precision);
    const change = solved(factor, gradient);
    const here = mode;
    const before = height(here);
    let part = 1;
    do {
      mode = here.map((value, place) => value + part * change[place]!);
      part /= 2;
    } while (height(mode) < before && part > SMALLEST_PART);
    if (step >= NEWTON_STEPS || change.every((value) => Math.abs(value) < CLOSE)) return [mode, factor];
  }
}

const logOddsOf = ({ at, offset }: Row, mode: readonly number[]): number => at.reduce((sum, [place, value]) => sum + mode[place]! * value, offset);
/** log(1 + eˣ), also where eˣ is too large for a number. */
const softplus = (value: number): number => Math.max(value, 0) + Math.log1p(Math.exp(-Math.abs(value)));

const logistic = (value: number): number => 1 / (1 + Math.exp(-value));
