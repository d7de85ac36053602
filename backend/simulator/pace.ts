import { setTimeout as delay } from 'node:timers/promises';
import type { Latency } from './pool.ts';
import { countTokens } from './simulated-model.ts';

/** Characters in a stream chunk, about four tokens: small enough to look live, large enough to need little CPU. */
const PIECE_CHARACTERS = 16;

export function piecesOf(text: string): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${PIECE_CHARACTERS}}`, 'gu')) ?? [];
}

/** Waits for the model's time to first token. @throws AbortError */
export async function waitForFirstToken({ firstTokenMs }: Latency, scale: number, signal: AbortSignal): Promise<void> {
  await wait(firstTokenMs * scale, signal);
}

/** Waits for the model's time to write the text. @throws AbortError */
export async function waitForText(text: string, { tokensPerSecond }: Latency, scale: number, signal: AbortSignal): Promise<void> {
  await wait((countTokens(text) / tokensPerSecond) * 1000 * scale, signal);
}

async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (milliseconds > 0) await delay(milliseconds, undefined, { signal });
}
