import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type BatchedTensor, DType, ForwardBackwardOutputSchema, ForwardBackwardRequestSchema, SampleResponseSchema, StopReason, type Tensor, TensorSchema,
} from './tinker_public_pb.js';

/*
 * The messages of Tinker's API that have no JSON form any more: the request for gradients, and the results of samples and gradients. The
 * types are generated from the definitions in the SDK (`tinker` 0.25.0 on PyPI, Apache-2.0) by test/train/remote/skyrl/generate-messages.ts.
 * Numbers are packed as the machine has them, little-endian: tokens in int32, targets and offsets in int64, the others in float32.
 */

/** The server's losses. */
export type ServerLoss = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo';

/** An example as the server reads it: at each place, the token to predict and what weighs it. */
export interface Datum {
  readonly tokens: readonly number[];
  readonly targets: readonly number[];
  /** Tensors by their name: `weights`, and `logprobs` and `advantages` for all but cross-entropy. */
  readonly inputs: Readonly<Record<string, readonly number[]>>;
}

export interface GradientRequest {
  readonly modelId: string;
  readonly sequence: number;
  readonly data: readonly Datum[];
  readonly loss: ServerLoss;
  readonly lossOptions?: Readonly<Record<string, number>> | undefined;
  /** Only log-probabilities, no gradients. */
  readonly forwardOnly: boolean;
}

export interface GradientResult {
  /** One list for each example. */
  readonly logprobs: readonly (readonly number[])[];
  readonly metrics: Readonly<Record<string, number>>;
}

export interface SampleResult {
  readonly sequences: readonly { readonly tokens: readonly number[]; readonly logprobs: readonly number[]; readonly stopReason: 'stop' | 'length' }[];
}

/** `ForwardBackwardRequest`. */
export function encodeGradientRequest({ modelId, sequence, data, loss, lossOptions = {}, forwardOnly }: GradientRequest): Uint8Array {
  return toBinary(ForwardBackwardRequestSchema, create(ForwardBackwardRequestSchema, {
    modelId, seqId: sequence, lossFn: loss, lossFnConfig: { ...lossOptions }, forwardOnly,
    data: data.map(({ tokens, targets, inputs }) => ({
      // One chunk of text.
      modelInput: [{ chunk: { case: 'encodedText' as const, value: { tokens: bytesOf(Int32Array.from(tokens)) } } }],
      lossFnInputs: {
        target_tokens: tensor(DType.DTYPE_INT64, targets.length, bytesOf(BigInt64Array.from(targets, BigInt))),
        ...Object.fromEntries(Object.entries(inputs).map(([name, values]) => [name, tensor(DType.DTYPE_FLOAT32, values.length, bytesOf(Float32Array.from(values)))])),
      },
    })),
  }));
}

function tensor(dtype: DType, length: number, bytes: Uint8Array): Tensor {
  return create(TensorSchema, { encoding: { case: 'dense', value: bytes }, dtype, shape: [BigInt(length)] });
}

/** `ForwardBackwardOutput`. @throws Error where the bytes are no such message */
export function decodeGradientResult(bytes: Uint8Array): GradientResult {
  const { lossFnOutputs, metrics } = fromBinary(ForwardBackwardOutputSchema, bytes);
  // One record for some of the examples, each field with a row for each of them.
  const logprobs = lossFnOutputs.flatMap(({ fields: { logprobs: rows } }) => (rows ? rowsOf(rows) : []));
  return { logprobs, metrics };
}

function rowsOf({ data, offsets, dtype }: BatchedTensor): number[][] {
  if (dtype !== DType.DTYPE_FLOAT32) throw new Error(`log-probabilities have the type ${dtype}`);
  const places = Array.from(bigints(offsets), Number);
  return places.slice(1).map((end, row) => floats(data.slice(places[row], end)));
}

/** `SampleResponse`. @throws Error where the bytes are no such message */
export function decodeSampleResult(bytes: Uint8Array): SampleResult {
  const { sequences } = fromBinary(SampleResponseSchema, bytes);
  return {
    sequences: sequences.map(({ stopReason, tokens, logprobs = new Uint8Array() }) => ({
      stopReason: stopReason === StopReason.STOP ? 'stop' : 'length', tokens: ints(tokens), logprobs: floats(logprobs),
    })),
  };
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array | BigInt64Array | Float32Array): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);
/** Views of whole numbers need their place in memory to be a multiple of their size, as that of a copy is. @throws RangeError for half a number */
const copied = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;
const ints = (bytes: Uint8Array): number[] => [...new Int32Array(copied(bytes))];
const floats = (bytes: Uint8Array): number[] => [...new Float32Array(copied(bytes))];
const bigints = (bytes: Uint8Array): BigInt64Array => new BigInt64Array(copied(bytes));
