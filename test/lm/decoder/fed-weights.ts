import type { Checkpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { Decoder, rotaryTables } from '../../../backend/lm/decoder/decoder.ts';
import { scoreTokens, scoringInputs } from '../../../backend/lm/decoder/scoring.ts';
import { scoresOf, scoringFeeds, type ScoringRequest } from '../../../backend/lm/decoder/scoring-run.ts';
import { DecoderWeights } from '../../../backend/lm/decoder/weights.ts';
import { Graph } from '../../../backend/lm/graph/graph.ts';
import { float32s, Session } from '../../../backend/lm/graph/session.ts';

/** The scores of a decoder some of whose weights are fed, by their names, instead of being read from its files. */
export async function scoreWithFedWeights(
  checkpoint: Checkpoint, weights: ReadonlyMap<string, Float32Array>, request: ScoringRequest,
): Promise<number[][]> {
  const { config, tensors } = checkpoint;
  const g = new Graph();
  const trainable = new Set(weights.keys());
  const decoderWeights = new DecoderWeights(g, checkpoint, { device: 'cpu', compute: 'float32', adapters: false, trainable });
  const decoder = new Decoder(config, decoderWeights, rotaryTables(g, config, 128, 'float32'));
  const scores = scoreTokens(g, decoder, scoringInputs(g));
  const session = await Session.open(g, { scores }, { device: 'cpu', threads: 1 });
  try {
    const fed = Object.fromEntries([...weights].map(([name, data]) => [name, float32s(tensors.get(name)?.shape ?? [], data)]));
    const results = await session.run({ ...scoringFeeds(request, config, 128), ...fed }, ['scores']);
    return scoresOf(request, results.scores);
  } finally {
    await session.close();
  }
}
