import { randomInt } from 'node:crypto';

/** A whole number from 0 to below `sides`. */
export type Dice = (sides: number) => number;

/** What the control alters, and into what, must be nothing that the judged code can foresee. */
export const secretDice: Dice = (sides) => randomInt(sides);

export const pick = <Item>(items: readonly Item[], dice: Dice): Item | undefined => (items.length > 0 ? items[dice(items.length)] : undefined);
