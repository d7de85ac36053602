import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../common/replace-file.ts';
import { ONNXRUNTIME_VERSION } from '../device/cuda-files.ts';
import { DeviceError } from '../device/device-error.ts';
import { type DeviceTrial, deviceTrialSchema } from '../device/device-trial.ts';
import type { AcceleratorName } from '../device/devices.ts';
import type { GpuDrivers } from '../device/webgpu-drivers.ts';
import { ModelDiedError } from './errors.ts';
import { ModelChild } from './model-child.ts';
import { processEnvironment } from './process-environment.ts';

/*
 * Trials of devices. Each runs in a process of its own, because a faulty driver can end it, and is kept for the versions of the drivers and of
 * onnxruntime.
 */

/** To be raised when the graph of a decoder uses other kernels than before, or a trial tries more: kept trials then count no more. */
const TRIAL_VERSION = 1;

/** A trial should take some ten seconds on a GPU. A software driver took six minutes on a very busy machine. */
const TIMEOUT_MS = 10 * 60_000;
/** How long the process may continue after an abort; a run of the device cannot be interrupted. */
const GRACE_MS = 2_000;

/** A trial that came to no end is kept too: another one could end the person's session. The text says why, as the end of a sentence. */
const keptSchema = z.union([deviceTrialSchema, z.object({ problem: z.string().max(500) })]);
export type KeptTrial = z.output<typeof keptSchema>;

/** What is kept of a trial of this device with these drivers. Damaged files count as none. */
export async function keptTrial(storage: string, device: AcceleratorName, drivers: GpuDrivers): Promise<KeptTrial | undefined> {
  const text = await readFile(fileFor(storage, device, drivers), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return keptSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function fileFor(storage: string, device: AcceleratorName, { versions }: GpuDrivers): string {
  const key = JSON.stringify([TRIAL_VERSION, ONNXRUNTIME_VERSION, ...versions]);
  return path.join(storage, 'trials', `${device}-${createHash('sha256').update(key).digest('hex').slice(0, 16)}.json`);
}

export interface TrialRequest {
  /** The product's storage folder, which keeps trials in `trials/`. Absolute. */
  readonly storage: string;
  /** backend/model-process.ts or its bundle. */
  readonly script: string;
  readonly device: AcceleratorName;
  readonly drivers: GpuDrivers;
  readonly threads?: number | undefined;
  /** The environment from which the process gets its variables; by default that of this process. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  readonly timeoutMs?: number | undefined;
  readonly onProgress?: ((fraction: number) => void) | undefined;
  readonly signal: AbortSignal;
}

/**
 * What a trial of the device came to: the kept one, or a new one, which takes a while.
 * @throws DeviceError `untried` if it did not come to an end, now or when it was made; the signal's reason after it aborted
 */
export async function findTrial(request: TrialRequest): Promise<DeviceTrial> {
  const { storage, device, drivers } = request;
  const kept = (await keptTrial(storage, device, drivers)) ?? (await makeTrial(request).catch((error: unknown) => {
    request.signal.throwIfAborted();
    // Of this process or of the disk, not of the device: nothing is kept.
    const said = error instanceof Error ? error.message : String(error);
    throw new DeviceError('untried', `${drivers.name} could not be tried by WebGPU, so the model runs on the CPU: ${said}`, error);
  }));
  if (!('problem' in kept)) return kept;
  const file = fileFor(storage, device, drivers);
  throw new DeviceError('untried', `${drivers.name} could not be tried by WebGPU: ${kept.problem}; the model runs on the CPU (to try again, remove ${file}).`);
}

/** Without fused attention if the process dies of it. */
async function makeTrial(request: TrialRequest): Promise<KeptTrial> {
  const { storage, device, drivers, signal } = request;
  signal.throwIfAborted();
  let kept: KeptTrial | undefined;
  for (const attentions of [['fused', 'plain'], ['plain']] as const) {
    kept = await runTrial(request, attentions);
    if (!('problem' in kept) || kept.problem === TOO_SLOW) break;
  }
  const file = fileFor(storage, device, drivers);
  await mkdir(path.dirname(file), { recursive: true });
  await replaceFile(file, `${JSON.stringify(kept, null, 2)}\n`);
  return kept as KeptTrial;
}

const TOO_SLOW = 'it took too long';

async function runTrial(
  { script, device, threads, environment = process.env, timeoutMs = TIMEOUT_MS, onProgress, signal }: TrialRequest,
  attentions: readonly DeviceTrial['attention'][],
): Promise<KeptTrial> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-trial-'));
  const timeout = AbortSignal.timeout(timeoutMs);
  const child = new ModelChild({ script, nodePath: process.execPath, environment: processEnvironment(environment) });
  try {
    return await child.ask({ type: 'try', device, attentions: [...attentions], folder, threads }, {
      signal: AbortSignal.any([signal, timeout]),
      graceMs: GRACE_MS,
      onEvent: (event) => { if (event.type === 'progress') onProgress?.(event.progress.fraction ?? 0); },
    });
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return { problem: TOO_SLOW };
    if (error instanceof ModelDiedError) return { problem: `its process was ended${error.signal ? ` by ${error.signal}` : ''}` };
    throw error;
  } finally {
    child.kill();
    await child.ended;
    await rm(folder, { recursive: true, force: true });
  }
}
