import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/*
 * The messages of Tinker's API that have no JSON form any more: the request for gradients, and the results of samples and gradients. Names
 * and field numbers are those of tinker_public.proto, as published in the SDK (`tinker` 0.25.0 on PyPI, Apache-2.0, proto/tinker_public_pb2).
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

/** `DType` of the definitions. */
const FLOAT32 = 1;
const INT64 = 2;

/** `ForwardBackwardRequest`. */
export function encodeGradientRequest({ modelId, sequence, data, loss, lossOptions = {}, forwardOnly }: GradientRequest): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(modelId).tag(2, WireType.Varint).int32(sequence);
  for (const datum of data) message(writer, 3, () => writeDatum(writer, datum));
  writer.tag(4, WireType.LengthDelimited).string(loss);
  for (const [name, value] of Object.entries(lossOptions)) {
    message(writer, 5, () => writer.tag(1, WireType.LengthDelimited).string(name).tag(2, WireType.Bit64).double(value));
  }
  if (forwardOnly) writer.tag(6, WireType.Varint).bool(true);
  return writer.finish();
}

/** `Datum`: its input is one chunk of text. */
function writeDatum(writer: BinaryWriter, { tokens, targets, inputs }: Datum): void {
  message(writer, 1, () => message(writer, 1, () => writer.tag(1, WireType.LengthDelimited).bytes(bytesOf(Int32Array.from(tokens)))));
  const tensor = (name: string, type: number, length: number, bytes: Uint8Array): void => message(writer, 2, () => {
    writer.tag(1, WireType.LengthDelimited).string(name);
    message(writer, 2, () => {
      writer.tag(1, WireType.LengthDelimited).bytes(bytes).tag(3, WireType.Varint).int32(type);
      // `shape` is packed.
      writer.tag(4, WireType.LengthDelimited).fork().int64(length).join();
    });
  });
  tensor('target_tokens', INT64, targets.length, bytesOf(BigInt64Array.from(targets, BigInt)));
  for (const [name, values] of Object.entries(inputs)) tensor(name, FLOAT32, values.length, bytesOf(Float32Array.from(values)));
}

function message(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write();
  writer.join();
}

/** `ForwardBackwardOutput`. @throws Error where the bytes are no such message */
export function decodeGradientResult(bytes: Uint8Array): GradientResult {
  const metrics: Record<string, number> = {};
  const logprobs: (readonly number[])[] = [];
  eachField(new BinaryReader(bytes), {
    2: (record) => logprobs.push(...logprobsIn(record.bytes())),
    3: (entry) => {
      let [name, value] = ['', Number.NaN];
      eachField(new BinaryReader(entry.bytes()), { 1: (key) => (name = key.string()), 2: (metric) => (value = metric.double()) });
      metrics[name] = value;
    },
  });
  return { logprobs, metrics };
}

/** `ArrayRecord`: fields of the examples, each a `BatchedTensor`. */
function logprobsIn(record: Uint8Array): number[][] {
  let rows: number[][] = [];
  eachField(new BinaryReader(record), {
    2: (entry) => {
      let name = '';
      let tensor: Uint8Array = new Uint8Array();
      eachField(new BinaryReader(entry.bytes()), { 1: (key) => (name = key.string()), 2: (value) => (tensor = value.bytes()) });
      if (name === 'logprobs') rows = rowsOf(tensor);
    },
  });
  return rows;
}

function rowsOf(tensor: Uint8Array): number[][] {
  let [data, offsets, type] = [new Uint8Array(), new Uint8Array(), FLOAT32];
  eachField(new BinaryReader(tensor), {
    1: (value) => (data = new Uint8Array(value.bytes())), 2: (value) => (offsets = new Uint8Array(value.bytes())), 3: (value) => (type = value.int32()),
  });
  if (type !== FLOAT32) throw new Error(`log-probabilities have the type ${type}`);
  const places = Array.from(bigints(offsets), Number);
  return places.slice(1).map((end, row) => floats(data.slice(places[row], end)));
}

/** `SampleResponse`. @throws Error where the bytes are no such message */
export function decodeSampleResult(bytes: Uint8Array): SampleResult {
  const sequences: SampleResult['sequences'][number][] = [];
  eachField(new BinaryReader(bytes), {
    1: (sequence) => {
      let [stop, tokens, logprobs] = [0, new Uint8Array(), new Uint8Array()];
      eachField(new BinaryReader(sequence.bytes()), {
        1: (value) => (stop = value.int32()), 2: (value) => (tokens = new Uint8Array(value.bytes())), 3: (value) => (logprobs = new Uint8Array(value.bytes())),
      });
      // `StopReason`: 0 is a stop token, 1 the limit.
      sequences.push({ stopReason: stop === 0 ? 'stop' : 'length', tokens: ints(tokens), logprobs: floats(logprobs) });
    },
  });
  return { sequences };
}

/** Reads each field that has a row, and skips the others. */
function eachField(reader: BinaryReader, rows: Readonly<Record<number, (reader: BinaryReader) => unknown>>): void {
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const row = rows[field];
    if (row) row(reader);
    else reader.skip(type, field);
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array | BigInt64Array | Float32Array): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);
/** Views of whole numbers need their place in memory to be a multiple of their size, as that of a copy is. @throws RangeError for half a number */
const copied = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;
const ints = (bytes: Uint8Array): number[] => [...new Int32Array(copied(bytes))];
const floats = (bytes: Uint8Array): number[] => [...new Float32Array(copied(bytes))];
const bigints = (bytes: Uint8Array): BigInt64Array => new BigInt64Array(copied(bytes));
