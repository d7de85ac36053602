/** onnxruntime's native code does not exist for this machine, or does not load. */
export class RuntimeMissingError extends Error {
  override readonly name = 'RuntimeMissingError';
}
