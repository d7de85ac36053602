/* The one rule by which a call fits into a budget. What is spent and what calls under way have reserved never exceed a limit together. */

/** Dollars are floating-point numbers: a sum within this tolerance of the limit does not exceed it. */
const USD_TOLERANCE = 1e-9;

export interface Amounts {
  readonly usd: number;
  readonly tokens: number;
}

export interface Limits {
  readonly usd?: number | undefined;
  readonly tokens?: number | undefined;
}

/** The limit that a call would exceed. */
export interface Excess {
  readonly unit: 'usd' | 'tokens';
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly asked: number;
}

/** `asked`: an upper bound; dollars are absent where no price is known, and then only the tokens limit the call. Undefined if it fits. */
export function excessOf(
  { asked, limits, spent, reserved }: { readonly asked: Limits & Pick<Amounts, 'tokens'>; readonly limits: Limits; readonly spent: Amounts; readonly reserved: Amounts },
): Excess | undefined {
  for (const unit of ['usd', 'tokens'] as const) {
    const [amount, limit] = [asked[unit], limits[unit]];
    if (amount === undefined || limit === undefined) continue;
    const tolerance = unit === 'usd' ? USD_TOLERANCE : 0;
    if (spent[unit] + reserved[unit] + amount > limit + tolerance) return { unit, limit, spent: spent[unit], reserved: reserved[unit], asked: amount };
  }
  return undefined;
}
