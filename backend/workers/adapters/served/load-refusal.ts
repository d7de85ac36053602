import * as z from 'zod';
import { NO_USAGE } from '../../../protocol/token-counts.ts';
import { providerWords } from '../../../protocol/provider-words.ts';
import type { WorkerConfig } from '../../../protocol/worker-config.ts';
import { WorkerError, type WorkerErrorKind } from '../../errors.ts';
import { quotable } from '../../redact.ts';
import { serverName } from '../../servers/server-of.ts';
import { kindOfStatus } from '../classify-error.ts';
import type { ServedAdapter } from './served-adapter.ts';

/** The answer of a server that did not load an adapter. */
export interface Refused {
  readonly status: number;
  readonly body: string;
}

const refusalSchema = z.object({ error: z.object({ message: z.string() }) });

/*
 * What vLLM 0.32.0 says, which is all that tells its refusals apart. A route that it does not have answers 404 without an error of this form.
 */
const IS_LOADED = /has already been loaded/;
const NOT_ENABLED = /LoRA is not enabled/i;
const RANK = /rank (\d{1,6}) is greater than max_lora_rank (\d{1,6})/i;
const NOT_FOUND = /No adapter found|doesn't contain tensors|No such file|Permission denied/i;

/** The error for a refusal, which says what to do; undefined where the server has the adapter already. */
export function loadRefusal(worker: WorkerConfig, adapter: ServedAdapter, { status, body }: Refused, key: string | undefined): WorkerError | undefined {
  const message = messageIn(body);
  if (message !== undefined && IS_LOADED.test(message)) return undefined;
  const name = `Worker "${worker.id}"`;
  const server = serverName(worker);
  const error = (kind: WorkerErrorKind, text: string): WorkerError => new WorkerError({ kind, message: text, status, usage: NO_USAGE });
  if (status >= 300 && status < 400) return error('not-found', `${name}: ${server} redirects the request to load an adapter, which is not followed; give the worker that address.`);
  if (message === undefined && (status === 404 || status === 405)) {
    return error('not-found', `${name}: ${server} does not load adapters while it runs; start vLLM with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora, or have the server offer the adapter as "${adapter.name}".`);
  }
  const [, rank, most] = RANK.exec(message ?? '') ?? [];
  if (rank !== undefined) return error('invalid-request', `${name}: the adapter has rank ${rank} and ${server} takes at most ${most}; start it with --max-lora-rank ${rank}.`);
  if (NOT_ENABLED.test(message ?? '')) return error('invalid-request', `${name}: ${server} serves no adapters; start it with --enable-lora.`);
  if (NOT_FOUND.test(message ?? '')) return error('invalid-request', `${name}: ${server} finds no whole adapter at ${adapter.serverPath}; ${howToShare(worker, adapter)}.`);
  const said = providerWords(message === undefined ? undefined : quotable(message, { key, prompts: [] }));
  const kind = kindOfStatus(status, { key, worker });
  return error(kind, `${name}: ${server} did not load the adapter ${adapter.name} (status ${status})${said}; check the server's log.`);
}

function messageIn(body: string): string | undefined {
  try {
    return refusalSchema.safeParse(JSON.parse(body)).data?.error.message;
  } catch {
    return undefined;
  }
}

function howToShare({ served }: WorkerConfig, { folder, serverPath }: ServedAdapter): string {
  if (served?.folder !== undefined) return 'let it read that folder, or say in "served.serverFolder" what it calls it';
  if (served?.serverFolder !== undefined) return `copy ${folder} there and try again`;
  return `let it read ${serverPath}, or name a folder that both can read as "served.folder"`;
}
