import { readFileSync } from 'node:fs';
import type { KeyedRandom } from '../../../backend/common/keyed-random.ts';

/*
 * How long a worker takes, drawn from what was measured of real ones. `measured.json` has the quantiles 0, 0.05, … 1 of
 * - the time to the first token and the tokens a second after it, for Llama 2 70B at seven hosts, 101 to 150 requests each: the raw data of the
 *   LLMPerf leaderboard (github.com/ray-project/llmperf-leaderboard, 2023-12-19, Apache 2.0);
 * - the tokens that 19,366 conversations generated: the Azure LLM inference trace 2023, conversation (github.com/Azure/AzurePublicDataset, CC BY 4.0;
 *   Patel et al., Splitwise, ISCA 2024).
 * Their shape is what counts here: hosts that differ tenfold, and a tail (one host let a request wait for 72 s).
 */

export interface Host {
  readonly name: string;
  readonly firstTokenSeconds: readonly number[];
  readonly tokensPerSecond: readonly number[];
}

const { hosts, generatedTokens } = JSON.parse(readFileSync(new URL('measured.json', import.meta.url), 'utf8')) as {
  readonly hosts: readonly Host[];
  readonly generatedTokens: readonly number[];
};

/** As many as the paper's workers. */
export const HOSTS = hosts;

/** The paper's workers write 1,820 tokens for a question (its Table 6); conductor-mini's plans here have 1.9 steps. The trace has 211 tokens on average. */
const TOKENS_SCALE = 1_820 / 1.9 / 211;

/** A call: seconds to the first token, tokens, and tokens a second. */
export interface Pace {
  readonly firstTokenSeconds: number;
  readonly tokens: number;
  readonly tokensPerSecond: number;
}

export function paceOf(host: Host, random: KeyedRandom): Pace {
  return {
    firstTokenSeconds: quantile(host.firstTokenSeconds, random.unit('first token')),
    tokens: Math.round(quantile(generatedTokens, random.unit('tokens')) * TOKENS_SCALE),
    tokensPerSecond: quantile(host.tokensPerSecond, random.unit('rate')),
  };
}

export const secondsOf = ({ firstTokenSeconds, tokens, tokensPerSecond }: Pace): number => firstTokenSeconds + tokens / tokensPerSecond;

/** @param share from 0 to 1 */
export function quantile(quantiles: readonly number[], share: number): number {
  const at = share * (quantiles.length - 1);
  const below = Math.floor(at);
  const [low = 0, high = low] = [quantiles[below], quantiles[below + 1]];
  return low + (high - low) * (at - below);
}
