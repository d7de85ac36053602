import { loraTensorName, type Adapter } from '../adapter/read-adapter.ts';
import { PROJECTIONS, type Projection } from '../adapter/projections.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import { bools, type Feeds, float32s, int64s, type Values } from '../graph/session.ts';
import { continuedRows, idleRows } from './continued-rows.ts';
import { requireNumber } from './not-a-number-error.ts';
import { checkTemperature, ModelRequestError } from './request-error.ts';
import { PLACES_AT_ONCE } from './scoring.ts';
import { checkSequences } from './scoring-run.ts';
import type { Trained } from './gradient-program.ts';
import { adapterInput } from './weights.ts';

/** The inputs of the loss for each trained token: one list for each sequence, with a number for each token after its prompt. See `policyLoss`. */
export interface TokenWeights {
  readonly oldLogprobs: readonly number[];
  readonly samplerLogprobs: readonly number[];
  readonly referenceLogprobs: readonly number[];
  readonly advantages: readonly number[];
  readonly surrogateWeights: readonly number[];
  readonly klWeights: readonly number[];
  readonly crossEntropyWeights: readonly number[];
}

export interface GradientRequest {
  readonly sequences: readonly (readonly number[])[];
  /** The number of tokens of each sequence that are its prompt and not trained; at least 1. */
  readonly promptLengths: readonly number[];
  readonly temperature?: number | undefined;
  /** One for each sequence. Absent inputs are 0. */
  readonly tokens: readonly Partial<TokenWeights>[];
  /** The ratio is clipped to 1 − low and 1 + high. */
  readonly clip?: { readonly low: number; readonly high: number } | undefined;
  /** Whether the old policy is the current one; otherwise `oldLogprobs` has its log-probabilities. */
  readonly onPolicy?: boolean | undefined;
  /** Cap of the importance ratio between trainer and sampler; without it `samplerLogprobs` is not used. */
  readonly importanceRatioCap?: number | undefined;
  readonly adapter?: Adapter | undefined;
}

export interface BatchGradients {
  /** The sum over all tokens. */
  readonly loss: number;
  /** One list for each sequence: log-probabilities of its trained tokens, and entropies of the distributions they were drawn from, in nats. */
  readonly logprobs: readonly (readonly number[])[];
  readonly entropies: readonly (readonly number[])[];
  /** By the names of the tensors in a PEFT folder or in the checkpoint. */
  readonly gradients: ReadonlyMap<string, Float32Array>;
}

const TOKEN_WEIGHTS: readonly (keyof TokenWeights)[] = [
  'oldLogprobs', 'samplerLogprobs', 'referenceLogprobs', 'advantages', 'surrogateWeights', 'klWeights', 'crossEntropyWeights',
];

/** Returns undefined if there is nothing to train. @throws ModelRequestError */
export function gradientFeeds(request: GradientRequest, config: DecoderConfig, contextLength: number): Feeds | undefined {
  const { sequences, promptLengths, temperature = 1, tokens, clip = { low: 0, high: 0 }, importanceRatioCap = 0, onPolicy = false } = request;
  if (tokens.length !== sequences.length) throw new ModelRequestError(`There are ${sequences.length} sequences, but token weights for ${tokens.length}.`);
  checkTemperature(temperature);
  checkSequences(request, config, contextLength);
  const rows = continuedRows(request, 'trained');
  if (!rows) return undefined;
  const { blocks, from, targets } = rows;
  const ofTokens = (name: keyof TokenWeights): number[] => sequences.flatMap((sequence, row) => {
    const count = sequence.length - (promptLengths[row] as number);
    const given = tokens[row]?.[name];
    if (given && given.length !== count) throw new ModelRequestError(`Sequence ${row} has ${count} tokens to train, but ${given.length} ${name}.`);
    return [...(given ?? new Array<number>(count).fill(0))];
  });
  const shape = [blocks, PLACES_AT_ONCE];
  return {
    ...rows.feeds,
    'trained blocks': int64s([], [blocks]),
    'trained from': int64s(shape, from),
    'trained targets': int64s(shape, targets),
    'trained temperature': float32s([], [temperature]),
    'trained clipLow': float32s([], [clip.low]),
    'trained clipHigh': float32s([], [clip.high]),
    'trained importanceRatioCap': float32s([], [importanceRatioCap]),
    'trained onPolicy': bools([], [onPolicy ? 1 : 0]),
    ...Object.fromEntries(TOKEN_WEIGHTS.map((name) => {
      const values = new Float32Array(blocks * PLACES_AT_ONCE);
      values.set(ofTokens(name));
      return [`trained ${name}`, float32s(shape, values)];
    })),
  };
}

/** Inputs of the gradient program while the graph generates or scores. */
export function idleGradients(): Feeds {
  const none = [0, PLACES_AT_ONCE];
  return {
    ...idleRows('trained', 0),
    'trained blocks': int64s([], [0]),
    'trained from': int64s(none, []),
    'trained targets': int64s(none, []),
    'trained temperature': float32s([], [1]),
    'trained clipLow': float32s([], [0]),
    'trained clipHigh': float32s([], [0]),
    'trained importanceRatioCap': float32s([], [0]),
    'trained onPolicy': bools([], [0]),
    ...Object.fromEntries(TOKEN_WEIGHTS.map((name) => [`trained ${name}`, float32s(none, [])])),
  };
}

/** An input of the graph that is trained, and how its gradient is returned. */
export interface TrainedInput {
  /** As in a PEFT folder or in the checkpoint. */
  readonly name: string;
  readonly input: string;
  /** Whether the input was multiplied by the adapter's scaling. */
  readonly isScaled: boolean;
}

/** The matrix pairs of every projection. Pairs that an adapter lacks have rank 0, as do their gradients. */
export function adapterInputs({ layers }: DecoderConfig): readonly TrainedInput[] {
  const pair = (layer: number, projection: Projection): TrainedInput[] => [
    { name: loraTensorName(layer, projection, 'A'), input: adapterInput(layer, projection, 'a'), isScaled: false },
    { name: loraTensorName(layer, projection, 'B'), input: adapterInput(layer, projection, 'b'), isScaled: true },
  ];
  return Array.from({ length: layers }, (_, layer) => PROJECTIONS.flatMap((projection) => pair(layer, projection))).flat();
}

export const weightInputs = (names: Iterable<string>): readonly TrainedInput[] =>
  [...names].map((name) => ({ name, input: name, isScaled: false }));

/** Finds where in the decoder each input is used. `wanted` has the inputs themselves, in the given order. */
export function locateTrained(root: Graph, inputs: readonly TrainedInput[], { layers, tiedEmbeddings }: DecoderConfig): { trained: Trained; wanted: readonly Tensor[] } {
  const trained = { embedding: [] as Tensor[], layers: Array.from({ length: layers }, () => [] as Tensor[]), head: [] as Tensor[] };
  const wanted = inputs.map(({ input }) => {
    const tensor = root.inputs.find(({ origin }) => origin.kind === 'input' && origin.name === input);
    if (!tensor) throw new Error(`The decoder has no input '${input}'.`);
    const [, layer] = /^(?:adapter|model\.layers)\.(\d+)\./.exec(input) ?? [];
    if (layer !== undefined) trained.layers[Number(layer)]?.push(tensor);
    else if (input === 'model.embed_tokens.weight') {
      trained.embedding.push(tensor);
      if (tiedEmbeddings) trained.head.push(tensor);
    } else trained.head.push(tensor);
    return tensor;
  });
  return { trained, wanted };
}

export const gradientOutputName = ({ input }: TrainedInput): string => `gradient of ${input}`;

/** @throws NotANumberError */
export function batchGradients(request: GradientRequest, inputs: readonly TrainedInput[], results: Readonly<Record<string, Values>>): BatchGradients {
  const numbers = (name: string): Float32Array => results[name]?.data as Float32Array;
  const losses = numbers('losses');
  const counts = request.sequences.map((sequence, row) => sequence.length - (request.promptLengths[row] as number));
  const total = counts.reduce((a, b) => a + b, 0);
  return {
    loss: requireNumber(losses.subarray(0, total).reduce((a, b) => a + b, 0)),
    logprobs: split(numbers('trainedLogprobs'), counts),
    entropies: split(numbers('entropies'), counts),
    gradients: new Map(inputs.flatMap((input) => {
      const found = numbers(gradientOutputName(input));
      // A projection that the adapter does not change has a pair of rank 0.
      if (found.length === 0) return [];
      const scaling = input.isScaled ? (request.adapter?.scaling ?? 1) : 1;
      return [[input.name, scaling === 1 ? found : found.map((value) => value * scaling)]];
    })),
  };
}

function split(values: Float32Array, counts: readonly number[]): number[][] {
  let taken = 0;
  return counts.map((count) => {
    taken += count;
    return Array.from(values.subarray(taken - count, taken), requireNumber);
  });
}
