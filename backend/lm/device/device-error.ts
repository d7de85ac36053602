/** Why a device is not used, as far as anybody decides by it. */
export type DeviceErrorKind =
  | 'platform'
  | 'no-driver'
  | 'driver-too-old'
  | 'no-device'
  | 'no-code'
  | 'no-bf16'
  /** Of the GPU. */
  | 'out-of-memory'
  /** nvidia-smi is not there, or says nothing that can be read. */
  | 'unknown-gpu'
  /** The CUDA libraries are not here, and nobody has said where to fetch them. */
  | 'no-index'
  | 'declined'
  | 'disk-full'
  | 'download'
  /** A CUDA library is not found when it is loaded. */
  | 'library-missing'
  /** Something that onnxruntime says and that is not known here. */
  | 'unknown';

/** Sentences that both the look before loading and onnxruntime's own failure lead to. */
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
