/** onnxruntime's native code is not there for this machine, or does not load. */
export class RuntimeMissingError extends Error {
  override readonly name = 'RuntimeMissingError';
}
