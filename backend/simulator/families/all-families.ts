import { calculatorFamily } from './calculator.ts';
import { csvFamily } from './csv.ts';
import { editDistanceFamily } from './edit-distance.ts';
import type { Family, Variant } from './family.ts';
import { fractionsFamily } from './fractions.ts';
import { intervalsFamily } from './intervals.ts';
import { leaderboardFamily } from './leaderboard.ts';
import { ordersFamily } from './orders.ts';
import { primesFamily } from './primes.ts';
import { rectanglesFamily } from './rectangles.ts';
import { stackMachineFamily } from './stack-machine.ts';
import { vendingMachineFamily } from './vending-machine.ts';
import { wrapTextFamily } from './wrap-text.ts';

export const FAMILIES: readonly Family[] = [
  intervalsFamily,
  csvFamily,
  primesFamily,
  vendingMachineFamily,
  leaderboardFamily,
  wrapTextFamily,
  calculatorFamily,
  rectanglesFamily,
  ordersFamily,
  stackMachineFamily,
  fractionsFamily,
  editDistanceFamily,
];

/** A family and its planted variant. */
export interface Bug {
  readonly family: Family;
  readonly variant: Variant;
}

/** All bugs that can be planted. Neighbours are of different families, so that consecutive seeds look different. */
export const BUGS: readonly Bug[] = interleaved();

function interleaved(): Bug[] {
  const longest = Math.max(...FAMILIES.map((family) => family.variants.length));
  return Array.from({ length: longest }, (_, index) =>
    FAMILIES.flatMap((family) => {
      const variant = family.variants[index];
      return variant ? [{ family, variant }] : [];
    }),
  ).flat();
}
