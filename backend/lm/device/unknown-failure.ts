import { DeviceError } from './device-error.ts';

/** The longest quotation of onnxruntime's text. */
const MAX_QUOTE_CHARACTERS = 300;

/** A failure that is not recognised, with what onnxruntime says of it. */
export function unknownFailure(library: 'CUDA' | 'WebGPU', text: string): DeviceError {
  const quote = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const cut = quote.length > MAX_QUOTE_CHARACTERS ? `${quote.slice(0, MAX_QUOTE_CHARACTERS)}…` : quote;
  return new DeviceError('unknown', `${library} does not work, so the model runs on the CPU; onnxruntime says: ${cut || 'nothing'}`);
}
