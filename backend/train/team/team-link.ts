import type * as z from 'zod';
import { readAtMost } from '../../common/read-at-most.ts';
import type { KeySource } from '../../workers/key-source.ts';
import { TeamError } from './team-error.ts';
import {
  type GivenGroup, MAX_GROUP_BYTES, MAX_MESSAGE_BYTES, refusalSchema, type Taken, takenSchema, TEAM_PATH, type TeamAsk, type TeamState, teamStateSchema, type TeamTerms, teamTermsSchema,
} from './team-messages.ts';

export interface TeamLinkOptions {
  /** The coordinator's address, as this machine reaches it. */
  readonly url: string;
  /** The name of the member's key. */
  readonly key: string;
  readonly keys: KeySource;
  /** The member's training. */
  readonly instance: string;
  /** Called when the coordinator does not answer, and with undefined when it does again. */
  readonly onWaiting?: ((message: string | undefined) => void) | undefined;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
}

interface Call<T extends z.ZodType> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** JSON. */
  readonly body?: string;
  readonly schema: T;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/** Longer than a question is held. */
const TIMEOUT_MS = 60_000;
/** A large group over a slow line. */
const GROUP_TIMEOUT_MS = 15 * 60_000;
const LEAVE_TIMEOUT_MS = 3_000;
/** Before each further try of a call that was not answered; the last one repeats. */
const WAITS_MS = [500, 1_000, 2_000, 5_000, 10_000, 15_000] as const;

/** The coordinator did not answer, or not as one: it may do so later. */
class Unanswered extends TeamError {}

/** A member's way to the coordinator. All methods throw TeamError, the signal's reason, and what the key's source throws. */
export class TeamLink {
  readonly #options: TeamLinkOptions;
  readonly #base: string;
  #isSilent = false;

  constructor(options: TeamLinkOptions) {
    this.#options = options;
    const { origin, pathname } = new URL(options.url);
    this.#base = `${origin}${pathname.replace(/\/+$/, '')}`;
  }

  /** @param isPatient whether to wait for a coordinator that is not there */
  terms(signal: AbortSignal, { isPatient = false }: { readonly isPatient?: boolean } = {}): Promise<TeamTerms> {
    const call = { method: 'GET', path: '/terms', schema: teamTermsSchema, signal } as const;
    return isPatient ? this.#patiently(call) : this.#once(call);
  }

  /** How things stand: at once if that is not what is known, or when it changes, or after a while. Waits for a coordinator that is not there. */
  state(ask: Omit<TeamAsk, 'instance'>, signal: AbortSignal): Promise<TeamState> {
    return this.#patiently({ method: 'POST', path: '/state', body: JSON.stringify({ instance: this.#options.instance, ...ask }), schema: teamStateSchema, signal });
  }

  /** Hands in a group. To do so again does no harm: it counts once. Waits for a coordinator that is not there. */
  async give(group: GivenGroup, signal: AbortSignal): Promise<Taken> {
    const body = JSON.stringify(group);
    const bytes = Buffer.byteLength(body);
    if (bytes > MAX_GROUP_BYTES) throw new TeamError(`A group of plans has ${Math.round(bytes / 2 ** 20)} MiB, and a coordinator takes ${MAX_GROUP_BYTES / 2 ** 20}: ask for a smaller "groupSize" or "maxTokens" of the team.`);
    return (await this.#patiently({ method: 'POST', path: '/groups', body, schema: takenSchema, signal, timeoutMs: GROUP_TIMEOUT_MS })).taken;
  }

  /** Says that nothing more comes for now. Never rejects. */
  async leave(): Promise<void> {
    const signal = AbortSignal.timeout(LEAVE_TIMEOUT_MS);
    await this.#once({ method: 'POST', path: '/leave', body: JSON.stringify({ instance: this.#options.instance }), schema: refusalSchema.partial(), signal }).catch(() => {});
  }

  async #patiently<T extends z.ZodType>(call: Call<T>): Promise<z.output<T>> {
    const { delay, onWaiting } = this.#options;
    for (let tries = 0; ; tries += 1) {
      try {
        const answer = await this.#once(call);
        if (this.#isSilent) onWaiting?.(undefined);
        this.#isSilent = false;
        return answer;
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        if (!this.#isSilent) onWaiting?.(error.message);
        this.#isSilent = true;
      }
      await delay(WAITS_MS[Math.min(tries, WAITS_MS.length - 1)] as number, call.signal);
    }
  }

  async #once<T extends z.ZodType>({ method, path, body, schema, signal, timeoutMs = TIMEOUT_MS }: Call<T>): Promise<z.output<T>> {
    const { key, keys } = this.#options;
    const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const secret = await keys.get(key, either);
    let status: number;
    let text: string;
    try {
      const response = await fetch(`${this.#base}${TEAM_PATH}${path}`, {
        method, redirect: 'manual', signal: either,
        headers: { authorization: `Bearer ${secret}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body }),
      });
      [status, text] = [response.status, await textOf(response)];
    } catch (error) {
      signal.throwIfAborted();
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const what = cause instanceof Error && 'code' in cause ? String(cause.code) : cause instanceof Error ? cause.name : String(cause);
      throw this.#silent(what);
    }
    const said = parsed(text);
    if (status === 200) {
      const read = schema.safeParse(said);
      if (read.success) return read.data;
      throw new TeamError(`${this.#base} does not answer as a coordinator of this version of Conductor: check the address, and that both machines have the same version.`, { cause: read.error });
    }
    if (status === 401) {
      keys.forget(key);
      throw new TeamError(`The coordinator ${this.#base} does not know the key ${key}: ask whoever coordinates for another one ("conductor train key add NAME").`);
    }
    const sentence = refusalSchema.safeParse(said).data?.error;
    // What stands before a coordinator, such as a tunnel, says so too when there is none behind it.
    if (sentence === undefined || status >= 500 || status === 429) throw this.#silent(`status ${status}`);
    throw new TeamError(`The coordinator ${this.#base} says: ${sentence}`);
  }

  #silent(what: string): Unanswered {
    return new Unanswered(`The coordinator ${this.#base} does not answer (${what}): have its training go on, and check the tunnel to it. Where it has ended for good, "conductor train finish" ends this part.`);
  }
}

async function textOf({ body }: Response): Promise<string> {
  if (!body) return '';
  const { bytes, isWhole } = await readAtMost(body, MAX_MESSAGE_BYTES);
  if (!isWhole) throw new Error('too long');
  return bytes.toString();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
