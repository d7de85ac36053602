import { backticks } from '../common/backticks.ts';
import { tokensOf } from '../context/tokens.ts';
import { beginWith, type ReadChange } from '../hands/begin-with.ts';
import { commandOfJson, type Command } from '../hands/command.ts';
import { fencedCommands, MAX_COMMANDS } from '../hands/fenced-commands.ts';
import { lastOfEach } from '../hands/file-changes.ts';
import { lastMessage } from '../hands/hands-words.ts';
import { HANDS_LIMITS } from '../hands/limits.ts';
import { patchOfChanges } from '../hands/patch-of-changes.ts';
import { clipMiddle } from '../hands/show.ts';
import type { StepCopies } from '../hands/step-copies.ts';
import { TOOLS } from '../hands/tools.ts';
import { changesOf, type Done, type StepCopy } from '../hands/step-copy.ts';
import type { FileChange } from '../protocol/file-change.ts';
import { roundsBefore } from '../protocol/run-facts.ts';
import type { RunSnapshot, StepView, TurnView } from '../protocol/run-snapshot.ts';
import { turnText } from '../protocol/turn-text.ts';
import { WorkspaceCopyError } from '../verify/copies/workspace-listing.ts';
import { unifiedDiff } from '../verify/patch/unified-diff.ts';
import { SandboxUnavailableError } from '../verify/sandbox/sandbox.ts';
import { WorkerError } from '../workers/errors.ts';
import type { WorkerRequest } from '../workers/call-worker.ts';
import type { AgentPlace, Message, ModelReply } from '../workers/model.ts';
import type { FileEdit } from '../verify/patch/patch.ts';
import type { Checker } from './checker.ts';
import { changeOnTop } from './follow-up/build-on.ts';
import { mayAddTests } from './round.ts';
import { shownFiles } from './shown-files.ts';
import { handsOf } from './step-prompt.ts';
import { conversation, type Beginning, type Observation, type StepWork, type Turn, type WorkPlace } from './step-work.ts';
import { commandOfRun } from './test-command.ts';

export interface HandsParts {
  readonly copies: Pick<StepCopies, 'open'>;
  readonly checker: Checker;
  readonly limits?: Partial<typeof HANDS_LIMITS>;
}

/** Of a diff that goes with the last message of a step. The whole change is journalled beside it. */
const MAX_DIFF = 30_000;
/** Files that a last message names as no part of the change. */
const MAX_LEFT = 10;
const LEFT_OUT = '[This result is left out here, because the conversation grew long. Ask again if you need it.]';

/** Of more tool calls in one turn, the rest is told that it was not done. */
const MAX_CALLS = 16;

/** What a step with hands has to know of its run. */
type WorkedPlace = Omit<WorkPlace, 'run'> & { readonly run: Pick<RunSnapshot, 'request' | 'pool' | 'rounds' | 'contexts' | 'asks' | 'earlier' | 'base' | 'context'> };

/** A step whose worker looks, edits and runs commands in a private copy of the workspace before it answers. */
export function workWithHands(parts: HandsParts, place: WorkedPlace): StepWork {
  return new WorkWithHands(parts, place);
}

class WorkWithHands implements StepWork {
  readonly #parts: HandsParts;
  readonly #place: WorkedPlace;
  readonly #limits: typeof HANDS_LIMITS;
  readonly #startedAt = performance.now();
  #begun: Beginning | undefined;
  /** The change of an earlier answer, which every copy of the run begins with. */
  #earlier: readonly FileEdit[] = [];
  #copy: StepCopy | undefined;
  #messageTokens = 0;
  #conversationTokens: number;
  /** Of an agent, which works in the copy with tools of its own. */
  #lent: AgentPlace | undefined;
  #left: readonly string[] = [];
  /** Files whose changes do not fit any more, because somebody changed the project. */
  #lost: readonly string[] = [];

  constructor(parts: HandsParts, place: WorkedPlace) {
    this.#parts = parts;
    this.#place = place;
    this.#limits = { ...HANDS_LIMITS, ...parts.limits };
    this.#conversationTokens = this.#limits.conversationTokens;
  }

  async begin({ begun, turns }: { readonly begun?: Beginning | undefined; readonly turns: readonly Turn[] }, signal: AbortSignal): Promise<Beginning | undefined> {
    this.#begun = begun;
    this.#earlier = await this.#place.files.begins(this.#workspace);
    if (this.#isAgent) return await this.#lend(signal);
    // The copy shows what was changed; without a change none is needed yet.
    if (begun || turns.some(({ changes }) => changes)) return void (await this.#opened(turns, signal));
    const read = turns.length === 0 ? await this.#changesRead() : [];
    if (read.length === 0) return undefined;
    const copy = await this.#opened([], signal);
    const text = await beginWith(copy, read);
    return (this.#begun = { text, changes: changesOf(copy.edits) });
  }

  request(messages: readonly Message[], turns: readonly Turn[]): WorkerRequest {
    // What it did in earlier attempts is gone; only what it was told of its output goes on.
    if (this.#lent) return { messages: conversation(messages, turns.filter(({ during }) => during === undefined).map(asText)), place: this.#lent };
    this.#messageTokens = sum(messages.map(({ content, pictures = [] }) => tokensOf(content) + sum(pictures.map(({ tokens }) => tokens))));
    const fitting = this.#fitting(turns);
    // A worker with tool calls may have begun what one without them goes on with.
    const all = conversation(messages, this.#usesTools ? fitting : fitting.map(asText));
    const last = all.at(-1);
    const tools = this.#usesTools ? { tools: TOOLS } : {};
    // The next turn repeats all of it.
    if (turns.length > 0 && last?.role === 'user') return { messages: [...all.slice(0, -1), { ...last, sharedPrefix: last.content.length }], ...tools };
    return { messages: all, ...tools };
  }

  isOutput({ text, toolCalls = [] }: Pick<ModelReply, 'text' | 'toolCalls'>, turns: readonly Pick<Turn, 'isLast'>[]): boolean {
    if (this.#isAgent || turns.at(-1)?.isLast === true) return true;
    return this.#usesTools ? toolCalls.length === 0 : fencedCommands(text).length === 0;
  }

  get #workspace(): string {
    return this.#place.run.request.workspace ?? '';
  }

  get #usesTools(): boolean {
    return this.#place.run.pool[this.#place.step.worker]?.hands === 'tools';
  }

  get #isAgent(): boolean {
    return handsOf(this.#place.run, this.#place.step.worker) === 'own';
  }

  /** An agent begins anew after a crash: nothing else knows what it has done and thought. */
  async #lend(signal: AbortSignal): Promise<Beginning | undefined> {
    const read = this.#begun ? [] : await this.#changesRead();
    const copy = await this.#opened([], signal);
    const text = read.length > 0 ? await beginWith(copy, read) : undefined;
    this.#lent = await copy.lend(signal, (left) => {
      this.#left = left;
    });
    return text === undefined ? undefined : (this.#begun = { text, changes: changesOf(copy.edits) });
  }

  output({ text: said }: Pick<ModelReply, 'text'>): { output: string; changes?: FileChange[] } {
    const edits = this.#copy?.edits ?? [];
    const left = this.#left.slice(0, MAX_LEFT).map((one) => `- ${one}`);
    const text = left.length === 0 ? said : `${said.trim()}\n\nNo part of my change:\n${left.join('\n')}`;
    if (changeOnTop(this.#earlier, edits).length === 0) return { output: text };
    const diff = clipMiddle(edits.map(unifiedDiff).join('\n'), MAX_DIFF);
    const fence = backticks(diff, 3);
    return { output: `${text.trim()}\n\nMy change, as a diff:\n\n${fence}diff\n${diff.trimEnd()}\n${fence}`, changes: changesOf(edits) };
  }

  async stopped(text: string, { begun, turns }: { readonly begun?: Beginning | undefined; readonly turns: readonly Turn[] }, signal: AbortSignal): Promise<{ output: string; changes?: FileChange[] }> {
    this.#begun = begun;
    // After a crash, or where the copy was about to be made, the change is only in the journal.
    if (begun || turns.some(({ changes }) => changes)) await this.#opened(turns, signal);
    const { output, ...change } = this.output({ text });
    return { output: output.trim(), ...change };
  }

  async observe(reply: string, signal: AbortSignal, turns: readonly Turn[], calls: TurnView['calls'] = []): Promise<Observation> {
    const commands = calls.length > 0 ? calls.map((call) => commandOfJson(call.name, call.arguments)) : fencedCommands(reply);
    const most = calls.length > 0 ? MAX_CALLS : MAX_COMMANDS;
    const results: Done[] = [];
    let changes: FileChange[] = [];
    let problem: string | undefined;
    try {
      const copy = await this.#opened(turns, signal);
      const before = new Map(changesOf(copy.edits).map((change) => [change.path, change]));
      for (const command of commands.slice(0, most)) results.push(resultOf(command, await doIn(copy, command, signal)));
      changes = differing(before, changesOf(copy.edits));
    } catch (error) {
      if (!(error instanceof WorkspaceCopyError)) throw error;
      problem = `There is no copy to work in: ${error.message}`;
    }
    const more = commands.length - most;
    if (more > 0 && calls.length === 0) results.push({ text: `Not done: ${more} more commands. Write one a message.` });
    const ending = problem ?? this.#limitReached(reply + JSON.stringify(calls), results, turns);
    const last = [
      ...(this.#lost.length > 0 ? [`The project was changed meanwhile, and your earlier changes of these files are lost: ${this.#lost.join(', ')}.`] : []),
      ...(ending === undefined ? [] : [lastMessage(ending)]),
    ];
    this.#lost = [];
    const pieces = results.flatMap((result) => result.pieces ?? []);
    const said = calls.length === 0 ? { text: [...results.map((result) => result.text), ...last].join('\n\n') } : {
      text: '',
      results: calls.map(({ id }, index) => ({
        callId: id,
        text: [results[index]?.text ?? `Not done: at most ${MAX_CALLS} calls are done in one message.`, ...(index === calls.length - 1 ? last : [])].join('\n\n'),
      })),
    };
    return { ...said, ...(pieces.length > 0 && { pieces }), ...(changes.length > 0 && { changes }), ...(ending !== undefined && { isLast: true as const }) };
  }

  shorten(error: unknown): boolean {
    if (!(error instanceof WorkerError) || error.kind !== 'context-overflow' || this.#conversationTokens < 500) return false;
    this.#conversationTokens = Math.floor(this.#conversationTokens / 2);
    return true;
  }

  async end(): Promise<void> {
    const copy = this.#copy;
    this.#copy = undefined;
    await copy?.release();
  }

  async #opened(turns: readonly Turn[], signal: AbortSignal): Promise<StepCopy> {
    if (this.#copy) return this.#copy;
    const { run } = this.#place;
    const test = await commandOfRun(run, this.#parts.checker);
    const copy = await this.#parts.copies.open({ of: this.#place.files.base(this.#workspace), test, newTests: mayAddTests(run) }, signal);
    this.#copy = copy;
    this.#lost = await copy.redo(latest([this.#begun?.changes ?? [], ...turns.map(({ changes = [] }) => changes)]));
    return copy;
  }

  /** The changes that the step begins with: the last answer's if it revises it, then those of the steps that it reads. */
  async #changesRead(): Promise<ReadChange[]> {
    const { run, round, step } = this.#place;
    const steps = run.rounds[round]?.steps ?? [];
    const reads = step.reads.flatMap((index) => steps[index] ?? []);
    // A later one of them that began with an earlier one holds its change already.
    const own = reads.filter(({ index }) => !reads.some((later) => later.reads.includes(index) && later.begun));
    const previous = step.readsPreviousRound ? roundsBefore(run, round).at(-1) : undefined;
    const last = previous?.answer && previous.steps[previous.answer.step];
    return [
      ...(this.#earlier.length > 0 ? [{ of: 'the earlier answer', edits: this.#earlier }] : []),
      ...(previous && last ? await this.#changeOf(last, previous.index, 'the previous round') : []),
      ...(await Promise.all(own.map((view) => this.#changeOf(view, round, `step ${view.index}`)))).flat(),
    ];
  }

  async #changeOf({ changes, output = '' }: StepView, round: number, of: string): Promise<ReadChange[]> {
    const { run, files } = this.#place;
    const newTests = mayAddTests(run);
    const { edits: made, refused } = changes
      ? await files.readWorkspace(this.#workspace, (folder) => patchOfChanges(changes, folder, { newTests }))
      : await files.read(this.#workspace, (folder) => this.#parts.checker.parsePatch(output, folder, shownFiles(run, round), { newTests }));
    const edits = changes ? changeOnTop(this.#earlier, made) : made;
    // Text of which a part cannot be read is no change that others can build on.
    return edits.length > 0 && (changes || refused.length === 0) ? [{ of, edits }] : [];
  }

  /** Leaves the oldest results out of a conversation that is too long, many at once, so that what stays can be cached for some turns. */
  #fitting(turns: readonly Turn[]): Turn[] {
    let left = 0;
    const size = (from: number, to: number): number => sum(turns.slice(0, to).map((turn, index) =>
      tokensOf(turn.reply) + (index < from ? tokensOf(LEFT_OUT) : tokensOf(turn.observation))));
    for (let count = 1; count <= turns.length; count += 1) {
      if (size(left, count) <= this.#conversationTokens) continue;
      while (left < count - 1 && size(left, count) > this.#conversationTokens * 0.6) left += 1;
    }
    return turns.map((turn, index) => (index < left
      ? { ...turn, observation: LEFT_OUT, ...(turn.results && { results: turn.results.map(({ callId }) => ({ callId, text: LEFT_OUT })) }) }
      : turn));
  }

  /** Why the worker is asked for its last message. */
  #limitReached(reply: string, results: readonly Done[], turns: readonly Turn[]): string | undefined {
    const count = turns.length + 1;
    if (count >= this.#limits.turns - 1) return `You have used ${count} of your ${this.#limits.turns} messages.`;
    if (performance.now() - this.#startedAt > this.#limits.ms) return 'The time for your subtask is over.';
    const sizes = [...turns.map((turn) => tokensOf(turn.reply) + Math.min(tokensOf(turn.observation), this.#conversationTokens)),
      tokensOf(reply) + sum(results.map(({ text }) => tokensOf(text)))];
    const sent = sizes.reduce(({ all, so }, size) => ({ all: all + this.#messageTokens + Math.min(so, this.#conversationTokens), so: so + size }), { all: 0, so: 0 });
    return sent.all > this.#limits.tokens ? 'Your conversation has used the tokens of your subtask.' : undefined;
  }
}

async function doIn(copy: StepCopy, command: Command, signal: AbortSignal): Promise<Done> {
  try {
    return await copy.do(command, signal);
  } catch (error) {
    if (error instanceof SandboxUnavailableError) return { text: `Not done: ${error.message}` };
    throw error;
  }
}

const MAX_NAME = 120;

function resultOf(command: Command, { text, pieces }: Done): Done {
  const of = nameOf(command);
  return { text: `Result of ${of}:\n${text}`, ...(pieces && { pieces }) };
}

function nameOf(command: Command): string {
  const about = command.kind === 'search' ? command.pattern : 'path' in command ? command.path : command.kind === 'run' ? command.command : '';
  const name = command.kind === 'unreadable' ? command.name : command.kind;
  return `${name.slice(0, MAX_NAME)} ${about.split('\n', 1)[0]?.slice(0, MAX_NAME) ?? ''}`.trim();
}

/** The files whose change differs; one that is as in the workspace again has an empty one. */
function differing(before: ReadonlyMap<string, FileChange>, now: readonly FileChange[]): FileChange[] {
  const same = (a: FileChange | undefined, b: FileChange): boolean => a !== undefined && JSON.stringify(a) === JSON.stringify(b);
  const gone = [...before.keys()].filter((path) => !now.some((change) => change.path === path));
  return [...now.filter((change) => !same(before.get(change.path), change)), ...gone.map((path) => ({ path, line: 1, removed: '', inserted: '' }))];
}

const asText = ({ calls = [], results: _results, verbatim: _verbatim, ...turn }: Turn): Turn =>
  ({ ...turn, reply: turnText(turn.reply, calls) });

const latest = (changes: readonly (readonly FileChange[])[]): FileChange[] => lastOfEach(changes.flat());
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
