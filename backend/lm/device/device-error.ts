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
  | 'not-offered'
  /** Something that onnxruntime says and that is not known here. */
  | 'unknown';

/** A device cannot be used. The message is one sentence that says why and what to do. */
export class DeviceError extends Error {
  override readonly name = 'DeviceError';
  readonly kind: DeviceErrorKind;

  constructor(kind: DeviceErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
