/** The kinds of reasons why a device is not used. A reason has its own kind only if code depends on it. */
export type DeviceErrorKind =
  | 'platform'
  | 'no-driver'
  | 'driver-too-old'
  | 'no-device'
  | 'no-code'
  | 'no-bf16'
  /** The GPU or the machine has too little memory. */
  | 'out-of-memory'
  /** nvidia-smi is missing, or its output cannot be read. */
  | 'unknown-gpu'
  /** The CUDA libraries are missing, and no package index is configured. */
  | 'no-index'
  | 'declined'
  | 'disk-full'
  | 'download'
  /** A CUDA library is not found when it is loaded. */
  | 'library-missing'
  /** A trial of the device was not made yet, or did not come to an end. */
  | 'untried'
  /** A trial showed that the device computes wrongly. */
  | 'wrong'
  /** A trial showed that the device is slower than the CPU. */
  | 'slower'
  /** onnxruntime reported something that is not recognised. */
  | 'unknown';

/** Messages for problems that are found either before loading or by onnxruntime. */
export const NO_DRIVER = 'No NVIDIA driver was found; install driver 580 or newer, or stay on the CPU.';
export const NO_GPU =
  'The NVIDIA driver shows no GPU that may be used; see what nvidia-smi and CUDA_VISIBLE_DEVICES say, or stay on the CPU.';

/** A device cannot be used. The message is one sentence that says why and what to do. */
export class DeviceError extends Error {
  override readonly name = 'DeviceError';
  readonly kind: DeviceErrorKind;

  constructor(kind: DeviceErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
