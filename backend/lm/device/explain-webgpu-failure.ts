import { DeviceError } from './device-error.ts';
import { unknownFailure } from './unknown-failure.ts';

/** Turns onnxruntime's text about a WebGPU failure into an error. It gives no code, so only fixed sentences of its source are told apart. */
export function explainWebGpuFailure(text: string): DeviceError {
  if (/Failed to get a WebGPU adapter|No supported adapters/.test(text)) {
    return new DeviceError('no-device', 'The driver offers no GPU that WebGPU can use; update the driver of your GPU, or stay on the CPU.');
  }
  if (/out of memory|OutOfMemory|exceeds the max buffer|maxBufferSize|maxStorageBufferBindingSize/i.test(text)) {
    return new DeviceError('out-of-memory', 'The GPU has too little memory for the model; choose a smaller model or 4-bit weights, or stay on the CPU.');
  }
  return unknownFailure('WebGPU', text);
}
