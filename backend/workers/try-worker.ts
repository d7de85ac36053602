import type { Result, ClientRequests } from '../protocol/methods.ts';
import { factsOf } from '../protocol/providers.ts';
import { addUsage, NO_USAGE } from '../protocol/token-counts.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { WorkerCaller, WorkerRequest } from './call-worker.ts';
import type { ClientModel } from './adapters/client-model.ts';
import { WorkerError, type WorkerErrorKind } from './errors.ts';
import type { KeySource } from './key-source.ts';
import type { AttemptLog, AttemptSpent, Ledger } from './limits/ledger.ts';
import type { ModelReply } from './model.ts';
import { ASK_FOR_CALL, ASK_FOR_COMMAND, calls, commands } from './try-hands.ts';
import { askForColours, seesColours } from './try-pictures.ts';

export type TryResult = Result<ClientRequests, 'worker/try'>;

export interface TryOptions {
  readonly caller: WorkerCaller;
  readonly keys: KeySource;
  readonly clientModel?: ClientModel | undefined;
  readonly signal: AbortSignal;
}

type Answer = { readonly spent: AttemptSpent } & ({ readonly reply: ModelReply } | { readonly error: WorkerError });

/** Enough for a model that reasons before it answers. */
const MAX_OUTPUT_TOKENS = 1_024;

/** The user requested this call: it belongs to no run and no budget. */
const noLedger: Ledger = { reserve: () => ({ id: 'try' }) };

/** How servers refuse tools and pictures: some do not know the parameter, others fail or find no model that takes them. */
const MAY_REFUSE: ReadonlySet<WorkerErrorKind> = new Set(['invalid-request', 'not-found', 'server', 'invalid-response']);

/**
 * Tests a worker with one small real call, which asks it to call a tool; if it does not, with another one, which asks it for a command as
 * text. A worker at a server that answers is also asked what it sees in a picture. An agent is only started and asked for a session, which costs nothing. Without retries. Failures of the worker are results; other errors are thrown.
 */
export async function tryWorker(worker: WorkerConfig, options: TryOptions): Promise<TryResult> {
  if (factsOf(worker.provider).reach === 'agent') return await greet(worker, options);
  const tried = await tryWords(worker, options);
  return tried.ok && factsOf(worker.provider).reach === 'server' ? await withPictures(worker, tried, options) : tried;
}

async function withPictures(worker: WorkerConfig, tried: TryResult, options: TryOptions): Promise<TryResult> {
  const answer = await ask(worker, askForColours(worker), options);
  const { usage, cost, durationMs, ...rest } = tried;
  const spent = sum({ usage, cost, durationMs }, answer.spent);
  if ('reply' in answer) return { ...rest, ...(seesColours(answer.reply) ? { pictures: true, message: `${rest.message} It sees pictures.` } : { pictures: false }), ...spent };
  // A call that failed for another reason tells nothing.
  return { ...rest, ...(MAY_REFUSE.has(answer.error.kind) && { pictures: false }), ...spent };
}

async function tryWords(worker: WorkerConfig, options: TryOptions): Promise<TryResult> {
  const first = factsOf(worker.provider).reach === 'server' ? await ask(worker, ASK_FOR_CALL, options) : undefined;
  if (first && 'reply' in first && calls(first.reply)) return working(worker, first.reply, first.spent, 'tools');
  if (first && 'error' in first && !MAY_REFUSE.has(first.error.kind)) return failed(first.error, first.spent);
  const second = await ask(worker, ASK_FOR_COMMAND, options);
  const spent = first ? sum(first.spent, second.spent) : second.spent;
  if ('reply' in second) return working(worker, second.reply, spent, commands(second.reply) ? 'fenced' : undefined);
  const works = first !== undefined && 'reply' in first && second.error.kind !== 'cancelled';
  return works ? working(worker, first.reply, spent) : failed(second.error, spent);
}

async function greet(worker: WorkerConfig, { caller, keys, signal }: TryOptions): Promise<TryResult> {
  const startedAt = performance.now();
  const spent = (): AttemptSpent => ({ usage: NO_USAGE, cost: { usd: 0, estimated: false }, durationMs: performance.now() - startedAt });
  try {
    const name = await caller.greet(worker, { keys, signal });
    const { durationMs, ...nothing } = spent();
    return { ok: true, message: `Worker "${worker.id}" works (${name}, ${(durationMs / 1_000).toFixed(1)} s). It was not asked anything.`, text: '', durationMs, ...nothing };
  } catch (error) {
    if (!(error instanceof WorkerError)) throw error;
    return failed(error, spent());
  }
}

/** Asks a worker once, without retries, for the person and not for a run. Failures of the worker are results; other errors are thrown. */
export async function ask(worker: WorkerConfig, request: WorkerRequest, { caller, keys, clientModel, signal }: TryOptions): Promise<Answer> {
  let spent: AttemptSpent = { usage: NO_USAGE, cost: { estimated: false }, durationMs: 0 };
  const attempts: AttemptLog = {
    started: (_attempt, reserve) => reserve(),
    succeeded: () => undefined,
    failed: (_attempt, _failure, cost) => {
      spent = cost;
    },
  };
  const maxOutputTokens = Math.min(worker.maxOutputTokens, request.maxOutputTokens ?? MAX_OUTPUT_TOKENS);
  try {
    return await caller.call(
      worker, { ...request, maxOutputTokens },
      { ledger: noLedger, attempts, keys, clientModel, signal, onText: () => undefined, maxAttempts: 1 },
    );
  } catch (error) {
    if (!(error instanceof WorkerError)) throw error;
    return { error, spent };
  }
}

function working({ id }: WorkerConfig, reply: ModelReply, spent: AttemptSpent, hands?: WorkerConfig['hands']): TryResult {
  const seconds = (spent.durationMs / 1_000).toFixed(1);
  const isSilent = reply.text.trim() === '' && hands === undefined && reply.finishReason === 'length';
  const can = hands === 'tools' ? ' It calls tools.' : hands === 'fenced' ? ' It writes commands as text.' : '';
  const message = isSilent
    ? `Worker "${id}" works (${reply.model}, ${seconds} s), but used all its tokens for reasoning and gave no answer.`
    : `Worker "${id}" works (${reply.model}, ${seconds} s).${can}`;
  return { ok: true, message, text: reply.text, ...(hands && { hands }), ...spent };
}

function failed({ kind, message }: WorkerError, spent: AttemptSpent): TryResult {
  return { ok: false, kind, message, text: '', ...spent };
}

function sum(a: AttemptSpent, b: AttemptSpent): AttemptSpent {
  const usd = a.cost.usd === undefined || b.cost.usd === undefined ? {} : { usd: a.cost.usd + b.cost.usd };
  return {
    usage: addUsage(a.usage, b.usage),
    cost: { ...usd, estimated: a.cost.estimated || b.cost.estimated },
    durationMs: a.durationMs + b.durationMs,
  };
}
