import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { DeviceError } from './device-error.ts';

/** A GPU as nvidia-smi describes it. */
export interface Gpu {
  readonly name: string;
  /** "GPU-…". Identifies the GPU for CUDA too, whose numbering may differ. */
  readonly uuid: string;
  /** Major and minor: 8 and 9 for an RTX 40. */
  readonly capability: { readonly major: number; readonly minor: number };
  /** Such as "580.65.06". */
  readonly driver: string;
  readonly memoryBytes: number;
  readonly freeBytes: number;
}

export interface ProbeOptions {
  readonly env: NodeJS.ProcessEnv;
  /** The time limit, because a driver can hang. The first call after a start may take seconds. */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 15_000;
const MAX_OUTPUT_BYTES = 65_536;
const MEBIBYTE = 1_048_576;
const FIELDS = 'name,compute_cap,driver_version,memory.total,memory.free,uuid';

/**
 * Whether the driver's library can be loaded. Another process loads it, because a faulty library can crash the process.
 */
export async function findDriver({ env, timeoutMs }: ProbeOptions): Promise<boolean> {
  // If the library loads, Node reports that it is not an add-on ("did not self-register"). All other errors are from the loader.
  const script = `try { process.dlopen({ exports: {} }, 'libcuda.so.1') } catch (error) {
    process.stdout.write(error.message.includes('self-register') ? 'found' : 'missing') }`;
  const result = await run(process.execPath, ['-e', script], { env: { ...env, ELECTRON_RUN_AS_NODE: '1' }, timeoutMs });
  return result.stdout === 'found';
}

/** The PCI devices of Linux, and the GPU device of WSL. */
const LINUX_DEVICES = { pci: '/sys/bus/pci/devices', windowsGpu: '/dev/dxg' };
/** From https://pcisig.com/membership/member-companies. A class that begins with 03 is a display controller. */
const NVIDIA_VENDOR = '0x10de';

/** Whether the kernel lists an NVIDIA card. This needs no driver. */
export async function hasNvidiaCard({ pci, windowsGpu } = LINUX_DEVICES): Promise<boolean> {
  if (existsSync(windowsGpu)) return true;
  const devices = await readdir(pci).catch((): string[] => []);
  const read = (device: string, fact: string): Promise<string> => readFile(path.join(pci, device, fact), 'utf8').catch(() => '');
  const found = await Promise.all(devices.map(async (device) =>
    (await read(device, 'vendor')).trim() === NVIDIA_VENDOR && (await read(device, 'class')).startsWith('0x03')));
  return found.includes(true);
}

/**
 * The machine's GPUs that CUDA_VISIBLE_DEVICES does not hide, in nvidia-smi's order.
 * @throws DeviceError `unknown-gpu`
 */
export async function listGpus({ env, timeoutMs }: ProbeOptions): Promise<Gpu[]> {
  const result = await run('nvidia-smi', [`--query-gpu=${FIELDS}`, '--format=csv,noheader,nounits'], { env, timeoutMs });
  if (result.failure) {
    const message = `nvidia-smi ${result.failure}, so nothing is known of the GPU: repair the NVIDIA driver, or stay on the CPU.`;
    throw new DeviceError('unknown-gpu', message);
  }
  return visible(parseGpus(result.stdout), env.CUDA_VISIBLE_DEVICES);
}

/** Parses `--format=csv,noheader,nounits`. Lines that describe no GPU are skipped, so a broken GPU does not hide a working one. */
export function parseGpus(csv: string): Gpu[] {
  return csv.split('\n').flatMap((line) => parseGpu(line) ?? []);
}

function parseGpu(line: string): Gpu | undefined {
  const fields = line.split(',').map((field) => field.trim());
  // Counts from the end, because a name can contain a comma.
  const [capability = '', driver = '', total = '', free = '', uuid = ''] = fields.slice(-5);
  const name = fields.slice(0, -5).join(', ').replace(/\p{Cc}/gu, ' ').slice(0, 100);
  const version = /^(\d{1,3})\.(\d{1,2})$/.exec(capability);
  const hasNumbers = /^\d{1,4}(\.\d{1,4}){1,3}$/.test(driver) && /^\d{1,9}$/.test(total) && /^\d{1,9}$/.test(free);
  if (name === '' || !version || !hasNumbers || !/^GPU-[0-9a-f-]{8,64}$/i.test(uuid)) return undefined;
  return {
    name,
    uuid,
    capability: { major: Number(version[1]), minor: Number(version[2]) },
    driver,
    memoryBytes: Number(total) * MEBIBYTE,
    freeBytes: Number(free) * MEBIBYTE,
  };
}

/**
 * CUDA sees only the GPUs in the variable, by number or by the beginning of a UUID, up to the first invalid entry. nvidia-smi
 * ignores the variable. We assume that its numbers equal those of nvidia-smi, which holds for identical GPUs and with
 * CUDA_DEVICE_ORDER=PCI_BUS_ID. Source: NVIDIA's CUDA programming guide, "CUDA Environment Variables".
 */
function visible(gpus: readonly Gpu[], variable: string | undefined): Gpu[] {
  if (variable === undefined) return [...gpus];
  const chosen: Gpu[] = [];
  for (const entry of variable.split(',').map((item) => item.trim())) {
    const named = entry.startsWith('GPU-') ? gpus.find(({ uuid }) => uuid.startsWith(entry)) : undefined;
    const gpu = /^\d{1,3}$/.test(entry) ? gpus[Number(entry)] : named;
    if (!gpu) break;
    chosen.push(gpu);
  }
  return chosen;
}

interface RunResult {
  readonly stdout: string;
  /** The failure, as the predicate of a sentence about the program. */
  readonly failure?: string;
}

function run(command: string, args: readonly string[], { env, timeoutMs = TIMEOUT_MS }: ProbeOptions): Promise<RunResult> {
  const options = { env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES, encoding: 'utf8' } as const;
  return new Promise((resolve) => {
    execFile(command, args, options, (error, stdout) => {
      if (!error) return resolve({ stdout });
      if (error.code === 'ENOENT') return resolve({ stdout, failure: 'was not found' });
      resolve({ stdout, failure: error.killed ? 'did not answer' : 'failed' });
    });
  });
}
