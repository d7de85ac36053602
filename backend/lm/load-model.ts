import { mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findNonFinite } from './checkpoint/finite.ts';
import { inspectCheckpoint } from './checkpoint/inspect.ts';
import { type Checkpoint, openCheckpoint } from './checkpoint/open-checkpoint.ts';
import { notFiniteError, readTensor } from './checkpoint/read-tensor.ts';
import { columnSizes, type Reading } from './decoder/column-sizes.ts';
import { DecoderSession } from './decoder/decoder-session.ts';
import type { GenerationRequest } from './decoder/generation-request.ts';
import { DeviceError } from './device/device-error.ts';
import type { DeviceTraits } from './device/device-trial.ts';
import { type Device, DEVICES } from './device/devices.ts';
import { readPulledModel } from './hub/pulled-models.ts';
import type { ModelDescription, ModelSettings } from './language-model.ts';
import { RuntimeMissingError } from './load-error.ts';
import { machineBytes } from './machine-memory.ts';
import { memoryOf } from './model-memory.ts';
import { DEFAULT_BLOCK_SIZE } from './quantize/block-quantize.ts';
import { openQuantized } from './quantize/quantized-store.ts';
import type { QuantizedTensor } from './quantize/quantized-tensor.ts';
import { SAMPLE_TEXTS } from './quantize/sample-texts.ts';
import { spendMemory } from './spare-memory.ts';
import { openTokenizer } from './tokenizer/tokenizer.ts';

export type LoadPhase =
  /** Tries the device, once for each version of its driver. */
  | 'trying'
  /** Checks every weight, once for each version of the files. */
  | 'reading'
  /** Quantises the weights to 8 or 4 bits, once. */
  | 'quantizing'
  /** Loads the graph and the weights into onnxruntime. */
  | 'loading';

export interface LoadProgress {
  readonly phase: LoadPhase;
  /** From 0 to 1; absent if unknown. */
  readonly fraction?: number | undefined;
}

export interface LoadOptions {
  readonly settings: ModelSettings;
  /** The chosen device; `deviceReasons` says why not a better one. CUDA needs an environment that is set before the process starts. */
  readonly device: Device;
  readonly traits?: DeviceTraits | undefined;
  readonly deviceReasons: readonly string[];
  /** The number of threads for one operation; onnxruntime chooses by default. */
  readonly threads?: number | undefined;
  /** Whether to repack weights, and whether training keeps the results of projections. By default, the machine's memory decides. */
  readonly repackWeights?: boolean | undefined;
  readonly keepProjections?: boolean | undefined;
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LoadedModel {
  readonly checkpoint: Checkpoint;
  readonly session: DecoderSession;
  readonly takesAdapters: boolean;
  readonly trainable: ModelSettings['trainable'];
  readonly description: ModelDescription;
}

const ONE_TOKEN: GenerationRequest = {
  prompts: [[0]], samples: 1, maxTokens: 1, chunkTokens: 1, temperature: 0, topP: 1, topK: 0, seeds: [0], stopTokenIds: [],
};

const BLOCK_BITS = { '8-bit': 8, '4-bit': 4 } as const;

/**
 * Opens a checkpoint, checks its weights, quantises them if necessary, and loads it. Blocks the thread for seconds, so it is
 * used only in the model's process.
 * @throws RuntimeMissingError, UnsupportedModelError, CheckpointError, QuantizedCacheError, DeviceError `out-of-memory`,
 * the signal's reason, and errors of onnxruntime
 */
export async function loadModel(options: LoadOptions): Promise<LoadedModel> {
  const { settings, device, traits, deviceReasons, threads, onProgress, signal } = options;
  await requireRuntime();
  onProgress?.({ phase: 'reading' });
  const checkpoint = await openCheckpoint(settings.folder);
  const { contextLength = checkpoint.config.maximumPositions } = settings;
  const [storedType = 'float32'] = inspectCheckpoint(checkpoint).types;
  const plan = memoryOf(checkpoint, { ...settings, contextLength }, device);
  if (DEVICES[device].memory.place === 'machine') refuseTooLarge(plan.weightsBytes, settings);

  const onChecked = (fraction: number): void => onProgress?.({ phase: 'reading', fraction });
  await checkWeights(checkpoint, settings.storage, onChecked, signal);
  const onQuantized = (fraction: number): void => onProgress?.({ phase: 'quantizing', fraction });
  const quantized = await quantizedWeights(checkpoint, settings, { threads, signal, onProgress: onQuantized });

  onProgress?.({ phase: 'loading' });
  const memory = { bytes: machineBytes(), freeBytes: process.availableMemory() };
  const spare = spendMemory({ device, config: checkpoint.config, storedType, settings, plan }, memory);
  const takesAdapters = settings.adapters || settings.trainable === 'adapter';
  const session = await DecoderSession.open(checkpoint, {
    device,
    compute: DEVICES[device].compute(settings.precision === 'full' ? storedType : settings.precision, traits),
    attention: traits?.attention,
    quantized,
    adapters: takesAdapters,
    trainable: settings.trainable === 'weights' ? [...checkpoint.tensors.keys()] : settings.trainable,
    contextLength,
    threads,
    repackWeights: options.repackWeights ?? spare.repackWeights,
    keepProjections: options.keepProjections ?? spare.keepProjections,
  });
  if (settings.trainable === 'weights') session.useWeights(await readWeights(checkpoint));
  // A device that differs from machine to machine may have too little memory or too small buffers, which shows in a first run. Here the CPU can still take its place.
  if (traits) await session.generate(ONE_TOKEN);
  const description: ModelDescription = {
    name: (await readPulledModel(settings.folder))?.repo ?? path.basename(checkpoint.folder),
    device,
    deviceReasons: [...deviceReasons, ...spare.reasons],
    precision: settings.precision,
    weightBytes: plan.weightsBytes,
    contextLength: session.contextLength,
  };
  return { checkpoint, session, takesAdapters, trainable: settings.trainable, description };
}

async function readWeights({ tensors }: Checkpoint): Promise<ReadonlyMap<string, Float32Array>> {
  const weights = new Map<string, Float32Array>();
  for (const [name, tensor] of tensors) weights.set(name, await readTensor(tensor));
  return weights;
}

async function requireRuntime(): Promise<void> {
  // Turns off telemetry; it must be set before onnxruntime is loaded (docs/gpu.md).
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
  try {
    await import('onnxruntime-node');
  } catch (cause) {
    const said = (cause instanceof Error ? cause.message : String(cause)).split('\n')[0]?.slice(0, 300);
    throw new RuntimeMissingError(
      'Local models do not run on this machine: onnxruntime has no working build for ' +
        `${process.platform} ${process.arch} here (${said}); use a model behind an endpoint.`,
      { cause },
    );
  }
}

/**
 * Checks every weight when a model is loaded for the first time, because a NaN would spread to all results. The result is
 * recorded by the fingerprint, which changes with the files.
 */
async function checkWeights(
  checkpoint: Checkpoint, storage: string, onProgress: (fraction: number) => void, signal: AbortSignal | undefined,
): Promise<void> {
  const note = path.join(storage, 'checked', checkpoint.fingerprint);
  if (await stat(note).then(() => true, () => false)) return;
  const found = await findNonFinite(checkpoint, {
    signal,
    onProgress: (doneBytes, totalBytes) => onProgress(doneBytes / totalBytes),
  });
  if (found) throw notFiniteError(found.tensor, found.index);
  try {
    await mkdir(path.dirname(note), { recursive: true });
    await writeFile(note, '');
  } catch {
    // Without the record, the weights are checked again next time.
  }
}

interface QuantizingOptions extends Reading {
  readonly onProgress: (fraction: number) => void;
}

async function quantizedWeights(
  checkpoint: Checkpoint, { precision, storage }: ModelSettings, { threads, signal, onProgress }: QuantizingOptions,
): Promise<ReadonlyMap<string, QuantizedTensor> | undefined> {
  if (precision === 'full') return undefined;
  const { tensors } = await openQuantized(checkpoint, {
    bits: BLOCK_BITS[precision],
    blockSize: DEFAULT_BLOCK_SIZE,
    storage,
    // With 8 bits it would change next to nothing.
    importance: precision === '4-bit' ? (plain) => importanceOf(checkpoint, plain, { threads, signal }) : undefined,
    signal,
    onProgress: (doneWeights, totalWeights) => onProgress(doneWeights / totalWeights),
  });
  return tensors;
}

/** The error of a weight counts as much as what it is multiplied with while the model reads. */
async function importanceOf(
  checkpoint: Checkpoint, plain: ReadonlyMap<string, QuantizedTensor>, reading: Reading,
): Promise<ReadonlyMap<string, Float32Array>> {
  const tokenizer = await openTokenizer(checkpoint.folder);
  return columnSizes(checkpoint, plain, SAMPLE_TEXTS.map((text) => tokenizer.encode(text, { specialTokens: 'plain' })), reading);
}

/** @throws DeviceError if the weights alone exceed the memory of the machine or the container */
function refuseTooLarge(weightBytes: number, { precision }: ModelSettings): void {
  const total = machineBytes();
  if (weightBytes <= total) return;
  const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
  throw new DeviceError(
    'out-of-memory',
    `The model's weights take ${gigabytes(weightBytes)} and this machine has ${gigabytes(total)} of memory: ` +
      `choose a smaller model${precision === '4-bit' ? '' : ' or 4-bit weights'}.`,
  );
}
