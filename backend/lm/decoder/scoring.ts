import type { Graph, Tensor } from '../graph/graph.ts';
import { divide, less, subtract } from '../graph/ops/arithmetic.ts';
import { loop } from '../graph/ops/control.ts';
import { gather, gatherElements } from '../graph/ops/indexing.ts';
import { logSoftmax } from '../graph/ops/neural.ts';
import { reshape } from '../graph/ops/shape.ts';
import { promptAttention } from './attention.ts';
import { type ContinuedPrompts, continuedPrompts, passOver } from './continued-prompts.ts';
import type { Decoder } from './decoder.ts';

/*
 * Log-probabilities of given tokens. The output layer is applied only where needed, to a few tokens at a time, so that no
 * [tokens, vocabulary] tensor exists.
 */

/** The number of tokens that go through the output layer together. */
export const PLACES_AT_ONCE = 64;

export interface ScoringInputs {
  readonly continued: ContinuedPrompts;
  /** int64[blocks, PLACES_AT_ONCE]: for each scored token, the index of the token before it, in the row of all prompts and completions. */
  readonly from: Tensor;
  /** int64[blocks, PLACES_AT_ONCE]: the ids of the scored tokens. */
  readonly targets: Tensor;
  /** int64[]: the number of blocks, which the loop reads on the host; see `PromptRows.total`. */
  readonly blocks: Tensor;
  /** float32[]. */
  readonly scoringTemperature: Tensor;
}

export function scoringInputs(root: Graph): ScoringInputs {
  return {
    continued: continuedPrompts(root, 'scored'),
    from: root.input('from', 'int64', ['blocks', PLACES_AT_ONCE]),
    targets: root.input('targets', 'int64', ['blocks', PLACES_AT_ONCE]),
    blocks: root.input('blocks', 'int64', []),
    scoringTemperature: root.input('scoringTemperature', 'float32', []),
  };
}

/** float32[blocks, PLACES_AT_ONCE] of softmax(logits / temperature). */
export function scoreTokens(g: Graph, decoder: Decoder, { continued, from, targets, blocks: limit, scoringTemperature }: ScoringInputs): Tensor {
  const { ids, pass } = passOver(g, decoder, continued);
  const hidden = decoder.layers(g, ids, pass(promptAttention));
  const blocks = reshape(g, g.size('blocks'), []);
  const { kept } = loop(g, { limit, state: [], steps: 'blocks' }, (body, block) => {
    const wanted = gather(body, hidden, gather(body, from, block));
    const logits = divide(body, decoder.logits(body, wanted, 'stored'), scoringTemperature);
    const logprobs = gatherElements(body, logSoftmax(body, logits), reshape(body, gather(body, targets, block), [PLACES_AT_ONCE, 1]), 1);
    const last = subtract(body, blocks, body.scalar('int64', 1));
    return { goOn: less(body, block, last), state: [], kept: [reshape(body, logprobs, [PLACES_AT_ONCE])] };
  });
  return kept[0]!;
}
