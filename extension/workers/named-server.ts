import type * as vscode from 'vscode';
import type { Pool } from '../../backend/protocol/methods.ts';
import { isServerProvider, PROVIDERS } from '../../backend/protocol/providers.ts';
import { isLoopback, workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import type { WorkerPreset } from './worker-presets.ts';

/* Parses and validates server addresses, model names and key names. */

type Words = Pick<typeof vscode.l10n, 't'>;

/** A server with workers in the pool, so that its address and key name are known. */
export type PoolServer = WorkerPreset & { readonly workers: number };

/** In the order of the pool, without simulated workers. */
export function serversOf({ workers }: Pick<Pool, 'workers'>): PoolServer[] {
  const servers = new Map<string, PoolServer>();
  for (const { worker: { provider, baseUrl, key, model, simulated } } of workers) {
    if (!isServerProvider(provider) || simulated) continue;
    const id = JSON.stringify([provider, baseUrl, key]);
    const before = servers.get(id);
    servers.set(id, {
      label: baseUrl === undefined ? PROVIDERS[provider].label : hostOf(baseUrl), provider, example: model, workers: (before?.workers ?? 0) + 1,
      ...(baseUrl !== undefined && { baseUrl }), ...(key !== undefined && { key }),
    });
  }
  return [...servers.values()];
}

/** Such as `api.acme.com` or `127.0.0.1:8080`. */
export function hostOf(baseUrl: string): string {
  return new URL(baseUrl).host;
}

/** Normalizes a typed address: removes the paths that a client adds, and adds a missing `https://`, or `http://` for this machine. */
export function addressOf(typed: string): string {
  const text = typed.trim();
  const withScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `${LOCAL.test(text) ? 'http' : 'https'}://${text}`;
  return withScheme.replace(/\/+$/, '').replace(/\/(?:chat\/completions|completions|responses|models)$/, '');
}

const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/]|$)/i;

/** Why the server address is invalid; undefined if it is valid. */
export function addressProblem(typed: string, l10n: Words): string | undefined {
  if (typed.trim() === '') return l10n.t('Enter the address of the server, such as https://api.example.com/v1.');
  const address = addressOf(typed);
  if (!URL.canParse(address) || !/^https?:/.test(address) || /\s/.test(address)) {
    return l10n.t('This is not a server address. An address looks like https://api.example.com/v1.');
  }
  if (new URL(address).username !== '') return l10n.t('Leave out the user name and the password: the key is asked for next.');
  if (address.startsWith('http:') && !isLoopback(address)) {
    return l10n.t('Use https:// instead of http://: a key may be sent unencrypted only to this machine.');
  }
  return workerConfigSchema.shape.baseUrl.safeParse(address).success ? undefined : l10n.t('This is not a server address. An address looks like https://api.example.com/v1.');
}

/** Why the model name is invalid; undefined if it is valid. */
export function modelProblem(typed: string, l10n: Words): string | undefined {
  const name = typed.trim();
  if (name === '') return l10n.t('Enter the model’s name on the server.');
  if (KEY_LIKE.test(name)) return l10n.t('This looks like a key. Enter the name of a model here; the key has its own, hidden field.');
  return workerConfigSchema.shape.model.safeParse(name).success ? undefined : l10n.t('The name is too long for a model’s.');
}

/** Prefixes of providers' keys. */
const KEY_LIKE = /^(?:sk-|sk_|AIza|gsk_|xai-|hf_|Bearer )[\w-]{16,}/;

/** The name of a server's key, such as `ACME_KEY` for `https://api.acme.com/v1`. It is a valid name of an environment variable. */
export function keyNameOf(baseUrl: string): string {
  if (isLoopback(baseUrl)) return 'LOCAL_SERVER_KEY';
  const { hostname } = new URL(baseUrl);
  const labels = hostname.split('.');
  const isNumeric = hostname.startsWith('[') || labels.every((label) => /^\d+$/.test(label));
  if (isNumeric) return 'SERVER_KEY';
  const name = labels.length > 2 && SECOND_LEVELS.has(labels.at(-2) ?? '') ? labels.at(-3) : labels.at(-2) ?? labels[0];
  const word = (name ?? '').toUpperCase().replace(/[^A-Z\d]+/g, '_').slice(0, 48);
  return `${/^[A-Z]/.test(word) ? word : `SERVER_${word}`}_KEY`;
}

/** Second-level labels of addresses such as `acme.co.uk`. */
const SECOND_LEVELS = new Set(['ac', 'co', 'com', 'gov', 'net', 'org']);

/**
 * An unused key name: the proposed one, or with a number.
 * @param stored returns the stored key of a name, if any; the same key keeps its name.
 * @param isTaken whether a worker of another server uses the name.
 */
export async function freeKeyName(
  proposed: string, value: string, { stored, isTaken }: { stored: (name: string) => Promise<string | undefined>; isTaken: (name: string) => boolean },
): Promise<string> {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? proposed : `${proposed}_${number}`;
    const before = await stored(name);
    if (before === value || (before === undefined && !isTaken(name))) return name;
  }
}
