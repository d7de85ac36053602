import { describe, expect, it } from 'vitest';
import { chooseDevice, type DeviceChoice, type DeviceRequest } from '../../../backend/lm/device/choose-device.ts';
import { DeviceError } from '../../../backend/lm/device/device-error.ts';
import type { DeviceProbe } from '../../../backend/lm/device/device-probe.ts';
import { explainCudaFailure } from '../../../backend/lm/device/explain-cuda-failure.ts';
import type { DeviceTrial } from '../../../backend/lm/device/device-trial.ts';
import { explainWebGpuFailure } from '../../../backend/lm/device/explain-webgpu-failure.ts';
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

const TRIAL: DeviceTrial = {
  attention: 'fused', hasFloat16: true, failures: {}, speeds: { full: { cpu: 10, device: 20 }, '4-bit': { cpu: 20, device: 30 } }, seconds: 8,
};

/** What was looked at, in order, and what was chosen on a machine where everything speaks for CUDA but what is given. */
async function choose(machine: { probe?: Partial<DeviceProbe>; gpus?: readonly Gpu[] } & Partial<Omit<DeviceRequest, 'probe'>> = {}) {
  const looked: string[] = [];
  const note = <T>(name: string, value: T): Promise<T> => { looked.push(name); return Promise.resolve(value); };
  const { probe, gpus = [gpu()], ...request } = machine;
  const choice = await chooseDevice({
    wanted: 'auto', neededBytes: () => 16 * GB, precision: 'bfloat16', trains: false, cudaLibraries: () => note('libraries', '/store/cuda/1.30.0'),
    trial: () => note('trial', TRIAL), ...request,
    probe: {
      platform: 'linux', arch: 'x64', findDriver: () => note('driver', true), hasCard: () => Promise.resolve(true), listGpus: () => note('gpus', gpus),
      hasDisplay: () => Promise.resolve(false), gpuDrivers: () => note('drivers', undefined), ...probe,
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
    ['another system', { probe: { platform: 'darwin' } }, [], 'CUDA works on Linux x64 only.'],
    ['another processor', { probe: { arch: 'arm64' } }, [], 'CUDA works on Linux x64 only.'],
    ['no driver', { probe: { findDriver: () => Promise.resolve(false) } }, [],
      'No NVIDIA driver was found; install driver 580 or newer, or stay on the CPU.'],
    ['no GPU', { gpus: [] }, ['driver', 'gpus'],
      'The NVIDIA driver shows no GPU that may be used; see what nvidia-smi and CUDA_VISIBLE_DEVICES say, or stay on the CPU.'],
    ['an old driver', { gpus: [gpu({ driver: '575.57.08' })] }, ['driver', 'gpus'],
      'The NVIDIA driver is 575.57.08; CUDA 13 needs 580 or newer. Update the driver, or stay on the CPU.'],
    ['a GPU without code', { gpus: [gpu({ name: 'Tesla V100', capability: capability('7.0') })] }, ['driver', 'gpus'],
      'onnxruntime has no CUDA code for Tesla V100 (compute capability 7.0).'],
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

describe('WebGPU', () => {
  /** A machine without CUDA where everything speaks for WebGPU. */
  const onWebGpu = (machine: Parameters<typeof choose>[0] = {}) => choose({
    ...machine,
    probe: {
      findDriver: () => Promise.resolve(false), hasCard: () => Promise.resolve(false), hasDisplay: () => Promise.resolve(true),
      gpuDrivers: () => Promise.resolve({ name: 'Radeon', versions: ['1'] }), ...machine.probe,
    },
    neededBytes: () => 1,
  });

  it.each(['auto', 'webgpu'] as const)('is chosen where its trial speaks for it and "%s" is wanted, and its traits with it', async (wanted) => {
    const { choice } = await onWebGpu({ wanted, trial: async () => ({ ...TRIAL, attention: 'plain' }) });
    expect(choice).toMatchObject({ device: 'webgpu', reasons: [], traits: { attention: 'plain', hasFloat16: true } });
    expect(environmentOf(choice)).toEqual({});
  });

  it('is not looked at where CUDA can be used', async () => {
    const { choice, looked } = await choose({ probe: { hasDisplay: () => Promise.resolve(true) } });
    expect(choice.device).toBe('cuda');
    expect(looked).not.toContain('drivers');
  });

  it.each([
    ['linux', 'arm64', 'cpu'], ['darwin', 'x64', 'cpu'], ['linux', 'x64', 'webgpu'], ['win32', 'x64', 'webgpu'], ['win32', 'arm64', 'webgpu'], ['darwin', 'arm64', 'webgpu'],
  ])('on %s %s: the model runs on %s', async (platform, arch, device) => {
    const { choice } = await onWebGpu({ probe: { platform, arch } });
    expect(choice.device).toBe(device);
    expect(choice.reasons).toEqual(device === 'cpu' ? ['WebGPU works on Linux x64, Windows and Macs with Apple silicon only.'] : []);
  });

  it('is not tried without being asked for where the machine has no display controller, and nothing is said', async () => {
    const { choice, looked } = await onWebGpu({ probe: { hasDisplay: () => Promise.resolve(false) } });
    expect({ choice, looked }).toEqual({ choice: cpu(), looked: [] });
    expect((await onWebGpu({ wanted: 'webgpu', probe: { hasDisplay: () => Promise.resolve(false) } })).choice.device).toBe('webgpu');
  });

  const slow = { ...TRIAL, speeds: { full: { cpu: 40, device: 3.14 }, '4-bit': { cpu: 20, device: 90 } } };
  it.each([
    ['has no driver', { probe: { gpuDrivers: () => Promise.resolve(undefined) } }, 'No driver for WebGPU was found; install the Vulkan driver of your GPU, or stay on the CPU.'],
    ['is slower', { trial: async () => slow }, 'Radeon writes more slowly by WebGPU than the CPU (3.1 tokens a second, the CPU 40), so the model runs on the CPU.'],
    ['was not measured', { trial: async () => ({ ...TRIAL, speeds: {} }) }, 'Radeon writes more slowly by WebGPU than the CPU, so the model runs on the CPU.'],
    ['computes wrongly', { trial: async () => ({ ...TRIAL, failures: { full: 'while it reads, log-probabilities differ by 0.3' } }) },
      'Radeon does not compute this by WebGPU as the CPU does: while it reads, log-probabilities differ by 0.3; the model runs on the CPU.'],
    ['has a driver without such a GPU', { trial: async () => ({ ...TRIAL, failures: { full: 'onnxruntime says: … Failed to get a WebGPU adapter: No supported adapters' } }) },
      'The driver offers no GPU that WebGPU can use; update the driver of your GPU, or stay on the CPU.'],
    ['computes gradients wrongly', { trains: true, trial: async () => ({ ...TRIAL, failures: { training: 'a gradient differs by 40 %' } }) },
      'Radeon does not train by WebGPU as the CPU does: a gradient differs by 40 %; the model runs on the CPU.'],
    ['could not be tried', { trial: () => Promise.reject(new DeviceError('untried', 'It took too long.')) }, 'It took too long.'],
  ] as const)('is not chosen where it %s, and a sentence says why', async (_name, machine, sentence) => {
    expect((await onWebGpu(machine)).choice).toEqual(cpu(sentence));
  });

  it('is held to what the model needs: its precision and whether it trains', async () => {
    const trial = async () => ({ ...TRIAL, failures: { '8-bit': 'wrong', training: 'wrong' } });
    expect((await onWebGpu({ trial, precision: '4-bit' })).choice.device).toBe('webgpu');
    expect((await onWebGpu({ trial, precision: '8-bit' })).choice.reasons[0]).toContain('does not compute 8-bit weights');
    expect((await onWebGpu({ trial: async () => slow, precision: '4-bit' })).choice.device).toBe('webgpu');
  });

  it('is chosen although it is slower where it was asked for by name', async () => {
    expect((await onWebGpu({ wanted: 'webgpu', trial: async () => slow })).choice.device).toBe('webgpu');
  });

  it('ends with a reason, not the choice, where the trial was cancelled', async () => {
    await expect(onWebGpu({ trial: () => Promise.reject(new Error('cancelled')) })).rejects.toThrow('cancelled');
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

describe('what onnxruntime says of WebGPU', () => {
  it.each([
    ['webgpu_context.cc:136 adapter_result.status == wgpu::RequestAdapterStatus::Success was false. Failed to get a WebGPU adapter: No supported adapters', 'no-device'],
    ['Buffer size (4294967296) exceeds the max buffer size limit (2147483648).', 'out-of-memory'],
    ['VK_ERROR_DEVICE_LOST', 'unknown'],
  ])('%j is "%s"', (text, kind) => {
    const error = explainWebGpuFailure(text);
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(/^[^\n]{20,}$/);
  });
});
