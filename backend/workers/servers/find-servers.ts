import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import * as z from 'zod';
import { MAX_LISTED_MODELS, type FoundModel, type FoundServer, type FoundServers, type ServerKind } from '../../protocol/found-servers.ts';

/** The port on which a kind of server listens. */
export interface ServerPlace {
  readonly kind: ServerKind;
  readonly port: number;
}

/** The default ports of the servers, as of November 2026. */
export const USUAL_PLACES: readonly ServerPlace[] = [
  { kind: 'ollama', port: 11_434 },
  { kind: 'lm-studio', port: 1_234 },
  { kind: 'vllm', port: 8_000 },
  { kind: 'llama.cpp', port: 8_080 },
];

export interface FindServersOptions {
  readonly places?: readonly ServerPlace[];
  /** Timeout for all requests to one place. Servers on this machine answer quickly. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const TIMEOUT_MS = 1_500;
/** A list of a hundred models takes a tenth of this. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Looks for model servers on this machine, at all places in parallel, by asking only for the list of models. No redirect is followed,
 * and other programs that listen there are ignored.
 * @returns in the order of the places. @throws only when the signal aborts.
 */
export async function findServers(
  { places = USUAL_PLACES, timeoutMs = TIMEOUT_MS, signal }: FindServersOptions = {},
): Promise<FoundServers> {
  const found = await Promise.all(places.map((place) => lookAt(place, AbortSignal.any([
    AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : []),
  ]))));
  signal?.throwIfAborted();
  return { servers: found.filter((server) => server !== undefined), looked: [...places] };
}

/** The usual places, with Ollama's port from `OLLAMA_HOST` if that is on this machine. */
export function placesOf({ OLLAMA_HOST }: Readonly<Record<string, string | undefined>>): readonly ServerPlace[] {
  const port = OLLAMA_HOST === undefined ? undefined : loopbackPort(OLLAMA_HOST.trim());
  return port === undefined ? USUAL_PLACES : USUAL_PLACES.map((place) => (place.kind === 'ollama' ? { ...place, port } : place));
}

/** Ollama accepts `host`, `host:port`, `:port` and URLs. 0.0.0.0 includes the loopback address. */
function loopbackPort(text: string): number | undefined {
  const [, host = '', port] = /^(?:https?:\/\/)?([\w.-]*|\[[\da-f:]+\])(?::(\d{1,5}))?\/?$/i.exec(text) ?? [];
  const isHere = ['', '127.0.0.1', 'localhost', '0.0.0.0'].includes(host);
  const number = port === undefined ? undefined : Number(port);
  return isHere && number !== undefined && number > 0 && number < 65_536 ? number : undefined;
}

async function lookAt({ kind, port }: ServerPlace, signal: AbortSignal): Promise<FoundServer | undefined> {
  const origin = `http://127.0.0.1:${port}`;
  const baseUrl = `${origin}/v1`;
  try {
    if (kind === 'ollama') {
      const tags = ollamaSchema.safeParse((await ask(`${origin}/api/tags`, signal)).body);
      if (tags.success) return { kind, baseUrl, needsKey: false, models: usable(tags.data.models.map(ollamaModel)) };
    }
    if (kind === 'lm-studio') {
      const list = lmStudioSchema.safeParse((await ask(`${origin}/api/v0/models`, signal)).body);
      if (list.success) return { kind, baseUrl, needsKey: false, models: usable(list.data.data.map(lmStudioModel)) };
    }
    const { status, body } = await ask(`${baseUrl}/models`, signal);
    // Other programs use these ports, too. A refusal counts only if its body has the format of such a server.
    if (status === 401 || status === 403) return refusalSchema.safeParse(body).success ? { kind, baseUrl, needsKey: true, models: [] } : undefined;
    const list = openAiSchema.safeParse(body);
    if (!list.success) return undefined;
    return { kind: kindOf(list.data.data[0]?.owned_by), baseUrl, needsKey: false, models: usable(list.data.data.map(openAiModel)) };
  } catch {
    // Nothing listens there, or a program with another protocol does.
    return undefined;
  }
}

/**
 * The names of the models that a server with OpenAI's API lists. `unlisted` if the server refuses, because it needs a key or is loading a
 * model. Undefined if the program is not such a server.
 * @throws if there is no answer in time
 */
export async function modelsAt(baseUrl: string, signal: AbortSignal): Promise<string[] | 'unlisted' | undefined> {
  const { body } = await ask(`${baseUrl.replace(/\/+$/, '')}/models`, signal);
  if (refusalSchema.safeParse(body).success) return 'unlisted';
  return openAiSchema.safeParse(body).data?.data.map(({ id }) => id);
}

/** The models that can answer, from the body of `GET /v1/models` of OpenAI or Anthropic. Undefined if it is not such a list. */
export function modelsIn(body: unknown): FoundModel[] | undefined {
  const list = openAiSchema.safeParse(body);
  return list.success ? usable(list.data.data.map(openAiModel)) : undefined;
}

/** Uses no proxy and follows no redirect: the request stays on this machine. */
async function ask(url: string, signal: AbortSignal): Promise<{ status: number; body: unknown }> {
  const request = get(url, { agent: false, signal, headers: { accept: 'application/json' } });
  // After the response has begun, the response reports errors. Without this listener they would end the process.
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) throw new Error(`${url} says more than a list of models does.`);
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, body: parsed(Buffer.concat(chunks).toString()) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const text = z.string().min(1).max(1_024);

/** Ollama's `GET /api/tags`. Cloud models have `remote_host`. Older versions omit `capabilities`. */
const ollamaSchema = z.object({
  models: z.array(z.object({
    name: text,
    remote_host: z.string().optional(),
    capabilities: z.array(z.string()).optional(),
    details: z.object({ family: z.string().optional(), parameter_size: z.string().optional() }).optional(),
  })),
});
/** LM Studio's `GET /api/v0/models`, since 0.3.6. */
const lmStudioSchema = z.object({
  data: z.array(z.object({ id: text, type: z.string(), max_context_length: z.number().int().positive().optional() })),
});
/** OpenAI's `GET /v1/models`, with the extensions of vLLM (`max_model_len`) and llama.cpp (`meta`). */
const openAiSchema = z.object({
  data: z.array(z.object({
    id: text,
    owned_by: z.string().optional(),
    max_model_len: z.number().int().positive().nullish(),
    meta: z.object({ n_params: z.number().positive().optional(), n_ctx_train: z.number().int().positive().optional() }).nullish(),
  })),
});
const refusalSchema = z.object({ error: z.union([z.string(), z.object({ message: z.string() })]) });

/** A model, or undefined if it cannot answer questions. */
type Usable = FoundModel | undefined;

function ollamaModel({ name, remote_host, capabilities, details }: z.infer<typeof ollamaSchema>['models'][number]): Usable {
  if (capabilities && !capabilities.includes('completion')) return undefined;
  if (/bert/i.test(details?.family ?? '')) return undefined;
  return { name, ...counted(name, parametersIn(details?.parameter_size ?? '')), remote: Boolean(remote_host) };
}

function lmStudioModel({ id, type, max_context_length }: z.infer<typeof lmStudioSchema>['data'][number]): Usable {
  if (type === 'embeddings') return undefined;
  return { name: id, ...counted(id), ...(max_context_length && { contextTokens: max_context_length }), remote: false };
}

function openAiModel({ id, max_model_len, meta }: z.infer<typeof openAiSchema>['data'][number]): Usable {
  const contextTokens = max_model_len ?? meta?.n_ctx_train;
  return { name: id, ...counted(id, meta?.n_params), ...(contextTokens && { contextTokens }), remote: false };
}

function kindOf(owner: string | undefined): ServerKind {
  if (owner === 'vllm') return 'vllm';
  return owner === 'llamacpp' ? 'llama.cpp' : 'other';
}

/** Names of models for embeddings, reranking, images, video, speech or moderation. */
const ANSWERS_NOTHING = new RegExp(`(?:^|[\\W_])(?:${[
  '[\\w.]*embed\\w*', 'bge', 'gte', 'e5', 'minilm', 'rerank\\w*', 'whisper', 'tts', 'dall-e', 'image', 'imagen', 'sora', 'veo', 'audio', 'realtime',
  'transcribe', 'moderation', 'davinci', 'babbage',
].join('|')})(?:[\\W_]|$)`, 'i');

function usable(models: readonly Usable[]): FoundModel[] {
  return models.filter((model) => model !== undefined && !ANSWERS_NOTHING.test(model.name)).slice(0, MAX_LISTED_MODELS) as FoundModel[];
}

function counted(name: string, said = parametersIn(name)): { parameters?: number } {
  return said === undefined ? {} : { parameters: said };
}

/** The number of parameters in a text or model name, such as 7.6e9 for `7.6B`. `A3B` (active parameters) and `4bit` do not count. */
function parametersIn(words: string): number | undefined {
  const [, number, unit] = /(?<![\d.a-z])(\d{1,4}(?:\.\d{1,3})?)([bm])(?![a-z\d])/i.exec(words) ?? [];
  if (number === undefined || Number(number) === 0) return undefined;
  return Number(number) * (unit?.toLowerCase() === 'b' ? 1e9 : 1e6);
}
