import * as z from 'zod';
import { clip } from '../../../common/clip.ts';
import { RemoteError, type RemoteErrorKind } from './remote-error.ts';

/** FastAPI's form of an error: a sentence, or a list of what is wrong with a body. */
const refusalSchema = z.object({
  detail: z.union([z.string(), z.array(z.object({ msg: z.string(), loc: z.array(z.union([z.string(), z.number()])).optional() }))]),
});

/**
 * What refusals mean whose status alone does not tell it. SkyRL 0.3.0 and 0.4.0 answer with 400 and one of these sentences
 * (skyrl/tinker/engine.py and skyrl/backends/jax.py); the API has no codes.
 */
const SENTENCES: readonly (readonly [RegExp, RemoteErrorKind])[] = [
  [/^Model \S+ not loaded/, 'gone'],
  [/^Model \S+ not found/, 'gone'],
  [/^Maximum number of LoRA adapters/, 'full'],
];

const STATUSES: Readonly<Record<number, RemoteErrorKind>> = { 401: 'key', 403: 'key', 404: 'gone', 409: 'conflict', 410: 'gone' };

/** The error of an answer whose status is not a success. */
export function refusal(server: string, status: number, body: Uint8Array): RemoteError {
  const said = saidIn(body);
  const kind = SENTENCES.find(([pattern]) => pattern.test(said))?.[1] ?? STATUSES[status] ?? 'refused';
  return new RemoteError(kind, sentence(kind, server, status, said), { status });
}

function sentence(kind: RemoteErrorKind, server: string, status: number, said: string): string {
  const answer = said === '' ? `status ${status}` : `status ${status}: ${said}`;
  switch (kind) {
    case 'key':
      return `The training server ${server} refuses the key (${answer}): name the right one in "engine.key" and set it.`;
    case 'full':
      return `The training server ${server} has no place for another adapter (${answer}): end a training there, or start it with a larger ` +
        'max_lora_adapters; the place of a training that was cut off is free after five minutes.';
    default:
      return `The training server ${server} refuses what it is asked (${answer}): change the training's settings, or ask whoever runs the server.`;
  }
}

function saidIn(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, 16_384));
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return clip(text.replaceAll(/\s+/g, ' ').trim(), 300);
  }
  const detail = refusalSchema.safeParse(json).data?.detail;
  if (detail === undefined) return '';
  const lines = typeof detail === 'string' ? [detail] : detail.map(({ msg, loc = [] }) => `${loc.join('.')}: ${msg}`);
  return clip(lines.join('; ').replaceAll(/\s+/g, ' ').trim(), 300);
}
