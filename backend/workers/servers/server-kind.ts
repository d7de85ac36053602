import * as z from 'zod';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { baseUrlOf } from './server-of.ts';

/** Which program serves an OpenAI-compatible API, as far as it matters. */
export type ServerKind = 'ollama' | 'llama.cpp' | 'vllm' | 'lm-studio' | 'mistral' | 'deepseek' | 'unknown';

const HOSTS: Readonly<Record<string, ServerKind>> = {
  'api.mistral.ai': 'mistral', 'codestral.mistral.ai': 'mistral', 'api.deepseek.com': 'deepseek',
};

/** What each program writes into `owned_by` of its list of models. Ollama writes the namespace of the model instead. */
const OWNERS: Readonly<Record<string, ServerKind>> = {
  llamacpp: 'llama.cpp', vllm: 'vllm', organization_owner: 'lm-studio', library: 'ollama',
};
const OLLAMA_PORT = '11434';

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 1_048_576;
const modelsSchema = z.object({ data: z.array(z.object({ id: z.string(), owned_by: z.string().catch('') })) });

/**
 * Identifies the program behind a worker's address: by a known host name, otherwise by its list of models, which costs nothing.
 * @returns undefined if the server did not answer; it may answer later
 */
export async function serverKindOf(
  worker: WorkerConfig, key: string | undefined, signal: AbortSignal,
): Promise<ServerKind | undefined> {
  const base = new URL(baseUrlOf(worker));
  const known = HOSTS[base.host];
  if (known) return known;
  const models = await modelsAt(base, key, signal);
  if (!models) return base.port === OLLAMA_PORT ? 'ollama' : undefined;
  const model = models.find(({ id }) => id === worker.model) ?? models[0];
  return OWNERS[model?.owned_by ?? ''] ?? (base.port === OLLAMA_PORT ? 'ollama' : 'unknown');
}

type Models = z.infer<typeof modelsSchema>['data'];

/** Undefined without an answer or after a refusal: the server may be starting. Empty where the answer is not a list. */
async function modelsAt(base: URL, key: string | undefined, signal: AbortSignal): Promise<Models | undefined> {
  let text: string | undefined;
  try {
    const response = await fetch(`${base.href.replace(/\/+$/, '')}/models`, {
      headers: { accept: 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      return undefined;
    }
    text = await boundedText(response);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
  try {
    return text === undefined ? [] : modelsSchema.parse(JSON.parse(text)).data;
  } catch {
    return [];
  }
}

/** Undefined if the body is too long for a list of models. */
async function boundedText({ body }: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}
