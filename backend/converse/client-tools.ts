import type { Conversation, SpokenMessage, ToolChoice } from '../protocol/conversation.ts';
import type { CallResult, ToolCall } from '../protocol/tool-calls.ts';
import { RunError } from '../solve/failure.ts';
import type { Observation } from '../solve/step-work.ts';
import { mayEnd } from './closing-call.ts';
import { hasCalled, withOwnIds } from './renamed-calls.ts';

/** An agent may wait for a person's permission before it runs a tool. After this time nobody is expected to come back. */
const WAIT_MS = 60 * 60_000;
/** After a turn that may be the last one. Clients that ask an empty answer again do so within some ten seconds. */
const QUIET_MS = 30_000;

type Calls = readonly Pick<ToolCall, 'id' | 'name' | 'arguments'>[];

/** A run that waits, and the messages with the ids of its calls. */
export interface Claimed {
  readonly runId: string;
  readonly messages: readonly SpokenMessage[];
}

interface Waiting {
  readonly runId: string;
  readonly session: string;
  /** None after an empty answer, which the client may ask again. */
  readonly calls: Calls;
  readonly isAtEnd: boolean;
  /** Undefined where nothing comes any more. */
  readonly came: PromiseWithResolvers<Observation | undefined>;
}

export interface ClientToolsOptions {
  readonly waitMs?: number;
  readonly quietMs?: number;
}

/**
 * Runs that wait for what the client's tools return. The client is known by the session and the ids of the calls, so that a run finds its client
 * again after the backend has been started anew.
 */
export class ClientTools {
  readonly #waitMs: number;
  readonly #quietMs: number;
  /** By the run. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #told = new Map<string, Conversation>();

  constructor({ waitMs = WAIT_MS, quietMs = QUIET_MS }: ClientToolsOptions = {}) {
    this.#waitMs = waitMs;
    this.#quietMs = quietMs;
  }

  /** Results of these calls are about to be wanted by the run, or already are. @param toolChoice by which the client asked for them */
  expect(runId: string, session: string, calls: Calls, toolChoice: ToolChoice | undefined): void {
    this.#expected(runId, session, calls, toolChoice);
  }

  /**
   * Waits for the results of a run's calls, or for the client to ask again where there are none. @returns undefined where the task was over
   * @throws RunError `client-gone` if none come in time, or the signal's reason
   */
  async results(runId: string, session: string, calls: Calls, toolChoice: ToolChoice | undefined, signal: AbortSignal): Promise<Observation | undefined> {
    signal.throwIfAborted();
    const { came, isAtEnd } = this.#expected(runId, session, calls, toolChoice);
    const stop = (): void => came.reject(signal.reason);
    const late = isAtEnd
      ? setTimeout(() => came.resolve(undefined), this.#quietMs)
      : setTimeout(() => came.reject(new RunError('client-gone', 'The program that asked did not say what its tools returned: ask again there.')), this.#waitMs);
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await came.promise;
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', stop);
      this.#waiting.delete(runId);
    }
  }

  #expected(runId: string, session: string, calls: Calls, toolChoice: ToolChoice | undefined): Waiting {
    const known = this.#waiting.get(runId);
    if (known && idsOf(known.calls).join('\n') === idsOf(calls).join('\n')) return known;
    const waiting: Waiting = { runId, session, calls, isAtEnd: mayEnd(calls, toolChoice), came: Promise.withResolvers<Observation | undefined>() };
    // Whoever waits for it comes later.
    waiting.came.promise.catch(() => {});
    this.#waiting.set(runId, waiting);
    return waiting;
  }

  /**
   * The run of the session that waits for results which are in the messages; undefined if none does. Of several that wait for the same ids, it is the one
   * that called what the messages say. Where their ids are not those that were given, they are known by what was called, if one run alone waits for that. @param isAsked whether what the run answers is what the messages ask
   */
  claimed(session: string, messages: readonly SpokenMessage[], isAsked: (runId: string) => boolean): Claimed | undefined {
    const given = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : [])));
    const all = [...this.#waiting.values()].filter(({ calls }) => calls.length > 0);
    const named = all.filter(({ calls }) => idsOf(calls).every((id) => given.has(id)));
    const called = named.filter(({ calls }) => hasCalled(messages, calls));
    const isHere = (one: Waiting): boolean => one.session === session;
    // A program may have written the arguments in another way.
    const known = called.findLast((one) => isHere(one) && isAsked(one.runId)) ?? called.findLast(isHere) ?? named.findLast(isHere);
    if (known) return { runId: known.runId, messages };
    const [alike, ...others] = all.filter(isHere).flatMap(({ runId, calls }): Claimed[] => {
      const renamed = withOwnIds(messages, calls);
      return renamed && isAsked(runId) ? [{ runId, messages: renamed }] : [];
    });
    if (alike) return others.length === 0 ? alike : undefined;
    const [elsewhere, ...more] = called.filter(({ runId }) => isAsked(runId));
    return elsewhere && more.length === 0 ? { runId: elsewhere.runId, messages } : undefined;
  }

  /** Gives a run what its calls returned, and the messages, tools and options with which its speaker goes on. */
  deliver(runId: string, told: Conversation): void {
    const waiting = this.#waiting.get(runId);
    if (!waiting) return;
    const { messages } = told;
    this.#told.set(runId, told);
    const results = idsOf(waiting.calls).map((callId): CallResult => {
      const given = messages.findLast((message) => message.role === 'tool' && message.callId === callId);
      return { callId, text: given?.content ?? '', ...(given?.role === 'tool' && given.isError && { isError: true }) };
    });
    waiting.came.resolve({ text: '', results });
  }

  /** Whether the run's answer was empty, and its client may ask again. */
  gaveNothing(runId: string): boolean {
    return this.#waiting.get(runId)?.calls.length === 0;
  }

  /** The client asks an empty answer again. */
  askAgain(runId: string): void {
    if (this.gaveNothing(runId)) this.#waiting.get(runId)?.came.resolve({ text: '' });
  }

  /** The client goes on with something else. @returns whether the run was at its end, and now is over */
  close(runId: string): boolean {
    const { isAtEnd = false, came } = this.#waiting.get(runId) ?? {};
    if (isAtEnd) came?.resolve(undefined);
    return isAtEnd;
  }

  /**
   * Runs that wait for their client, from which the messages go on.
   * @param isAlike of a run of another session of which the messages tell what it called: whether it may be the same one
   * @param isLeft of a run of the session of which they do not tell it: whether they leave out what it called
   */
  leftBy(session: string, messages: readonly SpokenMessage[], { isAlike, isLeft }: { readonly isAlike: (runId: string) => boolean; readonly isLeft: (runId: string) => boolean }): string[] {
    return [...this.#waiting.values()].flatMap(({ runId, session: own, calls }) => {
      const isHere = own === session;
      const isTold = calls.length > 0 && hasCalled(messages, calls);
      return (isTold ? isHere || isAlike(runId) : isHere && isLeft(runId)) ? [runId] : [];
    });
  }

  /** What the client sent last; undefined before it has sent results in this process. */
  latest(runId: string): Conversation | undefined {
    return this.#told.get(runId);
  }

  /** The run is over. */
  forget(runId: string): void {
    this.#waiting.delete(runId);
    this.#told.delete(runId);
  }
}

const idsOf = (calls: Calls): string[] => calls.map(({ id }) => id);
