import { describe, expect, it } from 'vitest';
import { chooseDevice, type DeviceChoice, type DeviceRequest } from '../../../backend/lm/device/choose-device.ts';
import { DeviceError } from '../../../backend/lm/device/device-error.ts';
import type { DeviceProbe } from '../../../backend/lm/device/device-probe.ts';
import { explainCudaFailure } from '../../../backend/lm/device/explain-cuda-failure.ts';
import type { Gpu } from '../../../backend/lm/device/nvidia.ts';

const GB = 2 ** 30;
const gpu = (overrides: Partial<Gpu> = {}): Gpu => ({
  name: 'NVIDIA GeForce RTX 4090', uuid: 'GPU-4090', capability: { major: 8, minor: 9 }, driver: '580.65.06', memoryBytes: 24 * GB,
  freeBytes: 22 * GB, ...overrides,
});
const capability = (text: string): Gpu['capability'] => {
  const [major = 0, minor = 0] = text.split('.').map(Number);
  return { major, minor };
};

/** What was looked at, in order, and what was chosen on a machine where everything speaks for CUDA but what is given. */
async function choose(machine: { probe?: Partial<DeviceProbe>; gpus?: readonly Gpu[] } & Partial<Omit<DeviceRequest, 'probe'>> = {}) {
  const looked: string[] = [];
  const note = <T>(name: string, value: T): Promise<T> => { looked.push(name); return Promise.resolve(value); };
  const { probe, gpus = [gpu()], ...request } = machine;
  const choice = await chooseDevice({
    wanted: 'auto', neededBytes: () => 16 * GB, precision: 'bfloat16', cudaLibraries: () => note('libraries', '/store/cuda/1.30.0'), ...request,
    probe: {
      platform: 'linux', arch: 'x64', findDriver: () => note('driver', true), hasCard: () => Promise.resolve(true), listGpus: () => note('gpus', gpus), ...probe,
    },
  });
  return { looked, choice };
}

/** Of the model's process. */
const environmentOf = (choice: DeviceChoice): NodeJS.ProcessEnv => (choice.device === 'cpu' ? {} : choice.environment({}));

const cpu = (...reasons: string[]): DeviceChoice => ({ device: 'cpu', reasons });

describe('the device', () => {
  it.each(['auto', 'cuda'] as const)('is CUDA where everything speaks for it and "%s" is wanted', async (wanted) => {
    const { looked, choice } = await choose({ wanted });
    expect(choice).toMatchObject({ device: 'cuda', memoryBytes: 24 * GB, reasons: [] });
    expect(environmentOf(choice)).toMatchObject({ CUDA_VISIBLE_DEVICES: 'GPU-4090', LD_LIBRARY_PATH: '/store/cuda/1.30.0' });
    expect(looked).toEqual(['driver', 'gpus', 'libraries']);
  });

  it('is the CPU where that is wanted, and nothing is looked at', async () => {
    expect(await choose({ wanted: 'cpu' })).toEqual({ looked: [], choice: cpu() });
  });

  it.each([
    ['another system', { probe: { platform: 'darwin' } }, [], 'CUDA works on Linux x64 only; the model runs on the CPU.'],
    ['another processor', { probe: { arch: 'arm64' } }, [], 'CUDA works on Linux x64 only; the model runs on the CPU.'],
    ['no driver', { probe: { findDriver: () => Promise.resolve(false) } }, [],
      'No NVIDIA driver was found; install driver 580 or newer, or stay on the CPU.'],
    ['no GPU', { gpus: [] }, ['driver', 'gpus'],
      'The NVIDIA driver shows no GPU that may be used; see what nvidia-smi and CUDA_VISIBLE_DEVICES say, or stay on the CPU.'],
    ['an old driver', { gpus: [gpu({ driver: '575.57.08' })] }, ['driver', 'gpus'],
      'The NVIDIA driver is 575.57.08; CUDA 13 needs 580 or newer. Update the driver, or stay on the CPU.'],
    ['a GPU without code', { gpus: [gpu({ name: 'Tesla V100', capability: capability('7.0') })] }, ['driver', 'gpus'],
      'onnxruntime has no code for Tesla V100 (compute capability 7.0); the model runs on the CPU.'],
    ['a GPU without bf16', { gpus: [gpu({ name: 'Tesla T4', capability: capability('7.5') })] }, ['driver', 'gpus'],
      'Tesla T4 cannot compute in bf16; choose fp16 or 4-bit weights, or stay on the CPU.'],
    ['too little memory', { neededBytes: () => 22.5 * GB }, ['driver', 'gpus'],
      'The model needs 22.5 GB and NVIDIA GeForce RTX 4090 has 22.0 GB free; choose a smaller model or 4-bit weights, or stay on the CPU.'],
    ['no libraries', { cudaLibraries: () => Promise.reject(new DeviceError('declined', 'The CUDA libraries were not downloaded.')) }, ['driver', 'gpus'],
      'The CUDA libraries were not downloaded.'],
  ])('is the CPU with %s: one sentence says why, and nothing more is looked at', async (_name, machine, looked, sentence) => {
    const result = await choose(machine);
    expect(result.choice).toEqual(cpu(sentence));
    expect(result.looked).toEqual(looked);
  });

  it('is the CPU without a word where there is no card, unless CUDA is asked for', async () => {
    const probe = { findDriver: () => Promise.resolve(false), hasCard: () => Promise.resolve(false) };
    expect((await choose({ probe })).choice).toEqual(cpu());
    expect((await choose({ probe, wanted: 'cuda' })).choice.reasons).toHaveLength(1);
  });

  it('says the first of several reasons, in the order of the checks', async () => {
    const everythingWrong = gpu({ driver: '470.1', capability: capability('6.1'), freeBytes: 0 });
    expect((await choose({ gpus: [everythingWrong] })).choice.reasons[0]).toContain('driver is 470.1');
  });

  it.each(['7.5', '8.0', '8.6', '8.9', '9.0', '12.0'])('may have compute capability %s', async (version) => {
    expect((await choose({ precision: '4-bit', gpus: [gpu({ capability: capability(version) })] })).choice.device).toBe('cuda');
  });

  it.each(['3.5', '6.1', '7.0', '7.2', '10.0', '10.3', '11.0', '12.1', '13.0'])('may not have compute capability %s', async (version) => {
    expect((await choose({ precision: '4-bit', gpus: [gpu({ capability: capability(version) })] })).choice.device).toBe('cpu');
  });

  it.each(['float16', 'float32', '8-bit', '4-bit'] as const)('of the Turing generation computes %s weights', async (precision) => {
    expect((await choose({ precision, gpus: [gpu({ capability: capability('7.5') })] })).choice.device).toBe('cuda');
  });

  it('of several GPUs is the one with the most free memory', async () => {
    const gpus = [gpu({ uuid: 'GPU-a', freeBytes: 17 * GB }), gpu({ uuid: 'GPU-b', freeBytes: 20 * GB }), gpu({ uuid: 'GPU-c', freeBytes: 18 * GB })];
    expect(environmentOf((await choose({ gpus })).choice)).toMatchObject({ CUDA_VISIBLE_DEVICES: 'GPU-b' });
  });

  it('passes over a GPU with more memory that cannot be used', async () => {
    const gpus = [gpu({ uuid: 'GPU-old', capability: capability('7.0'), freeBytes: 30 * GB }), gpu({ uuid: 'GPU-new' })];
    expect(environmentOf((await choose({ gpus })).choice)).toMatchObject({ CUDA_VISIBLE_DEVICES: 'GPU-new' });
  });

  it('speaks of the GPU with the most free memory where none can be used', async () => {
    const gpus = [gpu({ name: 'Small', freeBytes: 2 * GB }), gpu({ name: 'Big', freeBytes: 9 * GB })];
    expect((await choose({ gpus })).choice.reasons[0]).toContain('Big has 9.0 GB free');
  });

  it('is not chosen in silence when something else goes wrong', async () => {
    await expect(choose({ cudaLibraries: () => Promise.reject(new Error('aborted by the user')) })).rejects.toThrow('aborted by the user');
  });
});

describe('what onnxruntime says', () => {
  it.each([
    ['CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version ; GPU=-1', 'driver-too-old'],
    ['CUDA failure 100: no CUDA-capable device is detected ; GPU=0 ; file=cuda_execution_provider.cc ; line=352', 'no-device'],
    ['CUDA failure 2: out of memory ; GPU=0', 'out-of-memory'],
    ['CUDA failure 209: no kernel image is available for execution on the device', 'no-code'],
    ['libcuda.so.1: cannot open shared object file: No such file or directory', 'no-driver'],
    ['Failed to load library … with error: libcublasLt.so.13: cannot open shared object file: No such file', 'library-missing'],
    ['Error: OrtSessionOptionsAppendExecutionProvider_Cuda: Failed to load shared library', 'library-missing'],
    ['CUDA failure 2000: something', 'unknown'],
    ['CUDNN_STATUS_NOT_INITIALIZED', 'unknown'],
    ['', 'unknown'],
  ])('%j is "%s"', (text, kind) => {
    const error = explainCudaFailure(text);
    expect(error).toBeInstanceOf(DeviceError);
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(/^[^\n]{20,}$/);
  });

  it('is shown as it is where it is not known, on one line and not without an end', () => {
    const { message } = explainCudaFailure(`strange\n\u001b[31m words ${'x'.repeat(10_000)}`);
    expect(message).toContain('strange [31m words xxx');
    expect(message.length).toBeLessThan(420);
  });

  it('names the library that was not found', () => {
    expect(explainCudaFailure('libcurand.so.10: cannot open shared object file').message).toContain('(libcurand.so.10)');
  });
});
