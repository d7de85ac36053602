import type { Adapter } from '../adapter/read-adapter.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import { type ComputeType, type Device, DEVICES } from '../device/devices.ts';
import { Graph, type Tensor } from '../graph/graph.ts';
import { branch } from '../graph/ops/control.ts';
import { bools, type Feeds, float32s, Session } from '../graph/session.ts';
import type { QuantizedTensor } from '../quantize/quantized-tensor.ts';
import { AdapterFeeds } from './adapter-feeds.ts';
import { Decoder, rotaryTables } from './decoder.ts';
import { idleGeneration, paddedLength } from './generation-feeds.ts';
import { type GeneratedRow, type GenerationRequest, isForOneRow, withTwin } from './generation-request.ts';
import { generateRows } from './generation-run.ts';
import { generateChunk, type GenerationOutputs, generationInputs } from './generation.ts';
import { PLACES_AT_ONCE, scoreTokens, scoringInputs } from './scoring.ts';
import { idleScoring, scoringFeeds, scoresOf, type ScoringRequest } from './scoring-run.ts';
import { gradientsOfTokens, gradientInputs } from './gradient-program.ts';
import {
  adapterInputs, gradientOutputName, idleGradients, locateTrained, type BatchGradients, batchGradients, type TrainedInput, gradientFeeds, type GradientRequest,
  weightInputs,
} from './gradient-run.ts';
import { DecoderWeights } from './weights.ts';

/** The graph contains sines and cosines of every position: 8 MB for a head size of 64, and 16 MB for 128, twice that with sliding layers. */
const LONGEST_CONTEXT = 32_768;

export interface DecoderOptions {
  readonly device: Device;
  readonly compute: ComputeType;
  /** Weights that replace those of the checkpoint. */
  readonly quantized?: ReadonlyMap<string, QuantizedTensor> | undefined;
  /** See `WeightOptions.attention`. */
  readonly attention?: 'fused' | 'plain' | undefined;
  /** Whether requests may name an adapter. If not, the graph has no adapter inputs. */
  readonly adapters: boolean;
  /** The maximum number of tokens of prompt and answer; LONGEST_CONTEXT by default. The model's own limit always applies. */
  readonly contextLength?: number | undefined;
  /**
   * What can be trained: the adapter that a request names, or weights of the model by their names in the checkpoint. Trainable weights are
   * set by `useWeights` and fed to every run instead of being read from the checkpoint.
   */
  readonly trainable?: 'adapter' | readonly string[] | undefined;
  readonly threads?: number | undefined;
  /** On a CPU: whether to keep a second copy of the weights in the layout for few rows, see `ProductForm`. */
  readonly repackWeights?: boolean | undefined;
  /** Whether training keeps the results of the projections for the backward pass: less work, more memory. */
  readonly keepProjections?: boolean | undefined;
}

/**
 * A decoder in one onnxruntime session. Generation, scoring and training are branches of one graph and share the weights. Every call blocks
 * the thread for the length of a chunk, and calls must not overlap; the model's process takes care of both.
 */
export class DecoderSession {
  readonly contextLength: number;
  readonly #checkpoint: Checkpoint;
  readonly #session: Session;
  readonly #adapters: AdapterFeeds | undefined;
  readonly #trained: readonly TrainedInput[];
  /**
   * Whether a single row is generated twice. Without repacked weights, and with quantised ones on some processors, a single row is multiplied by other kernels than the rows of a batch
   * and rounds differently. With a model in training, a seed must give the same text in any batch. Other models skip this, because one row is
   * faster than two.
   */
  readonly #pairsRows: boolean;
  #weights: Feeds = {};

  private constructor({ checkpoint, contextLength, session, adapters, trained, pairsRows }: Opened) {
    this.#checkpoint = checkpoint;
    this.contextLength = contextLength;
    this.#session = session;
    this.#adapters = adapters;
    this.#trained = trained;
    this.#pairsRows = pairsRows;
  }

  static async open(checkpoint: Checkpoint, options: DecoderOptions): Promise<DecoderSession> {
    const { config } = checkpoint;
    const contextLength = Math.min(options.contextLength ?? LONGEST_CONTEXT, config.maximumPositions);
    const { trainable = [] } = options;
    const trained = trainable === 'adapter' ? adapterInputs(config) : weightInputs(trainable);
    const { graph, outputs } = decoderGraph(checkpoint, options, contextLength, trained);
    const session = await Session.open(graph, outputs, options);
    const adapters = options.adapters ? new AdapterFeeds(config) : undefined;
    // Some processors multiply a single row by quantised weights with other kernels, repacked or not.
    const isRepacked = options.repackWeights === true && trainable === 'adapter' && options.quantized === undefined;
    const pairsRows = DEVICES[options.device].repacksWeights && trained.length > 0 && !isRepacked;
    return new DecoderSession({ checkpoint, contextLength, session, adapters, trained, pairsRows });
  }

  /** Continues every prompt `samples` times; row `prompt · samples + sample` of the result. */
  async generate(request: GenerationRequest): Promise<GeneratedRow[]> {
    const shared: Feeds = { ...idleScoring(), ...this.#standing('generating', request.adapter) };
    const generate = (asked: GenerationRequest) => generateRows(this.#session, this.#checkpoint.config, this.contextLength, asked, shared);
    return this.#pairsRows && isForOneRow(request) ? (await generate(withTwin(request))).slice(0, 1) : generate(request);
  }

  /** The log-probabilities of each sequence's tokens from its prompt's length on. */
  async score(request: ScoringRequest): Promise<number[][]> {
    const shared: Feeds = { ...idleGeneration(this.#checkpoint.config), ...this.#standing('scoring', request.adapter) };
    const feeds = scoringFeeds(request, this.#checkpoint.config, this.contextLength);
    if (!feeds) return request.sequences.map(() => []);
    const { scores } = await this.#session.run({ ...shared, ...feeds }, ['scores']);
    return scoresOf(request, scores);
  }

  /**
   * The loss of a batch and its gradients with respect to everything that can be trained. Changes no weights.
   * @throws ModelRequestError, NotANumberError
   */
  async train(request: GradientRequest): Promise<BatchGradients> {
    if (this.#trained.length === 0) throw new Error('This session was opened without anything to train.');
    const { config } = this.#checkpoint;
    const feeds = gradientFeeds(request, config, this.contextLength);
    if (!feeds) return { loss: 0, logprobs: request.sequences.map(() => []), entropies: request.sequences.map(() => []), gradients: new Map() };
    const idle = { ...idleGeneration(config), ...idleScoring(1) };
    const names = ['losses', 'trainedLogprobs', 'entropies', ...this.#trained.map(gradientOutputName)];
    const results = await this.#session.run({ ...idle, ...this.#standing('training', request.adapter), ...feeds }, names);
    return batchGradients(request, this.#trained, results);
  }

  /** Sets the trainable weights from the next request on: float32, by name, in the shapes of the checkpoint. */
  useWeights(weights: ReadonlyMap<string, Float32Array>): void {
    this.#weights = Object.fromEntries([...weights].map(([name, values]) => {
      const shape = this.#checkpoint.tensors.get(name)?.shape;
      if (!shape || !this.#trained.some(({ input }) => input === name)) throw new Error(`${name} is not trained here.`);
      return [name, float32s(shape, values)];
    }));
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  /** The inputs that every run has in addition to its own. */
  #standing(program: 'generating' | 'scoring' | 'training', adapter: Adapter | undefined): Feeds {
    return {
      generating: bools([], [program === 'generating' ? 1 : 0]),
      ...(this.#trained.length > 0 && { training: bools([], [program === 'training' ? 1 : 0]), ...idleGradients() }),
      ...this.#weights,
      ...this.#adapterFeeds(adapter),
    };
  }

  #adapterFeeds(adapter: Adapter | undefined): Feeds {
    if (!this.#adapters) {
      if (adapter) throw new Error('This session was opened without adapters.');
      return {};
    }
    return this.#adapters.of(adapter);
  }
}

interface Opened {
  readonly checkpoint: Checkpoint;
  readonly contextLength: number;
  readonly session: Session;
  readonly adapters: AdapterFeeds | undefined;
  readonly trained: readonly TrainedInput[];
  readonly pairsRows: boolean;
}

/** The whole graph. Inputs select the program that runs; the outputs of the others are empty. */
function decoderGraph(checkpoint: Checkpoint, options: DecoderOptions, contextLength: number, trained: readonly TrainedInput[]) {
  const graph = new Graph();
  const { config } = checkpoint;
  const rotation = rotaryTables(graph, config, paddedLength(contextLength), options.compute);
  const trainable = new Set(options.trainable === 'adapter' ? [] : options.trainable);
  const decoder = new Decoder(config, new DecoderWeights(graph, checkpoint, { ...options, trainable }), rotation);
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
      return [...Object.values(made).map(noneOf(b)), scoreTokens(b, decoder, toScore)];
    },
  );
  const names = [...Object.keys(made), 'scores'];
  const outputs = Object.fromEntries(names.map((name, index) => [name, results[index] as Tensor]));
  return { graph, outputs: trained.length === 0 ? outputs : { ...outputs, ...gradientOutputs(graph, decoder, trained, options.keepProjections ?? false) } };
}

/** A branch next to the one for generation and scoring, not inside it: onnxruntime would not repack weights of a deeper graph. */
function gradientOutputs(
  graph: Graph, decoder: Decoder, inputs: readonly TrainedInput[], keepsProjections: boolean,
): Readonly<Record<string, Tensor>> {
  const training = graph.input('training', 'bool', []);
  const toTrain = gradientInputs(graph);
  const { trained, wanted } = locateTrained(graph, inputs, decoder.config);
  let made: readonly Tensor[] = [];
  const results = branch(
    graph,
    training,
    (b) => {
      const { losses, logprobs, entropies, gradients } = gradientsOfTokens(b, decoder, toTrain, trained, wanted, keepsProjections);
      made = [losses, logprobs, entropies, ...gradients];
      return made;
    },
    (b) => made.map(noneOf(b)),
  );
  const names = ['losses', 'trainedLogprobs', 'entropies', ...inputs.map(gradientOutputName)];
  return Object.fromEntries(names.map((name, index) => [name, results[index] as Tensor]));
}

const noneOf = (b: Graph) => ({ element, shape }: Tensor): Tensor => b.constant(element, shape.map(() => 0), []);

/** Outputs that are inputs of the next chunk are named `next.` and the input's name. */
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
