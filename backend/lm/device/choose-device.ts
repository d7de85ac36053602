import type { AcceleratorRequest, ReadyAccelerator } from './accelerator.ts';
import { ACCELERATOR_NAMES, ACCELERATORS } from './accelerators.ts';
import { DeviceError, type DeviceErrorKind } from './device-error.ts';
import type { AcceleratorName, WantedDevice } from './devices.ts';

export interface DeviceRequest extends Omit<AcceleratorRequest, 'isNamed'> {
  readonly wanted: WantedDevice;
}

/** `reasons` says why the requested device or better devices are not used; one sentence each. */
export type DeviceChoice =
  | { readonly device: AcceleratorName; readonly reasons: readonly string[] } & ReadyAccelerator
  | { readonly device: 'cpu'; readonly reasons: readonly string[] };

/** Why a device is not used, where the machine has no such hardware anyway. */
const OF_NO_INTEREST: readonly DeviceErrorKind[] = ['no-driver', 'platform'];

/**
 * The first accelerator that can be used, otherwise the CPU. A device is skipped without a reason only if the machine has no such hardware and
 * the device was not asked for by name.
 * @throws errors of `cudaLibraries` and `trial` other than DeviceError, such as an abort
 */
export async function chooseDevice({ wanted, ...request }: DeviceRequest): Promise<DeviceChoice> {
  const candidates = wanted === 'auto' ? ACCELERATOR_NAMES : ACCELERATOR_NAMES.filter((device) => device === wanted);
  const reasons: string[] = [];
  for (const device of candidates) {
    const { prepare, isInstalled } = ACCELERATORS[device];
    try {
      return { device, reasons, ...(await prepare({ ...request, isNamed: wanted === device })) };
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error;
      if (wanted === device || !OF_NO_INTEREST.includes(error.kind) || (await isInstalled(request.probe))) reasons.push(error.message);
    }
  }
  return { device: 'cpu', reasons };
}
