/** Aligns the data to cache lines and to the widest vector loads. */
export const SAFETENSORS_ALIGNMENT = 64;

/** The bytes of a safetensors file before its tensors (see safetensors-file.ts), padded to a multiple of the alignment. */
export function encodeSafetensorsHead(entries: object): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(entries));
  const head = new Uint8Array(Math.ceil((8 + json.length) / SAFETENSORS_ALIGNMENT) * SAFETENSORS_ALIGNMENT).fill(' '.charCodeAt(0));
  new DataView(head.buffer).setBigUint64(0, BigInt(head.length - 8), true);
  head.set(json, 8);
  return head;
}
