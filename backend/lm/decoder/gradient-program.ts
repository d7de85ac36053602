import { gradients } from '../graph/gradients.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import { add, divide, exponential, less, multiply, negate, subtract } from '../graph/ops/arithmetic.ts';
import { allOf, barrier } from '../graph/ops/barrier.ts';
import { loop } from '../graph/ops/control.ts';
import { detach } from '../graph/ops/detach.ts';
import { gather, gatherElements } from '../graph/ops/indexing.ts';
import { logSoftmax } from '../graph/ops/neural.ts';
import { remembered } from '../graph/ops/remembered.ts';
import { expand, reshape, sum } from '../graph/ops/shape.ts';
import { causalAttention, promptAttention } from './attention.ts';
import { type ContinuedPrompts, continuedPrompts, passOver } from './continued-prompts.ts';
import type { Decoder, OnProjected } from './decoder.ts';
import { type LossInputs, policyLoss } from './policy-loss.ts';
import { PLACES_AT_ONCE } from './scoring.ts';

/*
 * One forward and backward pass. A prompt goes through it once for all its completions. The forward pass keeps only the input of each layer,
 * and the backward pass computes each layer again (gradient checkpointing), so that memory holds the activations of one layer only. If memory
 * allows, the results of the projections are kept too, which makes the second computation cheap. The output layer handles a few tokens at a
 * time, forward and backward, so that no [tokens, vocabulary] tensor exists.
 */

export interface GradientInputs {
  readonly continued: ContinuedPrompts;
  /** int64[trained blocks, PLACES_AT_ONCE]: for each trained token, the index of the token before it, in the row of all prompts and completions. */
  readonly from: Tensor;
  /** int64[trained blocks, PLACES_AT_ONCE]: the ids of the trained tokens. */
  readonly targets: Tensor;
  /** int64[]: the number of blocks, which the loop reads on the host; see `PromptRows.total`. */
  readonly blocks: Tensor;
  /** float32[]. */
  readonly temperature: Tensor;
  /** Those of tokens are float32[trained blocks, PLACES_AT_ONCE] each. */
  readonly loss: LossInputs;
}

export interface GradientOutputs {
  /** float32[trained blocks, PLACES_AT_ONCE] each. */
  readonly losses: Tensor;
  readonly logprobs: Tensor;
  /** Of softmax(logits / temperature), in nats. */
  readonly entropies: Tensor;
  /** Of the sum of the losses, one for each wanted tensor. */
  readonly gradients: readonly Tensor[];
}

const BLOCKS = 'trained blocks';

export function gradientInputs(root: Graph): GradientInputs {
  const places = (name: string, element: 'int64' | 'float32' = 'float32'): Tensor => root.input(`trained ${name}`, element, [BLOCKS, PLACES_AT_ONCE]);
  const number = (name: string): Tensor => root.input(`trained ${name}`, 'float32', []);
  return {
    continued: continuedPrompts(root, 'trained'),
    from: places('from', 'int64'),
    targets: places('targets', 'int64'),
    blocks: root.input('trained blocks', 'int64', []),
    temperature: number('temperature'),
    loss: {
      oldLogprobs: places('oldLogprobs'),
      samplerLogprobs: places('samplerLogprobs'),
      referenceLogprobs: places('referenceLogprobs'),
      advantages: places('advantages'),
      surrogateWeights: places('surrogateWeights'),
      klWeights: places('klWeights'),
      crossEntropyWeights: places('crossEntropyWeights'),
      clipLow: number('clipLow'),
      clipHigh: number('clipHigh'),
      importanceRatioCap: number('importanceRatioCap'),
      onPolicy: root.input('trained onPolicy', 'bool', []),
    },
  };
}

/** The trained inputs of the outermost graph, by where the decoder uses them. A tied embedding is in `embedding` and in `head`. */
export interface Trained {
  readonly embedding: readonly Tensor[];
  /** One list for each layer. */
  readonly layers: readonly (readonly Tensor[])[];
  readonly head: readonly Tensor[];
}

/** Losses, and gradients of the trained tensors in the order of `wanted`. */
export function gradientsOfTokens(
  g: Graph, decoder: Decoder, inputs: GradientInputs, trained: Trained, wanted: readonly Tensor[], keepsProjections: boolean,
): GradientOutputs {
  const { ids, pass } = passOver(g, decoder, inputs.continued);
  const embedded = decoder.weights.embed(g, ids);
  const notes = keepsProjections ? new ProjectionNotes(g) : undefined;
  const forward = { ...pass(promptAttention), onProjected: notes?.note };
  // before[layer] is the input of that layer.
  const before = [embedded];
  for (let layer = 0; layer < decoder.config.layers; layer += 1) before.push(decoder.layer(g, before[layer]!, layer, forward));

  const sums = new Map<Tensor, Tensor>();
  const take = (tensors: readonly Tensor[], found: readonly Tensor[]): void => tensors.forEach((tensor, index) => {
    const known = sums.get(tensor);
    sums.set(tensor, known ? add(g, known, found[index]!) : found[index]!);
  });

  const hidden = before.pop()!;
  const head = throughHead(g, decoder, hidden, inputs, trained.head);
  take(trained.head, head.ofTrained);

  let upstream = head.ofHidden;
  let above: readonly Tensor[] = [];
  for (let layer = decoder.config.layers - 1; layer >= 0; layer -= 1) {
    const after = allOf(g, [upstream, ...above]);
    const x = barrier(g, before[layer]!, after);
    const again = { ...pass(causalAttention), onProjected: notes?.recall(after) };
    const parameters = trained.layers[layer] ?? [];
    const [ofX, ...ofParameters] = gradients(g, decoder.layer(g, x, layer, again), [x, ...parameters], upstream);
    take(parameters, ofParameters);
    [upstream, above] = [ofX!, ofParameters];
  }
  if (trained.embedding.length > 0) take(trained.embedding, gradients(g, embedded, trained.embedding, upstream));

  const { losses, logprobs, entropies } = head;
  return { losses, logprobs, entropies, gradients: wanted.map((tensor) => sums.get(tensor)!) };
}

/** Keeps the results of the projections in the forward pass for the backward pass. */
class ProjectionNotes {
  readonly #g: Graph;
  readonly #noted = new Map<string, Tensor>();

  constructor(g: Graph) {
    this.#g = g;
  }

  readonly note: OnProjected = (result, layer, projection) => {
    this.#noted.set(`${layer} ${projection}`, result);
    return result;
  };

  /** Waits for `after`. Otherwise onnxruntime would compute what depends on these results in the forward pass already, and keep it. */
  recall(after: Tensor): OnProjected {
    return (again, layer, projection) => remembered(this.#g, barrier(this.#g, this.#noted.get(`${layer} ${projection}`)!, after), again);
  }
}

/** The last norm, the output layer and the loss, forward and backward, one block of tokens at a time. */
function throughHead(g: Graph, decoder: Decoder, hidden: Tensor, inputs: GradientInputs, trained: readonly Tensor[]) {
  const { from, targets, blocks: limit, temperature, loss } = inputs;
  const blocks = reshape(g, g.size(BLOCKS), []);
  const start = trained.map((tensor) => expand(g, g.scalar('float32', 0), tensor.shape));
  const { state, kept } = loop(g, { limit, state: start, steps: BLOCKS }, (body, block, sums) => {
    const ofBlock = (tensor: Tensor): Tensor => gather(body, tensor, block);
    const wanted = gather(body, detach(body, hidden), ofBlock(from));
    const all = logSoftmax(body, divide(body, decoder.logits(body, wanted, 'stored'), temperature));
    const column = gatherElements(body, all, reshape(body, ofBlock(targets), [PLACES_AT_ONCE, 1]), 1);
    const logprobs = reshape(body, column, [PLACES_AT_ONCE]);
    const { clipLow, clipHigh, importanceRatioCap, onPolicy, ...places } = loss;
    const here = Object.fromEntries(Object.entries(places).map(([name, tensor]) => [name, ofBlock(tensor)])) as typeof places;
    const losses = policyLoss(body, logprobs, { ...here, clipLow, clipHigh, importanceRatioCap, onPolicy });
    const [ofWanted, ...ofTrained] = gradients(body, sum(body, losses, [0]), [wanted, ...trained]);
    const entropies = negate(body, sum(body, multiply(body, exponential(body, all), all), [1]));
    return {
      goOn: less(body, block, subtract(body, blocks, body.scalar('int64', 1))),
      state: sums.map((before, index) => add(body, before, ofTrained[index]!)),
      kept: [losses, logprobs, entropies, ofWanted!],
    };
  });
  const [losses, logprobs, entropies, ofPlaces] = kept as [Tensor, Tensor, Tensor, Tensor];
  // Scatters the gradients of the gathered states to their places.
  const [ofHidden] = gradients(g, gather(g, hidden, from), [hidden], ofPlaces);
  return { losses, logprobs, entropies, ofHidden: ofHidden!, ofTrained: state };
}
