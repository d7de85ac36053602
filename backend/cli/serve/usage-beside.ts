import type { ConverseResult } from '../../protocol/conversation.ts';
import { totalTokens } from '../../protocol/token-counts.ts';

/** What stands beside the speaker's own usage in every format: the tokens of the plan and its other steps, and the cost of all. */
export function beside({ orchestration, cost }: Pick<ConverseResult, 'orchestration' | 'cost'>): { orchestration_tokens: number; cost_usd?: number } {
  return { orchestration_tokens: totalTokens(orchestration), ...(cost.usd !== undefined && { cost_usd: cost.usd }) };
}
