import type { FoundServer, ServerKind } from '../../backend/protocol/found-servers.ts';
import type { Pool } from '../../backend/protocol/methods.ts';
import type { Provider } from '../../backend/protocol/providers.ts';
import { workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { suggestId } from './worker-presets.ts';

/** A found model that could become a worker. */
export interface FoundWorker {
  readonly server: ServerKind | 'vscode';
  /** The value of a worker's `model`. */
  readonly model: string;
  /** Display name. */
  readonly name: string;
  readonly baseUrl?: string | undefined;
  /** The server's API; defaults to OpenAI's. */
  readonly provider?: Provider | undefined;
  /** Name of its key. */
  readonly key?: string | undefined;
  readonly parameters?: number | undefined;
  readonly contextTokens?: number | undefined;
  /** True if its input leaves this machine. */
  readonly remote: boolean;
}

export const SERVER_NAMES: Readonly<Record<FoundWorker['server'], string>> = {
  'ollama': 'Ollama', 'lm-studio': 'LM Studio', 'vllm': 'vLLM', 'llama.cpp': 'llama.cpp', 'other': 'OpenAI’s API', 'vscode': 'VS Code',
};

export function modelsOf(servers: readonly FoundServer[]): FoundWorker[] {
  return servers.flatMap(({ kind, baseUrl, models }) =>
    models.map(({ name, ...facts }) => ({ server: kind, baseUrl, model: name, name, ...facts })));
}

/** The models without a worker in the pool. */
export function notInPool(found: readonly FoundWorker[], { workers }: Pick<Pool, 'workers'>): FoundWorker[] {
  return found.filter(({ model, baseUrl, server }) => !workers.some(({ worker }) =>
    worker.model === model && (server === 'vscode' ? worker.provider === 'vscode' : worker.baseUrl === baseUrl)));
}

/** With a smaller context window, a long answer leaves no room for the question. */
const ROOMY_TOKENS = 16_384;

/** @param taken ids already in use */
export function workerOf(found: FoundWorker, taken: readonly string[]): WorkerConfig {
  const { server, model, provider = 'openai-compatible', baseUrl, key, contextTokens } = found;
  return workerConfigSchema.parse({
    id: suggestId(model, taken),
    model,
    description: descriptionOf(found),
    ...(server === 'vscode' ? { provider: 'vscode' } : { provider, ...(baseUrl !== undefined && { baseUrl }), ...(key !== undefined && { key }) }),
    ...(contextTokens !== undefined && contextTokens < ROOMY_TOKENS && { maxOutputTokens: Math.max(256, Math.floor(contextTokens / 2)) }),
    ...(answersHere(found) && { price: { inputPerMillion: 0, outputPerMillion: 0 } }),
  });
}

/** Local models are free. The cost of an unidentified server is unknown: it may forward calls. */
function answersHere({ remote, server }: FoundWorker): boolean {
  return !remote && server !== 'other';
}

/** The Conductor does not see names, so known facts from the name are put into words, in the Conductor's language. */
function descriptionOf(found: FoundWorker): string {
  const size = found.parameters === undefined ? (found.remote && isQuick(found) ? 'small ' : '') : '';
  const weights = found.parameters === undefined ? '' : ` of ${sizeOf(found.parameters)} weights`;
  return `A ${size}${isForCode(found) ? 'language model made for code' : 'general language model'}${weights}${answersHere(found) ? ' on this machine' : ''}.`;
}

/** Such as `7.6 B`. */
export function sizeOf(parameters: number): string {
  return parameters >= 1e9 ? `${Number((parameters / 1e9).toPrecision(3))} B` : `${Math.round(parameters / 1e6)} M`;
}

export function isForCode({ model }: Pick<FoundWorker, 'model'>): boolean {
  return /cod(?:e|er|ing)(?![a-z])|codestral|devstral|starcoder/i.test(model);
}

/** Whether it is small enough to answer quickly. For a hosted model only the name tells. */
export function isQuick({ model, parameters, remote }: FoundWorker): boolean {
  return parameters === undefined ? remote && /(?:^|[\W_])(?:mini|nano|flash|haiku|lite|small)(?:[\W_]|$)/i.test(model) : parameters <= 5e9;
}
