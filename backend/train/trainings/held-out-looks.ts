import { rolloutsOf } from '../../protocol/training-facts.ts';
import type { Comparison, HeldOutLook, TrainingConfig } from '../../protocol/training.ts';
import { comparisonOf, lookAtHeldOut, pairsOfLook, type LookOptions, type LookParts } from './compare.ts';

export interface HeldOutLooksOptions extends LookOptions {
  /** Those of earlier processes, oldest first. */
  readonly looks: readonly HeldOutLook[];
  readonly signal: AbortSignal;
  /** Called after each look. */
  readonly save: (looks: readonly HeldOutLook[]) => Promise<void>;
}

/** What looks on the way tell, and the steps that they were taken after. */
export interface Seen {
  readonly comparison: Comparison;
  readonly from: number;
  readonly to: number;
}

/**
 * Tries of held-out tasks by two Conductors, paid for look by look until they tell which is better. On the way the trained one changes from
 * look to look, so these looks tell only when a training may stop: what is offered is shown by looks of its own, with the weights that are offered.
 */
export class HeldOutLooks<Task> {
  readonly #parts: LookParts<Task>;
  readonly #options: HeldOutLooksOptions;
  readonly #looks: HeldOutLook[];

  constructor(parts: LookParts<Task>, options: HeldOutLooksOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#looks = [...options.looks];
  }

  /** Pairs of tries with the weights at the end. */
  tried(): number {
    return this.#final().length * pairsOfLook(this.#parts.tasks.length);
  }

  /** With the weights at the end. */
  comparison(): Comparison {
    return comparisonOf(this.#final(), this.#parts.tasks.length);
  }

  /** What the looks of the later half of the steps tell: of the first ones a training has nothing to show yet. Undefined where there are none. */
  seen(done: number): Seen | undefined {
    const late = this.#looks.filter(({ step, isFinal }) => !isFinal && 2 * step > done);
    const [first, last] = [late[0], late.at(-1)];
    return first && last ? { comparison: comparisonOf(late, this.#parts.tasks.length), from: first.step, to: last.step } : undefined;
  }

  /** Looks after a step, unless that was done before. */
  async onTheWay(step: number): Promise<void> {
    if (!this.#looks.some((look) => look.step === step)) await this.#take({ step, isFinal: false });
  }

  /** Looks until it is known which is better, or each task was tried so often. */
  async untilKnown(step: number, mostTries: number, onPair: () => void): Promise<Comparison> {
    while (this.comparison().says === 'not-known' && this.tried() < mostTries * this.#parts.tasks.length) await this.#take({ step, isFinal: true, onPair });
    return this.comparison();
  }

  #final(): readonly HeldOutLook[] {
    return this.#looks.filter(({ isFinal }) => isFinal);
  }

  async #take({ onPair, ...look }: Pick<HeldOutLook, 'step' | 'isFinal'> & { readonly onPair?: () => void }): Promise<void> {
    const { save, signal } = this.#options;
    const pairs = await lookAtHeldOut({ ...this.#parts, onPair }, this.#looks.length, this.#options, signal);
    this.#looks.push({ ...look, pairs });
    await save([...this.#looks]);
  }
}

/** Whether to look after so many steps: tries on the way stay below their share of the plans that were trained on. */
export function isLookDue(done: number, heldOut: number, config: TrainingConfig): boolean {
  const due = (steps: number): number => Math.floor(config.evaluation.onTheWay * rolloutsOf({ ...config, steps }) / (2 * pairsOfLook(heldOut)));
  return heldOut > 0 && done > 0 && due(done) > due(done - 1);
}
