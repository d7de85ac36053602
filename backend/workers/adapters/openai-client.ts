import { OpenAI } from 'openai';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { baseUrlOf } from '../servers/server-of.ts';

/** The longest delay of a timer. StallWatch, which sees every byte, ends attempts; the SDK's timer covers only the headers. */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;

/**
 * OpenAI's SDK for one attempt, without retries, logging, and reading keys, organisations, addresses and headers from environment
 * variables. Without a key no `Authorization` header is sent.
 */
export function openAiClient(worker: WorkerConfig, key: string | undefined, onActivity: () => void): OpenAI {
  return new OpenAI({
    baseURL: baseUrlOf(worker),
    // The SDK requires a key, even for a server without keys.
    apiKey: key ?? 'none',
    ...(key === undefined && { defaultHeaders: { Authorization: null } }),
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: NO_SDK_TIMEOUT_MS,
    logLevel: 'off',
    fetch: guardedFetch(onActivity),
  });
}
