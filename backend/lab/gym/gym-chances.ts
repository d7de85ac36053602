import type { GymParameters } from './gym-parameters.ts';

export type PlanInView = 'right' | 'wrong' | 'none';

/** What makes a subtask easier or harder, as far as it can be read from the messages. */
export interface Circumstances {
  /** In the units of skill. */
  readonly difficulty: number;
  readonly vague: boolean;
  readonly plan: PlanInView;
  /** Characters in view that do not serve the subtask. */
  readonly irrelevantCharacters: number;
}

function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

/** How likely a simulated worker of the gym is to succeed. */
export class GymChances {
  readonly #parameters: GymParameters;

  constructor(parameters: GymParameters) {
    this.#parameters = parameters;
  }

  rightPlan(skill: number, given: Circumstances): number {
    return logistic(this.#parameters.ease.plan + this.#margin(skill, given));
  }

  rightCode(skill: number, given: Circumstances): number {
    return logistic(this.#parameters.ease.write + this.#margin(skill, given) + this.#ofPlan(given, 'planInView'));
  }

  /** That a fault in code under review is noticed. One overlooks one's own faults, and those that a plan led to, more easily. */
  findingFault(skill: number, { subtlety, isOwn }: { subtlety: number; isOwn: boolean }, given: Circumstances): number {
    const { ease, finding } = this.#parameters;
    const author = isOwn ? finding.own : finding.others;
    const logOdds = ease.find + this.#margin(skill, given) + author + this.#ofPlan(given, 'planWhenChecking');
    return logistic(logOdds + finding.subtlety * (subtlety - 0.5));
  }

  /** That a fault which was found is repaired. */
  repair(skill: number, given: Circumstances): number {
    return logistic(this.#parameters.ease.repair + this.#margin(skill, given) + this.#ofPlan(given, 'planWhenChecking'));
  }

  /** That good code is taken for faulty. */
  breaking(skill: number, isOwn: boolean): number {
    const { least, lack, own } = this.#parameters.breaking;
    return (least + lack * Math.max(0, 1 - skill)) * (isOwn ? own : 1);
  }

  get copying(): number {
    return this.#parameters.copying;
  }

  get habit(): number {
    return this.#parameters.habit;
  }

  #ofPlan({ plan }: Circumstances, effect: 'planInView' | 'planWhenChecking'): number {
    return plan === 'none' ? 0 : this.#parameters[effect][plan];
  }

  #margin(skill: number, { difficulty, vague, irrelevantCharacters }: Circumstances): number {
    const { slope, irrelevant } = this.#parameters;
    const noise = irrelevant.each * Math.min(irrelevant.most, irrelevantCharacters / 1_000);
    return slope * (skill - difficulty) + (vague ? this.#parameters.vague : 0) + noise;
  }
}
