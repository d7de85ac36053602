import { readAdapter } from '../../../backend/lm/adapter/read-adapter.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { DecoderSession, type DecoderOptions } from '../../../backend/lm/decoder/decoder-session.ts';
import type { GenerationRequest } from '../../../backend/lm/decoder/generation-request.ts';
import { adapterFolder, type GoldenModel, modelFolder } from '../../golden/golden.ts';

/** A golden model in a session of its own, as the product opens it; to be closed. */
export async function openModel(model: GoldenModel, options: Partial<DecoderOptions> = {}): Promise<DecoderSession> {
  const checkpoint = await openCheckpoint(modelFolder(model));
  return DecoderSession.open(checkpoint, {
    device: 'cpu', compute: 'float32', adapters: false, threads: 1, repackWeights: true, ...options,
  });
}

export async function goldenAdapter(model: GoldenModel, adapter: string) {
  const { config } = await openCheckpoint(modelFolder(model));
  return readAdapter(adapterFolder(adapter), config);
}

/** A request for free text of all tokens; rows have the seeds 0, 1, … where none are given. */
export function request(changes: Partial<GenerationRequest> & Pick<GenerationRequest, 'prompts'>): GenerationRequest {
  const { prompts, samples = 1 } = changes;
  return {
    samples,
    maxTokens: 12,
    temperature: 1,
    topP: 1,
    topK: 0,
    seeds: Array.from({ length: prompts.length * samples }, (_, row) => row),
    stopTokenIds: [],
    chunkTokens: 16,
    ...changes,
  };
}

export const greedy = { temperature: 0, topP: 1, topK: 0 } as const;

/** The largest difference between two lists of log-probabilities; those that are of different lengths differ without end. */
export function worstDifference(left: readonly (readonly number[])[], right: readonly (readonly number[])[]): number {
  const sameLengths = left.length === right.length && left.every((row, index) => row.length === right[index]?.length);
  if (!sameLengths) return Number.POSITIVE_INFINITY;
  const differences = left.flatMap((row, index) => row.map((value, place) => Math.abs(value - (right[index]?.[place] as number))));
  return differences.reduce((worst, difference) => (difference <= worst ? worst : difference), 0);
}
