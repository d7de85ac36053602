import type { Adapter } from '../adapter/read-adapter.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import { Graph, type Tensor } from '../graph/graph.ts';
import { branch } from '../graph/ops/control.ts';
import { bools, type Feeds, Session } from '../graph/session.ts';
import type { QuantizedTensor } from '../quantize/quantized-tensor.ts';
import { AdapterFeeds } from './adapter-feeds.ts';
import { Decoder, rotaryTables } from './decoder.ts';
import { idleGeneration, paddedLength } from './generation-feeds.ts';
import type { GeneratedRow, GenerationRequest } from './generation-request.ts';
import { generateRows } from './generation-run.ts';
import { generateChunk, type GenerationOutputs, generationInputs } from './generation.ts';
import { PLACES_AT_ONCE, scoreTokens, scoringInputs } from './scoring.ts';
import { idleScoring, scoringFeeds, scoresOf, type ScoringRequest } from './scoring-run.ts';
import { type ComputeType, DecoderWeights } from './weights.ts';

/** Sines and cosines of every position are part of the graph: 8 MB for heads of 64, and 16 MB for heads of 128. */
const LONGEST_CONTEXT = 32_768;

export interface DecoderOptions {
  readonly device: 'cpu' | 'cuda';
  readonly compute: ComputeType;
  /** Weights to use in place of those of the checkpoint. */
  readonly quantized?: ReadonlyMap<string, QuantizedTensor> | undefined;
  /** Whether requests may name an adapter; without, no product asks for one. */
  readonly adapters: boolean;
  /** Prompt and answer together have at most so many tokens; where absent LONGEST_CONTEXT, and never more than the model's own limit. */
  readonly contextLength?: number | undefined;
  readonly threads?: number | undefined;
  readonly repackWeights?: boolean | undefined;
}

/**
 * A decoder in one onnxruntime session: generation and scoring are branches of one graph, so that the weights are there once. Every call
 * blocks the thread for the length of a chunk, and calls must not overlap: the model's process is the place for both.
 */
export class DecoderSession {
  readonly contextLength: number;
  readonly #checkpoint: Checkpoint;
  readonly #session: Session;
  readonly #adapters: AdapterFeeds | undefined;

  private constructor(checkpoint: Checkpoint, contextLength: number, session: Session, adapters: AdapterFeeds | undefined) {
    this.#checkpoint = checkpoint;
    this.contextLength = contextLength;
    this.#session = session;
    this.#adapters = adapters;
  }

  static async open(checkpoint: Checkpoint, options: DecoderOptions): Promise<DecoderSession> {
    const { config } = checkpoint;
    const contextLength = Math.min(options.contextLength ?? LONGEST_CONTEXT, config.maximumPositions);
    const { graph, outputs } = decoderGraph(checkpoint, options, contextLength);
    const session = await Session.open(graph, outputs, options);
    return new DecoderSession(checkpoint, contextLength, session, options.adapters ? new AdapterFeeds(config) : undefined);
  }

  /** Continues every prompt `samples` times; row `prompt · samples + sample` of the result. */
  async generate(request: GenerationRequest): Promise<GeneratedRow[]> {
    const shared: Feeds = { ...idleScoring(), generating: bools([], [1]), ...this.#adapterFeeds(request.adapter) };
    return generateRows(this.#session, this.#checkpoint.config, this.contextLength, request, shared);
  }

  /** The log-probabilities of each sequence's tokens from its prompt's length on. */
  async score(request: ScoringRequest): Promise<number[][]> {
    const shared: Feeds = { ...idleGeneration(this.#checkpoint.config), generating: bools([], [0]), ...this.#adapterFeeds(request.adapter) };
    const feeds = scoringFeeds(request, this.#checkpoint.config, this.contextLength);
    if (!feeds) return request.sequences.map(() => []);
    const { scores } = await this.#session.run({ ...shared, ...feeds }, ['scores']);
    return scoresOf(request, scores);
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  #adapterFeeds(adapter: Adapter | undefined): Feeds {
    if (!this.#adapters) {
      if (adapter) throw new Error('This session was opened without adapters.');
      return {};
    }
    return this.#adapters.of(adapter);
  }
}

/** The whole graph: which of its two programs runs is an input. The other's outputs are then empty. */
function decoderGraph(checkpoint: Checkpoint, options: DecoderOptions, contextLength: number) {
  const graph = new Graph();
  const { config } = checkpoint;
  const rotation = rotaryTables(graph, config, paddedLength(contextLength), options.compute);
  const decoder = new Decoder(config, new DecoderWeights(graph, checkpoint, options), rotation);
  const generating = graph.input('generating', 'bool', []);
  const toGenerate = generationInputs(graph, decoder);
  const toScore = scoringInputs(graph);

  let made: Readonly<Record<string, Tensor>> = {};
  const results = branch(
    graph,
    generating,
    (b) => {
      made = namedOutputs(generateChunk(b, decoder, toGenerate));
      return [...Object.values(made), b.constant('float32', [0, PLACES_AT_ONCE], [])];
    },
    (b) => {
      const empty = ({ element, shape }: Tensor): Tensor => b.constant(element, shape.map(() => 0), []);
      return [...Object.values(made).map(empty), scoreTokens(b, decoder, toScore)];
    },
  );
  const names = [...Object.keys(made), 'scores'];
  return { graph, outputs: Object.fromEntries(names.map((name, index) => [name, results[index] as Tensor])) };
}

/** What goes from one chunk into the next is called `next.` and the name of the input. */
function namedOutputs({ tokens, logprobs, pending, done, state, prefix, tail }: GenerationOutputs): Record<string, Tensor> {
  const caches = { prefix, tail };
  return {
    tokens, logprobs, 'next.pending': pending, 'next.done': done, 'next.state': state,
    ...Object.fromEntries(Object.entries(caches).flatMap(([name, cache]) => cache.flatMap(({ key, value }, layer) => [
      [`next.${name}.${layer}.key`, key],
      [`next.${name}.${layer}.value`, value],
    ]))),
  };
}
