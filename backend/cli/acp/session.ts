import path from 'node:path';
import type {
  AgentContext, AvailableCommand, ContentBlock, PermissionOption, PromptResponse, SessionConfigOption, SessionModeState, SessionUpdate, ToolCall, ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { clip } from '../../common/clip.ts';
import { counted } from '../../common/counted.ts';
import type { BackendClient } from '../../protocol/client/backend-client.ts';
import { withFencedChanges } from '../../protocol/fenced-changes.ts';
import { formatDuration, formatMoney } from '../../protocol/figures.ts';
import type { FileEdit, Pool } from '../../protocol/methods.ts';
import { PictureError, takenPictures, type Picture } from '../../protocol/pictures.ts';
import { isRefusal } from '../../protocol/request-error.ts';
import { runRequestSchema, type RunRequest } from '../../protocol/run-request.ts';
import { answerOf, elapsedOf } from '../../protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../../protocol/run-snapshot.ts';
import { verdictText } from '../../protocol/tool-texts.ts';
import type { CommandContext } from '../command.ts';
import { Consent } from '../consent.ts';
import { followRun, type DecideAboutPlan } from '../follow-run.ts';
import { judgeChange } from '../judge-change.ts';
import { oneLine, printable } from '../terminal.ts';
import { readPrompt } from './read-prompt.ts';
import { message, RunUpdates } from './run-updates.ts';
import type { KeptSession, SessionFiles } from './session-files.ts';
import { planCallId, planText, textContent } from './shown-run.ts';
import { ChangeNotWrittenError, writeChange, type EditorFiles } from './write-change.ts';

/** What the person set when the agent was started. */
export interface AcpSettings {
  /** A plan that may cost more dollars is shown first, where that is asked for. */
  readonly reviewAboveUsd: number;
  readonly review: KeptSession['review'];
  /** The most dollars that a run may cost, instead of the limit in workers.json. */
  readonly maxUsd?: number | undefined;
  /** Ids of the workers that may take part; all that are ready when absent. */
  readonly workers?: readonly string[] | undefined;
}

export interface SessionParts extends Pick<CommandContext, 'connect' | 'openVerification'> {
  readonly settings: AcpSettings;
  readonly files: SessionFiles;
  readonly client: AgentContext;
  readonly editor: EditorFiles;
}

export const COMMANDS: readonly AvailableCommand[] = [
  { name: 'verify', description: 'Judge the uncommitted changes by the project’s tests. Costs nothing' },
  { name: 'apply', description: 'Write the last answer’s change to the project' },
  { name: 'resume', description: 'Go on with the last run, if it stopped or failed; finished steps are not paid for again', input: { hint: 'the most dollars that it may cost now' } },
];

/** A sentence for the person, as the error of a request. */
export class SessionError extends Error {
  override readonly name = 'SessionError';
}

/** A conversation in an editor: its prompts are runs, each of which continues from the one before. */
export class AcpSession {
  readonly id: string;
  readonly #parts: SessionParts;
  #kept: KeptSession;
  /** Ends what the session is doing. */
  #work: AbortController | undefined;
  /** What the person is told once, with the first answer. */
  #notes: string[];

  constructor(id: string, kept: KeptSession, parts: SessionParts, notes: readonly string[]) {
    this.id = id;
    this.#kept = kept;
    this.#parts = parts;
    this.#notes = [...notes];
  }

  get modes(): SessionModeState {
    return {
      currentModeId: this.#kept.mode,
      availableModes: [
        { id: 'ask', name: 'Ask', description: 'Every change is shown, and written if you allow it' },
        { id: 'apply', name: 'Apply', description: 'A change that the tests verify is written at once; others are asked about' },
      ],
    };
  }

  /** Editors that know these show them instead of the modes. */
  get configOptions(): SessionConfigOption[] {
    const { currentModeId, availableModes } = this.modes;
    return [
      { type: 'select', id: 'mode', category: 'mode', name: 'Changes', currentValue: currentModeId, options: availableModes.map(({ id, ...mode }) => ({ ...mode, value: id })) },
      {
        type: 'select', id: 'review', name: 'Plans', currentValue: this.#kept.review,
        options: [
          { value: 'never', name: 'Run plans at once' },
          { value: 'above', name: `Ask above $${this.#parts.settings.reviewAboveUsd}`, description: 'A plan that may cost more, or whose cost is not known, is shown before its workers are paid' },
          { value: 'always', name: 'Ask about each plan' },
        ],
      },
    ];
  }

  get isAtWork(): boolean {
    return this.#work !== undefined;
  }

  async set(change: Partial<Pick<KeptSession, 'mode' | 'review'>>): Promise<void> {
    this.#kept = { ...this.#kept, ...change };
    if (this.#kept.runs.length > 0) await this.#parts.files.write(this.id, this.#kept);
  }

  cancel(): void {
    this.#work?.abort(new Error('The person cancelled.'));
  }

  /** Tells the editor the whole conversation again, from the journal. Runs that were removed are left out. */
  async replay(): Promise<void> {
    await this.#withClient(async (client) => {
      for (const runId of this.#kept.runs) {
        const run = await runOf(client, runId);
        if (!run) continue;
        this.#send({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: printable(run.request.question) } });
        for (const { type, data } of run.request.pictures ?? []) this.#send({ sessionUpdate: 'user_message_chunk', content: { type: 'image', mimeType: type, data } });
        new RunUpdates(this.#send).show(run);
        if (isOver(run.state)) this.#tellEnd(run);
      }
    });
  }

  /** Answers a prompt, or a command in it. @throws SessionError */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.#work) throw new SessionError('This session is at work: wait for its end, or cancel it.');
    const work = new AbortController();
    this.#work = work;
    const interrupted = AbortSignal.any([work.signal, signal]);
    try {
      for (const note of this.#notes.splice(0)) this.#say(note);
      await this.#answer(blocks, interrupted);
      return { stopReason: interrupted.aborted ? 'cancelled' : 'end_turn' };
    } catch (error) {
      if (interrupted.aborted) return { stopReason: 'cancelled' };
      throw error;
    } finally {
      this.#work = undefined;
    }
  }

  async #answer(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<void> {
    const { question, files, pictures, leftOut } = readPrompt(blocks, this.#kept.cwd);
    const [, command, argument = ''] = /^\/(\w+)(?:\s+(\S+))?$/.exec(question) ?? [];
    switch (command) {
      case 'verify': return await this.#verify(signal);
      case 'apply': return await this.#apply(signal);
      case 'resume': return await this.#resume(argument, signal);
      default:
    }
    for (const name of leftOut) this.#say(`${name} does not go with the question: it is no text, and no file of the project.`);
    const { reviewAboveUsd, maxUsd, workers } = this.#parts.settings;
    const { review, cwd } = this.#kept;
    await this.#run(signal, async (client) => {
      await this.#requireWorker(client);
      const request = runRequestSchema.safeParse({
        question, workspace: cwd, ...(pictures.length > 0 && { pictures: checkedPictures(pictures) }), focus: { files }, workers, ...(maxUsd !== undefined && { budget: { runUsd: maxUsd } }),
        ...(review !== 'never' && { reviewPlan: review === 'always' ? review : { aboveUsd: reviewAboveUsd } }),
      });
      if (!request.success) throw new SessionError(`The question cannot be asked: ${request.error.issues[0]?.message ?? 'it is not valid'}.`);
      const before = await this.#lastRun(client);
      const { runId } = await client.request('run/start', { request: { ...request.data, ...(before && { continues: before.runId }) } satisfies RunRequest });
      await this.#keep(runId, question);
      return runId;
    });
  }

  /** Begins or takes up a run, follows it to its end, and offers its change. A run whose prompt is cancelled, or whose editor is gone, is cancelled. */
  async #run(signal: AbortSignal, begin: (client: BackendClient) => Promise<string>): Promise<void> {
    const consent = new Consent({ ask: (question, asked) => this.#consents(question, asked) }, {});
    const connect = (): Promise<BackendClient> => this.#parts.connect({ confirm: consent.confirm });
    const client = await connect();
    try {
      const runId = await begin(client);
      consent.runId = runId;
      const run = await followRun({
        runId, client, connect, interrupted: signal, decide: this.#decide, printer: new RunUpdates(this.#send), terminal: { say: (text) => this.#say(text) },
      });
      this.#tellEnd(run);
      if (run.state === 'failed') throw new SessionError(run.message ?? 'The run failed.');
      if (run.state !== 'cancelled') await this.#offer(run, await this.#editsOf(run), signal);
    } finally {
      client.close();
    }
  }

  /** Asks about a plan that waits: it is run, another one is asked for, or the run is cancelled. */
  readonly #decide: DecideAboutPlan = async ({ plan, run, client, signal }) => {
    const round = run.rounds[plan.round];
    if (!round) return;
    const chosen = await this.#ask({
      toolCallId: planCallId(run, round), status: 'pending', content: [textContent(planText(run, round))],
    }, [
      { optionId: 'run', name: 'Run this plan', kind: 'allow_once' },
      { optionId: 'replan', name: 'Ask for another plan', kind: 'reject_once' },
      { optionId: 'cancel', name: 'Cancel', kind: 'reject_once' },
    ], signal).catch((error: unknown) => {
      signal.throwIfAborted();
      // The editor is gone, or cannot ask: a plan that nobody sees would wait for ever.
      this.#say(`The plan could not be shown: ${messageOf(error)}`);
      return 'cancel';
    });
    const { runId } = run;
    try {
      if (chosen === 'run') await client.request('run/approvePlan', { runId, ...plan });
      else if (chosen === 'replan') await client.request('run/replan', { runId, ...plan });
      else await client.request('run/cancel', { runId });
    } catch (error) {
      // Somebody else decided meanwhile, or the run is being taken up again: what follows tells what became of it.
      if (!isRefusal(error)) throw error;
      this.#say(error.message);
    }
  };

  /** A question of the backend, such as whether tests may run without a sandbox. */
  async #consents(question: string, signal: AbortSignal): Promise<boolean> {
    const [title = '', ...detail] = question.split('\n');
    const chosen = await this.#ask({ toolCallId: crypto.randomUUID(), kind: 'execute', status: 'pending', title, content: [textContent(detail.join('\n').trim())] }, [
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' }, { optionId: 'no', name: 'Do not allow', kind: 'reject_once' },
    ], signal);
    return chosen === 'yes';
  }

  /** Shows the change of a run, and writes it if the person, or the mode, allows that. */
  async #offer(run: RunSnapshot, edits: readonly FileEdit[], signal: AbortSignal): Promise<void> {
    if (edits.length === 0 || signal.aborted) return;
    const { cwd, mode } = this.#kept;
    const isVerified = run.outcome === 'verified';
    const call: ToolCall = {
      toolCallId: `${run.runId}/change/${crypto.randomUUID()}`, kind: 'edit', status: 'pending',
      title: `${isVerified ? 'Verified change' : 'Change'} of ${counted(edits.length, 'file')}: ${oneLine(edits.map((edit) => edit.path).join(', '), 160)}`,
      content: edits.map(({ path: file, before, after }) => ({ type: 'diff', path: path.join(cwd, file), oldText: before, newText: after ?? '' })),
      locations: edits.map((edit) => ({ path: path.join(cwd, edit.path) })),
    };
    this.#send({ sessionUpdate: 'tool_call', ...call });
    const chosen = mode === 'apply' && isVerified ? 'write' : await this.#ask(call, [
      { optionId: 'write', name: isVerified ? 'Write to the project' : 'Write to the project, although it is not verified', kind: 'allow_once' },
      ...(isVerified ? [{ optionId: 'always', name: 'Write verified changes from now on', kind: 'allow_always' as const }] : []),
      { optionId: 'leave', name: 'Leave the project as it is', kind: 'reject_once' },
    ], signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return undefined;
    });
    const update = (status: ToolCall['status']): void => this.#send({ sessionUpdate: 'tool_call_update', toolCallId: call.toolCallId, status });
    if (signal.aborted || (chosen !== 'write' && chosen !== 'always')) {
      update('failed');
      return this.#say('Nothing was written. /apply writes the change later.');
    }
    if (chosen === 'always') await this.#setMode('apply');
    try {
      await writeChange(cwd, edits, this.#parts.editor);
    } catch (error) {
      update('failed');
      throw error instanceof ChangeNotWrittenError ? new SessionError(error.message, { cause: error }) : error;
    }
    update('completed');
    this.#say(`Written: ${edits.map((edit) => edit.path).join(', ')}.`);
  }

  async #editsOf(run: RunSnapshot): Promise<FileEdit[]> {
    if (!isOver(run.state) || (answerOf(run)?.round.answer?.edits.length ?? 0) === 0) return [];
    return await this.#withClient(async (client) => {
      const { edits, refused } = await client.request('run/edits', { runId: run.runId });
      for (const one of refused) this.#say(`${one.path} is left out: ${one.reason}`);
      return edits;
    });
  }

  async #setMode(mode: KeptSession['mode']): Promise<void> {
    await this.set({ mode });
    this.#send({ sessionUpdate: 'current_mode_update', currentModeId: mode });
    this.#send({ sessionUpdate: 'config_option_update', configOptions: this.configOptions });
  }

  async #apply(signal: AbortSignal): Promise<void> {
    const run = await this.#withClient((client) => this.#lastRun(client));
    const edits = run ? await this.#editsOf(run) : [];
    if (!run || edits.length === 0) throw new SessionError('The last answer of this session has no change that is not in the project.');
    await this.#offer(run, edits, signal);
  }

  async #resume(maxUsd: string, signal: AbortSignal): Promise<void> {
    const runUsd = maxUsd === '' ? undefined : Number(maxUsd.replace(/^\$/, ''));
    if (runUsd !== undefined && !(runUsd > 0 && Number.isFinite(runUsd))) throw new SessionError('/resume takes an amount in dollars, or nothing.');
    await this.#run(signal, async (client) => {
      const run = await this.#lastRun(client);
      if (!run || (run.state === 'completed')) throw new SessionError('No run of this session stopped.');
      // One that goes on, or whose plan waits, is followed.
      if (isOver(run.state)) await client.request('run/resume', { runId: run.runId, ...(runUsd !== undefined && { budget: { runUsd } }) });
      return run.runId;
    });
  }

  async #verify(signal: AbortSignal): Promise<void> {
    const toolCallId = crypto.randomUUID();
    this.#send({ sessionUpdate: 'tool_call', toolCallId, kind: 'execute', status: 'in_progress', title: 'The project’s tests judge the uncommitted changes' });
    const update = (text: string, status: ToolCall['status']): void => this.#send({ sessionUpdate: 'tool_call_update', toolCallId, status, content: [textContent(text)] });
    try {
      const result = await judgeChange({
        workspace: this.#kept.cwd, sandboxed: true, openVerification: this.#parts.openVerification, signal, onProgress: (line) => update(line, 'in_progress'),
      });
      update(verdictText(result), result.outcome === 'verified' || result.outcome === 'passes' ? 'completed' : 'failed');
      this.#say(`**${OUTCOMES[result.outcome]}** ${result.reason}`);
    } catch (error) {
      update(signal.aborted ? 'Cancelled.' : messageOf(error), 'failed');
      throw error;
    }
  }

  /** The answer, how the run ended, and what it cost. With a change, the words of the worker are mostly that change in its own form. */
  #tellEnd(run: RunSnapshot): void {
    const answer = answerOf(run);
    if (answer && (answer.round.answer?.edits.length ?? 0) === 0) this.#say(withFencedChanges(answer.text));
    if (run.pool.some(({ simulated }) => simulated)) this.#say('The workers are a simulation on this machine: nothing of this comes from a real model.');
    for (const { path: file, reason } of [...(answer?.round.answer?.refused ?? []), ...(answer?.round.answer?.leftOut ?? [])]) this.#say(`${file} is left out of the change: ${reason}`);
    const how = run.state === 'completed' ? OUTCOMES[run.outcome ?? 'unchecked'] : run.state === 'cancelled' ? 'Cancelled.' : run.state === 'stopped' ? 'Stopped.' : 'Failed.';
    const next = run.state === 'completed' ? [] : ['/resume goes on without paying again for what is done.'];
    const facts = `${formatMoney(run.spent)} · ${formatDuration(elapsedOf(run, Date.now()))}`;
    this.#say([`**${how}**`, ...(run.message === undefined || run.state === 'cancelled' ? [] : [run.message]), ...next, `(${facts})`].join(' '));
  }

  async #requireWorker(client: BackendClient): Promise<void> {
    const { workers } = await client.request('pool/get', {});
    const enabled = workers.filter(({ worker }) => worker.enabled);
    if (enabled.length === 0) throw new SessionError('There is no worker yet who could answer: add one with "conductor worker add ID" in a terminal, or in VS Code with "Conductor: Add Worker".');
    const missing = enabled.filter(({ ready }) => !ready);
    const reasons = missing.map(missingWords).join(' ');
    if (missing.length === enabled.length) throw new SessionError(`No worker is ready. ${reasons}`);
    if (missing.length > 0 && this.#kept.runs.length === 0) this.#say(`Not taking part: ${reasons}`);
  }

  /** The newest run of the session that was not removed. */
  async #lastRun(client: BackendClient): Promise<RunSnapshot | undefined> {
    for (const runId of this.#kept.runs.toReversed()) {
      const run = await runOf(client, runId);
      if (run) return run;
    }
    return undefined;
  }

  async #keep(runId: string, question: string): Promise<void> {
    const { runs, title } = this.#kept;
    this.#kept = { ...this.#kept, runs: [...runs, runId], title: title === '' ? clip(oneLine(question, MAX_TITLE), MAX_TITLE) : title, updatedAt: new Date().toISOString() };
    this.#send({ sessionUpdate: 'session_info_update', title: this.#kept.title, updatedAt: this.#kept.updatedAt });
    await this.#parts.files.write(this.id, this.#kept);
  }

  /** @returns the id of the chosen option; undefined if the person chose none @throws if the signal aborts */
  async #ask(toolCall: ToolCallUpdate, options: PermissionOption[], signal: AbortSignal): Promise<string | undefined> {
    signal.throwIfAborted();
    const { outcome } = await this.#parts.client.request('session/request_permission', { sessionId: this.id, toolCall, options }, { cancellationSignal: signal, stopWaitingOnCancel: true });
    return outcome.outcome === 'selected' ? outcome.optionId : undefined;
  }

  async #withClient<T>(act: (client: BackendClient) => Promise<T>): Promise<T> {
    const client = await this.#parts.connect();
    try {
      return await act(client);
    } finally {
      client.close();
    }
  }

  #say(text: string): void {
    this.#send(message(`${text}\n\n`));
  }

  /** An editor that is gone is told nothing. */
  readonly #send = (update: SessionUpdate): void => {
    this.#parts.client.notify('session/update', { sessionId: this.id, update }).catch(() => undefined);
  };
}

const MAX_TITLE = 100;

const OUTCOMES = {
  verified: 'Verified.', passes: 'The tests pass; not verified.', failed: 'Not verified.', refused: 'Not accepted for checking.', infrastructure: 'Could not be checked.',
  answered: 'Answered.', unchecked: 'Unchecked.', 'not-verified': 'Not verified.',
} as const;

const missingWords = ({ worker, reason }: Pool['workers'][number]): string => `${worker.id}: ${reason ?? 'not ready.'}`;

/** Undefined if it was removed since. */
const runOf = (client: BackendClient, runId: string): Promise<RunSnapshot | undefined> => client.request('run/get', { runId }).then(({ run }) => run, (error: unknown) => {
  if (isRefusal(error)) return undefined;
  throw error;
});

/** The pictures of a prompt. @throws SessionError for one that no model takes: nothing is asked then */
function checkedPictures(pictures: readonly { readonly data: string }[]): Picture[] {
  try {
    return takenPictures(pictures);
  } catch (error) {
    if (error instanceof PictureError) throw new SessionError(error.message);
    throw error;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
