import { isLoopback } from '../../protocol/worker-config.ts';
import type { FoundModel, ListedModels, NamedServer } from '../../protocol/found-servers.ts';
import { factsOf } from '../../protocol/providers.ts';
import { withVersion } from '../../protocol/server-address.ts';
import { modelsIn } from './find-servers.ts';
import { MODEL_LISTS } from './model-lists.ts';

/** Hosted servers can be slow, and their lists long. */
const TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Google's list has this prefix; its other methods expect names without it. */
const LIST_PREFIX = /^models\//;

/** From the least to the most informative. */
const TELLING: readonly ListedModels['state'][] = ['unknown-host', 'silent', 'unlisted', 'refused', 'listed'];

/**
 * Requests a server's list of models. Also tries `/v1` if the provider allows it and the address has no version. The key goes to that server
 * only: redirects are not followed.
 * @throws only when the signal aborts
 */
export async function listModels({ provider, baseUrl, key }: NamedServer, signal: AbortSignal): Promise<ListedModels> {
  const asked = baseUrl ?? factsOf(provider).baseUrl;
  if (asked === undefined) return { state: 'silent', baseUrl: '', models: [] };
  const versioned = MODEL_LISTS[provider].triesVersion ? withVersion(asked) : undefined;
  let best: ListedModels | undefined;
  for (const address of versioned === undefined ? [asked] : [asked, versioned]) {
    const found = await listAt({ provider, baseUrl: address, key }, signal);
    if (!best || TELLING.indexOf(found.state) > TELLING.indexOf(best.state)) best = found;
    if (best.state === 'listed') break;
  }
  return best as ListedModels;
}

async function listAt({ provider, baseUrl, key }: NamedServer & { baseUrl: string }, signal: AbortSignal): Promise<ListedModels> {
  const base = baseUrl.replace(/\/+$/, '');
  const { path, headers } = MODEL_LISTS[provider];
  const result = (state: ListedModels['state'], models: readonly FoundModel[] = []): ListedModels => ({ state, baseUrl, models: [...models] });
  try {
    const response = await fetch(`${base}${path}`, {
      headers: { accept: 'application/json', ...headers(key) }, redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), signal]),
    });
    const text = await textOf(response);
    // Google's server answers 400 to an unknown key.
    if (response.status === 401 || response.status === 403 || (response.status === 400 && /api.?key/i.test(text))) return result('refused');
    const models = response.ok ? modelsIn(parsed(text)) : undefined;
    if (!models) return result('unlisted');
    const remote = !isLoopback(baseUrl);
    return result('listed', models.map((model) => ({ ...model, name: model.name.replace(LIST_PREFIX, ''), remote })));
  } catch (error) {
    signal.throwIfAborted();
    return result(isUnknownHost(error) ? 'unknown-host' : 'silent');
  }
}

async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) return '';
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `fetch` wraps the system's error. */
function isUnknownHost(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && (cause.code === 'ENOTFOUND' || cause.code === 'EAI_AGAIN');
}
