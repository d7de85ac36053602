import type { FinishReason } from '../model.ts';

/** Servers have different names for a normal end, so every unknown reason counts as `stop`. */
export function finishReasonOf(reason: unknown): FinishReason | undefined {
  if (typeof reason !== 'string' || reason === '') return undefined;
  if (reason === 'length' || reason === 'max_tokens') return 'length';
  return reason === 'content_filter' ? 'content-filter' : 'stop';
}
