import { isForCode, isQuick, type FoundWorker } from './found-models.ts';

/** The reason for suggesting a model. */
export type Reason = 'strongest' | 'code' | 'quick' | 'other-family' | 'next';

export interface Suggestion {
  readonly found: FoundWorker;
  readonly why: Reason;
}

/** Assumed number of weights if only the name is known: hosted models are larger than local ones. */
const HOSTED = 1e12;
const HOSTED_QUICK = 3e10;
const UNKNOWN = 7e9;
/** Smaller models seldom write code that passes a test. */
const ENOUGH = 1e9;

/**
 * Suggests two to four of the found models, each for a different reason: the strongest, one for code, a quick one, and one of another
 * family, which makes different errors. Returns one if there is only one.
 */
export function suggestPool(models: readonly FoundWorker[]): Suggestion[] {
  const byStrength = models.filter(isFirstOfItsName).sort((a, b) => strengthOf(b) - strengthOf(a));
  const strongEnough = byStrength.filter((found) => strengthOf(found) >= ENOUGH);
  const offered = strongEnough.length > 0 ? strongEnough : byStrength;
  const chosen: Suggestion[] = [];
  const take = (why: Reason, fits: (found: FoundWorker) => boolean, from = offered): void => {
    const found = from.find((one) => !chosen.some((suggestion) => suggestion.found === one) && fits(one));
    if (found) chosen.push({ found, why });
  };
  const strongest = offered[0];
  if (!strongest) return [];
  take('strongest', () => true);
  take('code', isForCode);
  take('quick', (found) => isQuick(found) && strengthOf(found) * 2 <= strengthOf(strongest), offered.toReversed());
  take('other-family', (found) => !isQuick(found) && !chosen.some((suggestion) => familyOf(suggestion.found) === familyOf(found)));
  if (chosen.length === 1) take('next', () => true);
  return chosen;
}

function strengthOf(found: FoundWorker): number {
  if (found.parameters !== undefined) return found.parameters;
  if (!found.remote) return UNKNOWN;
  return isQuick(found) ? HOSTED_QUICK : HOSTED;
}

/** The leading letters of the name, such as `qwen` of `Qwen/Qwen3:8b`. */
function familyOf({ model }: FoundWorker): string {
  return /^(?:meta-)?([a-z]+)/i.exec(model.split('/').at(-1) ?? '')?.[1]?.toLowerCase() ?? model;
}

/** Excludes duplicates: a second server with the same model adds nothing. */
function isFirstOfItsName(found: FoundWorker, index: number, all: readonly FoundWorker[]): boolean {
  return all.findIndex(({ model }) => model === found.model) === index;
}
