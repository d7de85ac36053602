import type { ConverseResult } from '../protocol/conversation.ts';
import { totalTokens } from '../protocol/token-counts.ts';

interface Beside {
  readonly orchestration_tokens: number;
  readonly cost_usd?: number;
  /** Absent where no worker is. */
  readonly simulated?: true;
}

/** What stands beside the speaker's own usage in every format: the tokens of the plan and its other steps, the cost of all, and whether a worker is simulated. */
export function beside({ orchestration, cost, simulated }: Pick<ConverseResult, 'orchestration' | 'cost' | 'simulated'>): Beside {
  return { orchestration_tokens: totalTokens(orchestration), ...(cost.usd !== undefined && { cost_usd: cost.usd }), ...(simulated && { simulated }) };
}
