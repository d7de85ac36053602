import type { RemoteEngineSettings } from '../../../protocol/training.ts';

export type ServerPrice = NonNullable<RemoteEngineSettings['price']>;

/** Tokens that a server reads without learning from them, writes, and learns from. */
export interface ServerTokens {
  readonly prefill?: number;
  readonly sample?: number;
  readonly train?: number;
}

/** In dollars. */
export function priceOf({ prefill = 0, sample = 0, train = 0 }: ServerTokens, { prefillPerMillion, samplePerMillion, trainPerMillion }: ServerPrice): number {
  return (prefill * prefillPerMillion + sample * samplePerMillion + train * trainPerMillion) / 1_000_000;
}
