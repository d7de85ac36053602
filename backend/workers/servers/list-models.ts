import { isLoopback } from '../../protocol/worker-config.ts';
import type { FoundModel, ListedModels, NamedServer } from '../../protocol/found-servers.ts';
import { withVersion } from '../../protocol/server-address.ts';
import { modelsIn } from './find-servers.ts';
import { DEFAULT_BASE_URLS } from './server-of.ts';

/** A hosted server may be slow, and its list long; nobody waits longer for a list. */
const TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** The one version that Anthropic's API has had. */
const ANTHROPIC_VERSION = '2023-06-01';
/** Google's server wants its models without the prefix that its list has. */
const LIST_PREFIX = /^models\//;

/** What says most about a server comes last. */
const TELLING: readonly ListedModels['state'][] = ['unknown-host', 'silent', 'unlisted', 'refused', 'listed'];

/**
 * Asks a server that somebody named for its models, and one with OpenAI's API whose address names no version with `/v1`, too. The key
 * goes to that server alone: no redirect is followed. Nobody pays for a list.
 * @throws only when the signal aborts
 */
export async function listModels({ provider, baseUrl, key }: NamedServer, signal: AbortSignal): Promise<ListedModels> {
  const asked = baseUrl ?? DEFAULT_BASE_URLS[provider];
  if (asked === undefined) return { state: 'silent', baseUrl: '', models: [] };
  const versioned = provider === 'openai-compatible' ? withVersion(asked) : undefined;
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
  const url = provider === 'anthropic' ? `${base}/v1/models?limit=1000` : `${base}/models`;
  const headers = provider === 'anthropic'
    ? { 'anthropic-version': ANTHROPIC_VERSION, ...(key && { 'x-api-key': key }) }
    : { ...(key && { authorization: `Bearer ${key}` }) };
  const told = (state: ListedModels['state'], models: readonly FoundModel[] = []): ListedModels => ({ state, baseUrl, models: [...models] });
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...headers }, redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), signal]),
    });
    const text = await textOf(response);
    // Google's server says 400 of a key that it does not know.
    if (response.status === 401 || response.status === 403 || (response.status === 400 && /api.?key/i.test(text))) return told('refused');
    const models = response.ok ? modelsIn(parsed(text)) : undefined;
    if (!models) return told('unlisted');
    const remote = !isLoopback(baseUrl);
    return told('listed', models.map((model) => ({ ...model, name: model.name.replace(LIST_PREFIX, ''), remote })));
  } catch (error) {
    signal.throwIfAborted();
    return told(isUnknownHost(error) ? 'unknown-host' : 'silent');
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

/** `fetch` wraps what the system said. */
function isUnknownHost(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && (cause.code === 'ENOTFOUND' || cause.code === 'EAI_AGAIN');
}
