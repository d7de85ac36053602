import type { GymParameters, HandsNumbers } from './gym-parameters.ts';
import type { Want } from './wants/want.ts';

export type PlanInView = 'right' | 'wrong' | 'none';

/** What makes a subtask easier or harder, judged from the messages. */
export interface Circumstances {
  /** In the units of skill. */
  readonly difficulty: number;
  /** A function that nobody has written, where it is absent. */
  readonly want?: Want;
  readonly vague: boolean;
  readonly plan: PlanInView;
  /** Visible characters that are irrelevant to the subtask. */
  readonly irrelevantCharacters: number;
}

function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

/** The probabilities that a simulated worker of the gym succeeds. */
export class GymChances {
  readonly #parameters: GymParameters;

  constructor(parameters: GymParameters) {
    this.#parameters = parameters;
  }

  rightPlan(skill: number, given: Circumstances): number {
    return logistic(this.#parameters.ease.plan + this.#margin(skill, given));
  }

  rightCode(skill: number, given: Circumstances): number {
    return logistic(this.#parameters.ease.write + this.#margin(skill, given) + this.#parameters.wants[given.want ?? 'code'].byPlan * this.#ofPlan(given, 'planInView'));
  }

  /** Probability that a review finds a bug. Workers miss their own bugs, and those that a plan led to, more often. */
  findingFault(skill: number, { subtlety, isOwn }: { subtlety: number; isOwn: boolean }, given: Circumstances): number {
    const { ease, finding } = this.#parameters;
    const author = isOwn ? finding.own : finding.others;
    const logOdds = ease.find + this.#parameters.wants[given.want ?? 'code'].easeOfFinding + this.#margin(skill, given) + author + this.#ofPlan(given, 'planWhenChecking');
    return logistic(logOdds + finding.subtlety * (subtlety - 0.5));
  }

  /** Probability that a found bug is fixed. */
  repair(skill: number, given: Circumstances): number {
    return logistic(this.#parameters.ease.repair + this.#margin(skill, given) + this.#ofPlan(given, 'planWhenChecking'));
  }

  /** Probability that correct code is considered wrong. */
  breaking(skill: number, isOwn: boolean): number {
    const { least, lack, own } = this.#parameters.breaking;
    return (least + lack * Math.max(0, 1 - skill)) * (isOwn ? own : 1);
  }

  /** Probability that running the code shows its fault. */
  noticing(skill: number, subtlety: number, given: Circumstances): number {
    const { hands: { noticing }, wants } = this.#parameters;
    const logOdds = noticing.ease + noticing.skill * this.#margin(skill, given) + noticing.subtlety * (subtlety - 0.5);
    return wants[given.want ?? 'code'].byHands * logistic(logOdds);
  }

  /** Probability that a fault is fixed that was seen to fail. */
  mending(skill: number, given: Circumstances): number {
    const { ease, hands } = this.#parameters;
    return logistic(ease.repair + hands.mending + this.#margin(skill, given) + this.#ofPlan(given, 'planWhenChecking'));
  }

  get hands(): HandsNumbers {
    return this.#parameters.hands;
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
