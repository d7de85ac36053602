import type { Adapter } from '../adapter/read-adapter.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import { type DecoderOptions, DecoderSession } from '../decoder/decoder-session.ts';
import type { GenerationRequest } from '../decoder/generation-request.ts';
import type { DeviceTrial } from '../device/device-trial.ts';
import { type AcceleratorName, type ComputeType, DEVICES } from '../device/devices.ts';
import { DEFAULT_BLOCK_SIZE } from '../quantize/block-quantize.ts';
import { openQuantized } from '../quantize/quantized-store.ts';
import { modelFor, randomAdapter } from './trial-models.ts';

export interface TrialOptions {
  readonly device: AcceleratorName;
  /** The forms of attention to try, best first. */
  readonly attentions: readonly DeviceTrial['attention'][];
  /** A temporary folder (absolute) for a quarter of a gigabyte. */
  readonly folder: string;
  readonly threads?: number | undefined;
  readonly onProgress: (fraction: number) => void;
  readonly signal: AbortSignal;
}

/** Four prompts of 96 tokens and fewer, with an adapter, and 32 tokens more each. */
const PROMPT_LENGTHS = [96, 64, 33, 5];
const NEW_TOKENS = 32;
const QUANTISED_NEW_TOKENS = 8;

/** The largest differences of log-probabilities that rounding explains; 4e-6 was seen in float32. */
const TOLERANCE = { float32: 1e-3, float16: 0.1 } as const;
/** The CPU multiplies quantised weights by activations that are rounded to 8 bits, and a device may. 0.07 was seen. */
const QUANTISED_TOLERANCE = 0.3;
/** As a share of a matrix's largest gradient; 2e-6 was seen. */
const GRADIENT_TOLERANCE = 2e-3;

const STEPS = 10;

/**
 * Compares a device with the CPU: scores, generations and gradients of a small model with random weights; then measures the speed of decoding.
 * Blocks the thread for seconds, and a faulty driver can end the process, so it is used only in a process of its own.
 * @throws the signal's reason; file system errors. What the device does wrong is in the result.
 */
export async function tryDevice(options: TrialOptions): Promise<DeviceTrial> {
  const trial = new Trial(options);
  try {
    return await trial.run();
  } finally {
    await trial.close();
  }
}

type Bits = 8 | 4;

class Trial {
  readonly #options: TrialOptions;
  /** Open to the end: the last session of a process to close takes the compiled programs of the device with it. */
  readonly #onDevice: DecoderSession[] = [];
  #stepsDone = 0;

  constructor(options: TrialOptions) {
    this.#options = options;
  }

  async run(): Promise<DeviceTrial> {
    const begun = performance.now();
    const checkpoint = await modelFor('comparing', this.#options.folder);
    const adapter = randomAdapter(checkpoint.config);
    const [attention, full] = await this.#bestAttention(checkpoint, adapter);
    const failures: { -readonly [Use in keyof DeviceTrial['failures']]: DeviceTrial['failures'][Use] } = {};
    const speeds: { -readonly [Use in keyof DeviceTrial['speeds']]: DeviceTrial['speeds'][Use] } = {};
    if (full !== undefined) return { attention, hasFloat16: false, failures: { full, '8-bit': full, '4-bit': full, training: full }, speeds, seconds: secondsSince(begun) };

    const hasFloat16 = (await this.#step(() => this.#compare(checkpoint, adapter, { attention, compute: 'float16' }))) === undefined;
    for (const bits of [8, 4] as const) {
      const compute = DEVICES[this.#options.device].compute(`${bits}-bit`, { hasFloat16 });
      const why = await this.#step(() => this.#compare(checkpoint, adapter, { attention, compute }, bits));
      if (why !== undefined) failures[`${bits}-bit`] = why;
    }
    const training = await this.#step(() => this.#compareGradients(checkpoint, adapter, attention));
    if (training !== undefined) failures.training = training;

    const measured = await this.#step(() => modelFor('measuring', this.#options.folder));
    speeds.full = await this.#step(() => this.#speeds(measured, { attention, hasFloat16 }));
    // Neither are 4 bits of interest where the device is far behind.
    const isClose = speeds.full !== undefined && FAR_BEHIND * speeds.full.device > speeds.full.cpu;
    if (isClose && failures['4-bit'] === undefined) speeds['4-bit'] = await this.#step(() => this.#speeds(measured, { attention, hasFloat16 }, 4));
    return { attention, hasFloat16, failures, speeds, seconds: secondsSince(begun) };
  }

  async close(): Promise<void> {
    for (const session of this.#onDevice) await session.close();
  }

  /** The first attention that computes right, or the last with what it does wrong. */
  async #bestAttention(checkpoint: Checkpoint, adapter: Adapter): Promise<[DeviceTrial['attention'], string | undefined]> {
    let found: [DeviceTrial['attention'], string | undefined] = ['plain', 'it was not tried'];
    for (const attention of this.#options.attentions) {
      found = [attention, await this.#step(() => this.#compare(checkpoint, adapter, { attention, compute: 'float32' }))];
      if (found[1] === undefined) break;
    }
    return found;
  }

  /** What the device does otherwise than the CPU when it scores and writes; undefined if nothing. */
  async #compare(
    checkpoint: Checkpoint, adapter: Adapter, { attention, compute }: { attention: DeviceTrial['attention']; compute: ComputeType }, bits?: Bits,
  ): Promise<string | undefined> {
    const quantized = bits && (await this.#quantized(checkpoint, bits));
    const tolerance = bits ? QUANTISED_TOLERANCE : compute === 'float16' ? TOLERANCE.float16 : TOLERANCE.float32;
    return this.#told(async () => {
      const device = await this.#open(checkpoint, { compute, attention, quantized });
      const cpu = await this.#openOnCpu(checkpoint, { quantized });
      try {
        const prompts = promptsFor(checkpoint);
        const written = await device.generate({ ...greedily(prompts, adapter), maxTokens: bits ? QUANTISED_NEW_TOKENS : NEW_TOKENS });
        const sequences = written.map(({ tokens }, row) => [...(prompts[row] as number[]), ...tokens]);
        const scoring = { sequences, promptLengths: PROMPT_LENGTHS, adapter };
        const expected = await cpu.score(scoring);
        const writing = differenceOf(written.map(({ logprobs }) => logprobs), expected);
        if (!(writing <= tolerance)) return `while it writes, log-probabilities differ by ${writing.toPrecision(2)}`;
        const reading = differenceOf(await device.score(scoring), expected);
        return reading <= tolerance ? undefined : `while it reads, log-probabilities differ by ${reading.toPrecision(2)}`;
      } finally {
        await cpu.close();
      }
    });
  }

  async #compareGradients(checkpoint: Checkpoint, adapter: Adapter, attention: DeviceTrial['attention']): Promise<string | undefined> {
    return this.#told(async () => {
      const sequences = promptsFor(checkpoint);
      const promptLengths = sequences.map(({ length }) => Math.ceil(length / 2));
      const tokens = sequences.map(({ length }, row) => ({ crossEntropyWeights: new Array<number>(length - (promptLengths[row] as number)).fill(1) }));
      const request = { sequences, promptLengths, tokens, adapter };
      const device = await this.#open(checkpoint, { compute: 'float32', attention, trainable: 'adapter' });
      const cpu = await this.#openOnCpu(checkpoint, { trainable: 'adapter' });
      try {
        const [got, expected] = [await device.train(request), await cpu.train(request)];
        for (const [name, gradient] of expected.gradients) {
          const difference = relativeDifference(got.gradients.get(name), gradient);
          if (!(difference <= GRADIENT_TOLERANCE)) return `a gradient differs by ${(100 * difference).toPrecision(2)} %`;
        }
        return undefined;
      } finally {
        await cpu.close();
      }
    });
  }

  async #speeds(checkpoint: Checkpoint, traits: { attention: DeviceTrial['attention']; hasFloat16: boolean }, bits?: Bits): Promise<DeviceTrial['speeds']['full']> {
    const quantized = bits && (await this.#quantized(checkpoint, bits));
    // The most common type of a file of full precision is bfloat16, for which a device and the CPU compute in their own types.
    const compute = DEVICES[this.#options.device].compute(bits ? `${bits}-bit` : 'bfloat16', traits);
    const speedOf = async (session: DecoderSession): Promise<number> => {
      const prompts = promptsFor(checkpoint).slice(-1);
      const secondsFor = async (maxTokens: number): Promise<number> => {
        const begun = performance.now();
        await session.generate({ ...greedily(prompts, undefined), maxTokens, chunkTokens: maxTokens });
        return secondsSince(begun);
      };
      await secondsFor(1);
      const beginning = await secondsFor(1);
      // Far slower than any CPU: more tokens would show nothing more.
      if (beginning > SLOW_SECONDS) return 1 / beginning;
      for (let tokens = 1; ; tokens *= 2) {
        const seconds = (await secondsFor(tokens + 1)) - beginning;
        if (seconds > MEASURED_SECONDS || (tokens === MOST_MEASURED_TOKENS && seconds > 0)) return tokens / seconds;
        if (tokens === MOST_MEASURED_TOKENS) return 0;
      }
    };
    try {
      const cpu = await this.#openOnCpu(checkpoint, { quantized, adapters: false });
      const cpuSpeed = await speedOf(cpu).finally(() => cpu.close());
      return { cpu: cpuSpeed, device: await speedOf(await this.#open(checkpoint, { compute, attention: traits.attention, quantized, adapters: false })) };
    } catch {
      this.#options.signal.throwIfAborted();
      return undefined;
    }
  }

  async #open(checkpoint: Checkpoint, options: Partial<DecoderOptions> & Pick<DecoderOptions, 'compute'>): Promise<DecoderSession> {
    const { device, threads } = this.#options;
    const session = await DecoderSession.open(checkpoint, { device, adapters: true, threads, ...options });
    this.#onDevice.push(session);
    return session;
  }

  #openOnCpu(checkpoint: Checkpoint, options: Partial<DecoderOptions>): Promise<DecoderSession> {
    const { threads } = this.#options;
    return DecoderSession.open(checkpoint, { device: 'cpu', compute: 'float32', adapters: true, threads, repackWeights: true, ...options });
  }

  async #quantized(checkpoint: Checkpoint, bits: Bits) {
    const { signal } = this.#options;
    return (await openQuantized(checkpoint, { bits, blockSize: DEFAULT_BLOCK_SIZE, storage: this.#options.folder, signal })).tensors;
  }

  /** An error of onnxruntime is something that the device does wrong, too. */
  async #told(compare: () => Promise<string | undefined>): Promise<string | undefined> {
    try {
      return await compare();
    } catch (error) {
      this.#options.signal.throwIfAborted();
      return `onnxruntime says: ${(error instanceof Error ? error.message : String(error)).replace(/[\s\p{Cc}]+/gu, ' ').slice(-300)}`;
    }
  }

  /** Lets the process receive a cancel message before each step. */
  async #step<T>(work: () => Promise<T>): Promise<T> {
    await new Promise((resolve) => { setImmediate(resolve); });
    this.#options.signal.throwIfAborted();
    const result = await work();
    this.#stepsDone = Math.min(this.#stepsDone + 1, STEPS);
    this.#options.onProgress(this.#stepsDone / STEPS);
    return result;
  }
}

const MEASURED_SECONDS = 0.25;
const SLOW_SECONDS = 1;
const FAR_BEHIND = 20;
/** As many as the context of the model has room for. */
const MOST_MEASURED_TOKENS = 128;

const secondsSince = (begun: number): number => (performance.now() - begun) / 1_000;

const promptsFor = ({ config: { vocabularySize } }: Checkpoint): number[][] =>
  PROMPT_LENGTHS.map((length, row) => Array.from({ length }, (_, place) => 1 + ((31 * place + 7 * place * place + 101 * row) % (vocabularySize - 1))));

const greedily = (prompts: readonly (readonly number[])[], adapter: Adapter | undefined): GenerationRequest => ({
  prompts, samples: 1, maxTokens: NEW_TOKENS, chunkTokens: NEW_TOKENS / 2, temperature: 0, topP: 1, topK: 0, seeds: prompts.map(() => 0), stopTokenIds: [], adapter,
});

/** The largest difference; not a number if any is not. */
function differenceOf(found: readonly (readonly number[])[], expected: readonly (readonly number[])[]): number {
  return Math.max(...expected.flatMap((row, index) => row.map((value, place) => Math.abs(value - (found[index]?.[place] ?? Number.NaN)))));
}

/** The largest difference as a share of the largest number. */
function relativeDifference(found: Float32Array | undefined, expected: Float32Array): number {
  let [worst, largest] = [0, 0];
  expected.forEach((value, index) => {
    const difference = Math.abs(value - (found?.[index] ?? Number.NaN));
    worst = difference <= worst ? worst : difference;
    largest = Math.max(largest, Math.abs(value));
  });
  return worst / largest;
}
