import { memoryGigabytes } from '../download/size-text.ts';
import { machineBytes } from '../machine-memory.ts';
import type { Accelerator, AcceleratorRequest, ReadyAccelerator } from './accelerator.ts';
import { DeviceError } from './device-error.ts';
import type { DeviceTrial } from './device-trial.ts';
import { explainWebGpuFailure } from './explain-webgpu-failure.ts';

/** The platforms on which onnxruntime-node 1.30 has the provider; see docs/webgpu.md. */
const PLATFORMS = ['linux-x64', 'win32-x64', 'win32-arm64', 'darwin-arm64'];

/** The environment variables by which a person chooses among Vulkan drivers and GPUs. */
const VARIABLES = ['VK_DRIVER_FILES', 'VK_ICD_FILENAMES', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_DATA_DIRS', 'DRI_PRIME', 'MESA_VK_DEVICE_SELECT'];

/** The checks, cheapest first; the first that fails gives the reason. */
export const WEBGPU: Accelerator = {
  variables: VARIABLES,
  prepare: async (request) => {
    const { probe, isNamed, neededBytes } = request;
    if (!PLATFORMS.includes(`${probe.platform}-${probe.arch}`)) {
      throw new DeviceError('platform', 'WebGPU works on Linux x64, Windows and Macs with Apple silicon only.');
    }
    // Software drivers are slower than the CPU itself. Whoever wants one names it.
    if (!isNamed && !(await probe.hasDisplay())) throw new DeviceError('no-driver', NO_DRIVER);
    const drivers = await probe.gpuDrivers();
    if (!drivers) throw new DeviceError('no-driver', NO_DRIVER);
    const memoryBytes = machineBytes();
    if (memoryBytes < neededBytes('webgpu')) {
      const sizes = `The model needs ${memoryGigabytes(neededBytes('webgpu'))} and this machine has ${memoryGigabytes(memoryBytes)}`;
      throw new DeviceError('out-of-memory', `${sizes}; choose a smaller model or 4-bit weights, or stay on the CPU.`);
    }
    return readyAfter(await request.trial('webgpu', drivers), drivers.name, request, memoryBytes);
  },
  isInstalled: (probe) => probe.hasDisplay(),
  explainFailure: explainWebGpuFailure,
};

const NO_DRIVER = 'No driver for WebGPU was found; install the Vulkan driver of your GPU, or stay on the CPU.';

/** @throws DeviceError if the trial speaks against the device */
function readyAfter(
  { attention, hasFloat16, failures, speeds }: DeviceTrial, name: string, { isNamed, precision, trains }: AcceleratorRequest, memoryBytes: number,
): ReadyAccelerator {
  const use = precision === '8-bit' || precision === '4-bit' ? precision : 'full';
  const why = failures[use];
  if (why !== undefined) {
    const said = explainWebGpuFailure(why);
    if (said.kind === 'no-device') throw said;
    const what = use === 'full' ? 'this' : `${use} weights`;
    throw new DeviceError('wrong', `${name} does not compute ${what} by WebGPU as the CPU does: ${why}; the model runs on the CPU.`);
  }
  if (trains && failures.training !== undefined) {
    throw new DeviceError('wrong', `${name} does not train by WebGPU as the CPU does: ${failures.training}; the model runs on the CPU.`);
  }
  const speed = speeds[use === 'full' ? 'full' : '4-bit'];
  if (!isNamed && !(speed && speed.device > speed.cpu)) {
    const measured = speed ? ` (${tokens(speed.device)} tokens a second, the CPU ${tokens(speed.cpu)})` : '';
    throw new DeviceError('slower', `${name} writes more slowly by WebGPU than the CPU${measured}, so the model runs on the CPU.`);
  }
  return { memoryBytes, environment: (base) => base, traits: { attention, hasFloat16 } };
}

const tokens = (perSecond: number): string => perSecond.toFixed(perSecond < 10 ? 1 : 0);
