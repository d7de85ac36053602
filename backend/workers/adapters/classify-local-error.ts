import { AdapterError } from '../../lm/adapter/errors.ts';
import { CheckpointError, UnsupportedModelError } from '../../lm/checkpoint/errors.ts';
import { ModelRequestError, PromptTooLongError } from '../../lm/decoder/request-error.ts';
import { DeviceError } from '../../lm/device/device-error.ts';
import { RuntimeMissingError } from '../../lm/load-error.ts';
import { ModelClosedError, ModelDiedError, ModelFailedError } from '../../lm/process/errors.ts';
import { ModelMissingError } from '../../lm/process/model-missing-error.ts';
import { QuantizedCacheError } from '../../lm/quantize/errors.ts';
import { TokenizerError } from '../../lm/tokenizer/errors.ts';
import { NO_USAGE } from '../../protocol/token-counts.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { WorkerError, type WorkerErrorKind } from '../errors.ts';

/** Errors that mean that the model cannot be used. Their messages say what happened and what to do. */
const UNUSABLE = [
  AdapterError, CheckpointError, UnsupportedModelError, DeviceError, RuntimeMissingError, ModelFailedError, QuantizedCacheError,
  TokenizerError,
];

/** Classifies an error of a local model. The message is the worker's id and the original message. */
export function classifyLocalError(error: unknown, { id }: Pick<WorkerConfig, 'id'>): WorkerError {
  if (error instanceof WorkerError) return error;
  const kind = localErrorKind(error) ?? 'invalid-response';
  const said = error instanceof Error ? error.message : String(error);
  return new WorkerError({ kind, message: `"${id}": ${said}`, usage: kind === 'model-died' ? undefined : NO_USAGE, cause: error });
}

/** `undefined` for unexpected errors. */
export function localErrorKind(error: unknown): WorkerErrorKind | undefined {
  if (error instanceof PromptTooLongError) return 'context-overflow';
  if (error instanceof ModelRequestError) return 'invalid-request';
  if (error instanceof ModelMissingError) return 'not-found';
  if (error instanceof ModelDiedError) return error.retryable ? 'model-died' : 'model-unusable';
  if (error instanceof ModelClosedError) return 'model-unloaded';
  return UNUSABLE.some((type) => error instanceof type) ? 'model-unusable' : undefined;
}
