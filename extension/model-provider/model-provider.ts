import { createHash, randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import { CONDUCTOR_MODEL, type ConverseResult } from '../../backend/protocol/conversation.ts';
import type { Pool, ParamsInput, ClientRequests } from '../../backend/protocol/methods.ts';
import { RequestError } from '../../backend/protocol/request-error.ts';
import { type BackendConnection, messageOf } from '../common/backend-connection.ts';
import { addWorkerStep, demonstrationStep, manageTrustStep, NextStepError, setKeyStep } from '../common/next-step.ts';
import { oneLine } from '../common/one-line.ts';
import { signalOf } from '../common/signal-of.ts';
import type { PoolStore } from '../workers/pool-store.ts';
import { offeredModels, type KnownPool, type OfferedModel, type PlannedStep } from './offered-models.ts';
import { sentMessage } from './sent-message.ts';
import { spokenMessages } from './spoken-messages.ts';

export interface ModelProviderParts {
  readonly connection: Pick<BackendConnection, 'request' | 'on'>;
  readonly poolStore: Pick<PoolStore, 'pool' | 'refresh' | 'changed'>;
  readonly memory: Pick<vscode.Memento, 'get' | 'update'>;
  /** The absolute path of workers.json, which need not exist. */
  readonly workersFile: () => Promise<string>;
  readonly version: string;
  /** Shows an error to the person, with what to do next. */
  readonly report: (error: unknown) => void;
}

/** A request of VS Code for the next turn. */
export interface ModelRequest {
  readonly model: Pick<vscode.LanguageModelChatInformation, 'id'>;
  readonly messages: readonly vscode.LanguageModelChatRequestMessage[];
  readonly options: vscode.ProvideLanguageModelChatResponseOptions;
  readonly progress: vscode.Progress<vscode.LanguageModelResponsePart>;
  readonly token: vscode.CancellationToken;
}

/** The list as it was last known, and of which workers.json. */
interface KnownModels {
  readonly stamp: string;
  readonly models: readonly OfferedModel[];
}

type Turn = ParamsInput<ClientRequests, 'converse/turn'>;

const KNOWN_KEY = 'conductor.offeredModels';
/** A count of more is asked for in pieces, because a message to the backend has a limit. */
const MAX_COUNTED = 1_000_000;

/**
 * The models that VS Code's chat and other extensions can choose: a thin client of the backend's conversations
 * (docs/decisions/0026-a-conversation-of-another-program-is-a-run.md).
 */
export class ModelProvider {
  readonly #parts: ModelProviderParts;
  readonly #changed: () => void;
  #listed: readonly OfferedModel[] | undefined;
  #plan: { readonly runId: string; readonly steps: readonly PlannedStep[] } | undefined;

  /** @param changed called when the list has become another one */
  constructor(parts: ModelProviderParts, changed: () => void) {
    this.#parts = parts;
    this.#changed = changed;
  }

  /**
   * The list. VS Code asks for it in every window, so this starts no backend.
   * @param silent without asking the person anything. Otherwise they are told what is missing, with the way there.
   */
  async models({ silent }: { readonly silent: boolean }): Promise<OfferedModel[]> {
    const { report } = this.#parts;
    this.#listed ??= [];
    try {
      requireTrustedWindow();
      const models = await this.#list(silent);
      if (models.length === 0) throw noWorker();
      return [...models];
    } catch (error) {
      if (!silent) report(error);
      return [];
    }
  }

  async #list(silent: boolean): Promise<readonly OfferedModel[]> {
    const { poolStore, memory } = this.#parts;
    const file = await this.#parts.workersFile();
    const stamp = await this.#stampOf(file);
    if (stamp === undefined) return (this.#listed = []);
    const seen = poolStore.pool?.file === file ? poolStore.pool : undefined;
    const known = seen ? undefined : memory.get<KnownModels>(KNOWN_KEY);
    if (known?.stamp === stamp) return (this.#listed = known.models);
    const pool = seen ?? (silent ? await poolIn(file) : await poolStore.refresh());
    await this.#remember(stamp, pool);
    return (this.#listed = offeredModels(pool, this.#plan?.steps));
  }

  /** The pool has become another one. */
  async take(pool: Pool): Promise<void> {
    const stamp = await this.#stampOf(pool.file);
    if (stamp !== undefined) await this.#remember(stamp, pool);
    // VS Code has not asked yet.
    if (!this.#listed) return;
    const models = offeredModels(pool, this.#plan?.steps);
    if (JSON.stringify(models) === JSON.stringify(this.#listed)) return;
    this.#listed = models;
    this.#changed();
  }

  /** For all windows, so without the plan of this one. */
  async #remember(stamp: string, pool: KnownPool): Promise<void> {
    await this.#parts.memory.update(KNOWN_KEY, { stamp, models: offeredModels(pool) } satisfies KnownModels);
  }

  /** Of workers.json as it is, and of what else the list depends on. Undefined if there is no such file. */
  async #stampOf(file: string): Promise<string | undefined> {
    const found = await stat(file).catch(() => undefined);
    return found && [file, found.mtimeMs, found.size, this.#parts.version, vscode.env.language].join('\n');
  }

  /** Answers with text as it comes, and then the calls of tools. @throws an error with a sentence, which VS Code shows in the chat */
  async respond(request: ModelRequest): Promise<void> {
    try {
      await this.#turn(request);
    } catch (error) {
      if (request.token.isCancellationRequested) throw new vscode.CancellationError();
      if (error instanceof NextStepError) this.#parts.report(error);
      throw forVsCode(error);
    }
  }

  async #turn({ model, messages, options, progress, token }: ModelRequest): Promise<void> {
    const { connection, poolStore } = this.#parts;
    requireTrustedWindow();
    requireWorker(await poolStore.refresh(), model.id);
    const isRequired = options.toolMode === vscode.LanguageModelChatToolMode.Required && (options.tools ?? []).length > 0;
    const spoken = spokenMessages(messages.map(sentMessage));
    if (spoken.length === 0) throw new Error(vscode.l10n.t('There is nothing to answer: the message is empty.'));
    const requestId = randomUUID();
    const turn: Turn = {
      requestId, model: model.id, session: windowSession(), messages: spoken, ...(isRequired && { toolChoice: 'required' as const }),
      tools: (options.tools ?? []).map(({ name, description, inputSchema }) => ({ name, description, parameters: { type: 'object', properties: {}, ...inputSchema } })),
      ...samplingOf(options.modelOptions ?? {}),
    };
    const stop = connection.on('converse/text', (piece) => {
      if (piece.requestId === requestId) progress.report(new vscode.LanguageModelTextPart(piece.text));
    });
    try {
      const result = await connection.request('converse/turn', turn, signalOf(token));
      for (const { id, name, arguments: given } of result.calls) progress.report(new vscode.LanguageModelToolCallPart(id, name, argumentsOf(given)));
      if (model.id === CONDUCTOR_MODEL) void this.#showPlan(result).catch(() => undefined);
      if (isRequired && result.calls.length === 0) throw new Error(vscode.l10n.t('{0} called none of the tools, though one was required.', result.worker));
    } finally {
      stop();
    }
  }

  /** Shows the plan in the tooltip of the list. */
  async #showPlan({ runId }: ConverseResult): Promise<void> {
    const { connection, poolStore } = this.#parts;
    if (this.#plan?.runId === runId) return;
    const { run } = await connection.request('run/get', { runId });
    const steps = (run.rounds[0]?.steps ?? []).map(({ worker, subtask }) => ({ worker: run.pool[worker]?.id ?? '?', subtask: oneLine(subtask) }));
    this.#plan = { runId, steps };
    if (poolStore.pool) await this.take(poolStore.pool);
  }

  /** About how many tokens it is, rather more than less. */
  async count(text: string | vscode.LanguageModelChatRequestMessage, token: vscode.CancellationToken): Promise<number> {
    const signal = signalOf(token);
    const { connection } = this.#parts;
    const countOf = async (messages: Turn['messages']): Promise<number> => (await connection.request('converse/count', { messages }, signal)).tokens;
    const spoken = typeof text === 'string' ? [{ role: 'user' as const, content: text }] : spokenMessages([sentMessage(text)]);
    let tokens = 0;
    for (const message of spoken) {
      for (let from = 0; from === 0 || from < message.content.length; from += MAX_COUNTED) {
        tokens += await countOf([{ ...message, content: message.content.slice(from, from + MAX_COUNTED) }]);
      }
    }
    return tokens;
  }
}

/** What workers.json alone says: who there is, without prices and who plans. @throws an error if it is not valid */
async function poolIn(file: string): Promise<KnownPool> {
  const { workersFileSchema } = await import('../../backend/protocol/worker-config.ts');
  const { workers, budget } = workersFileSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  return { workers: workers.map((worker) => ({ worker })), runUsd: budget.runUsd };
}

/** Nothing of a project that is not trusted is sent, whoever has put it into a message. @throws NextStepError */
function requireTrustedWindow(): void {
  if (vscode.workspace.isTrusted) return;
  throw new NextStepError(vscode.l10n.t('This workspace is not trusted, so nothing of it is sent to a model. Trust it, then try again.'), manageTrustStep());
}

const noWorker = (): NextStepError => new NextStepError(vscode.l10n.t('There is no worker yet that can answer.'), addWorkerStep(), demonstrationStep());

/** @throws NextStepError if nobody could answer; the run reports all other problems with a worker */
function requireWorker({ workers }: Pool, model: string): void {
  const enabled = workers.filter(({ worker }) => worker.enabled);
  if (enabled.length === 0) throw noWorker();
  const asked = model === CONDUCTOR_MODEL ? enabled : enabled.filter(({ worker }) => worker.id === model);
  const [first] = asked;
  if (!first) throw vscode.LanguageModelError.NotFound(vscode.l10n.t('There is no worker "{0}" any more. Choose another model.', model));
  if (asked.every(({ ready }) => !ready)) throw new NextStepError(first.reason ?? vscode.l10n.t('No worker is ready.'), ...(first.worker.key === undefined ? [] : [setKeyStep()]));
}

/** A conversation is told apart by the folders of the window, and by its beginning: VS Code names none. The same after the window was opened again. */
function windowSession(): string {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.toString());
  const told = folders.length === 0 ? vscode.env.sessionId : folders.join('\n');
  return `vscode-${createHash('sha256').update(told).digest('base64url')}`;
}

/** The options of a model are of no fixed form: what is not a number in the right range is passed over. */
function samplingOf({ max_tokens: most, temperature, top_p: topP }: Readonly<Record<string, unknown>>): Pick<Turn, 'maxOutputTokens' | 'temperature' | 'topP'> {
  const within = (value: unknown, least: number, greatest: number): value is number => typeof value === 'number' && value >= least && value <= greatest;
  return {
    ...(within(most, 1, Number.MAX_SAFE_INTEGER) && { maxOutputTokens: Math.floor(most) }),
    ...(within(temperature, 0, 2) && { temperature }),
    ...(within(topP, 0, 1) && { topP }),
  };
}

/** A model may write arguments that are no JSON; the tool then says what it misses. */
function argumentsOf(given: string): object {
  try {
    const parsed: unknown = JSON.parse(given === '' ? '{}' : given);
    return typeof parsed === 'object' && parsed !== null ? parsed : { value: parsed };
  } catch {
    return { value: given };
  }
}

/** Other extensions decide by the code of VS Code's own errors whether they try again. */
function forVsCode(error: unknown): Error {
  if (error instanceof vscode.LanguageModelError) return error;
  const message = messageOf(error);
  if (error instanceof RequestError && error.kind === 'unknown-worker') return vscode.LanguageModelError.NotFound(message);
  if (error instanceof RequestError && error.kind === 'budget-spent') return vscode.LanguageModelError.Blocked(message);
  return new Error(message, { cause: error });
}
