import { DeviceError, NO_DRIVER, NO_GPU } from './device-error.ts';
import { unknownFailure } from './unknown-failure.ts';

const TOO_LITTLE_MEMORY =
  'The GPU has too little free memory for the model; choose a smaller model or 4-bit weights, or stay on the CPU.';
const DRIVER_TOO_OLD = 'The NVIDIA driver is too old for CUDA 13; update it to 580 or newer, or stay on the CPU.';

/**
 * Turns onnxruntime's text about a CUDA failure into an error class. onnxruntime gives no error code, so this is the only place that
 * parses its text: the number after "CUDA failure" (cudaError_t) and its fixed sentence for a library that does not load. The name of
 * that library is only on standard error, so pass both texts.
 */
export function explainCudaFailure(text: string): DeviceError {
  const number = /CUDA failure (\d{1,4})\b/.exec(text)?.[1];
  switch (number) {
    case '2': return new DeviceError('out-of-memory', TOO_LITTLE_MEMORY);
    case '35': return new DeviceError('driver-too-old', DRIVER_TOO_OLD);
    case '100': return new DeviceError('no-device', NO_GPU);
    case '209': return new DeviceError('no-code', 'onnxruntime has no code for this GPU; the model runs on the CPU.');
    default: break;
  }
  const library = /\b(lib[\w.+-]{1,80}\.so[\w.]{0,20})\b: cannot open shared object file/.exec(text)?.[1];
  if (library === 'libcuda.so.1') return new DeviceError('no-driver', NO_DRIVER);
  if (library !== undefined || text.includes('Failed to load shared library')) {
    const which = library ? ` (${library})` : '';
    return new DeviceError('library-missing', `A CUDA library is missing or damaged${which}; it is fetched again.`);
  }
  return unknownFailure('CUDA', text);
}
