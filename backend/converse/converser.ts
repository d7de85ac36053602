import { CONDUCTOR_MODEL, picturesIn, type Conversation, type ConverseRequest, type ConverseResult, type SpokenMessage } from '../protocol/conversation.ts';
import type { RunEvent, StoredEvent } from '../protocol/run-events.ts';
import { runRequestSchema, type RunRequest } from '../protocol/run-request.ts';
import { seesPictures } from '../protocol/pictures.ts';
import { isOver, type RunSnapshot, type StepView } from '../protocol/run-snapshot.ts';
import { addUsage, NO_USAGE } from '../protocol/token-counts.ts';
import type { Usage } from '../protocol/usage.ts';
import type { WorkersFile } from '../protocol/worker-config.ts';
import { RunError } from '../solve/failure.ts';
import type { RunListener, RunService } from '../solve/run-service.ts';
import { estimateInputTokens } from '../workers/limits/estimate-tokens.ts';
import { mostPictureTokens } from '../workers/limits/picture-tokens.ts';
import { withQuestion } from './asked-by-system.ts';
import type { ClientTools } from './client-tools.ts';
import { answerAsked, goesOnFrom, isOwnBusiness } from './own-business.ts';
import { personWords } from './person-words.ts';
import { checkedMessages, partedPictures } from './question-pictures.ts';
import { TurnError } from './turn-error.ts';
import { beginningKey, personKey, requestKey, sessionKey, textKey } from './session-key.ts';

export interface ConverserOptions {
  readonly runs: Pick<RunService, 'converse' | 'resume' | 'cancel' | 'snapshot' | 'listen'>;
  /** The same that the runs' last steps wait at. */
  readonly tools: ClientTools;
  readonly loadWorkers: () => Promise<WorkersFile>;
}

export interface TurnOptions {
  /** Aborted when the client is gone: the run is cancelled. The same request again takes it up, and pays for nothing twice. */
  readonly signal: AbortSignal;
  /** Called with each piece of the speaker's text, in order. */
  readonly onText: (text: string) => void;
}

/** Everything that a client can ask about conversations. */
export type ConversationService = Pick<Converser, 'turn' | 'count'>;

/** Requests of which it is remembered which run answers them. */
const REMEMBERED = 500;
/** Of one key. Its sessions are shortened at the same time, and are given titles between. */
const SUMMARIES = 20;
/** The longest question of a run. The speaker is sent the client's messages, which are not clipped. */
const MAX_QUESTION = 30_000;
/** Said where an attempt broke off after some of its text was sent, and another one begins. */
const BEGINS_AGAIN = '\n\n[The model was interrupted and begins again.]\n\n';

/** The program shows its person nothing but an error; the panel says so before it asks. */
const NOBODY_SEES = (worker: string | undefined): string =>
  `${worker === undefined ? 'No worker takes pictures' : `Worker "${worker}" takes no pictures`}, as far as is known ("conductor worker try ID" finds out): describe in words what they show.`;

/**
 * Turns of conversations that other programs hold. A person's message is a run: the Conductor plans, the steps before the last advise in private,
 * and the last step's worker speaks, with the program's tools. The results of tools go to the same run.
 */
export class Converser {
  readonly #options: ConverserOptions;
  /** The run of a request that was not answered, or with nothing, oldest first. */
  readonly #runOf = new Map<string, string>();
  /** Who spoke last in a session, and for a key. */
  readonly #spokeLast = new Map<string, string>();
  /** What was said last in a session, shortened to a digest. */
  readonly #saidLast = new Map<string, string>();
  /** The message of a person that was answered last in a session, shortened to a digest. */
  readonly #answered = new Map<string, string>();
  /** What the program of a key was given that may be a summary of a conversation, the newest last. */
  readonly #summaries = new Map<string, readonly string[]>();
  /** Runs that a client follows. */
  readonly #followed = new Map<string, number>();

  constructor(options: ConverserOptions) {
    this.#options = options;
  }

  /** About how many tokens a request holds, rather more than less. */
  count({ messages, tools }: Pick<Conversation, 'messages' | 'tools'>): number {
    const ofPictures = messages.flatMap(picturesIn).reduce((sum, picture) => sum + mostPictureTokens(picture), 0);
    const texts = messages.map((message) => ({ ...message, pictures: undefined }));
    return estimateInputTokens({ messages: texts, tools }) + ofPictures;
  }

  /**
   * The next turn: a person's message, or what the client's tools returned.
   * @throws TurnError, RunError, ConfigFileError: each with a sentence for people
   */
  async turn(asked: ConverseRequest, options: TurnOptions): Promise<ConverseResult> {
    options.signal.throwIfAborted();
    const request = { ...asked, messages: withQuestion(checkedMessages(asked.messages)) };
    const session = sessionKey(request);
    // A program may also write the beginning of an answer itself; that is a question of its person.
    const answer = answerAsked(request.messages);
    const isOwn = isOwnBusiness(request) || (answer !== undefined && this.#saidLast.get(session) === textKey(answer));
    const result = await this.#turn(request, options, { session, isOwn });
    if (request.model !== CONDUCTOR_MODEL) return result;
    const ofKey = request.account?.id ?? '';
    // A title that comes in between neither takes the place of a summary nor of the speaker.
    if (isOwn) remember(this.#summaries, ofKey, [...(this.#summaries.get(ofKey) ?? []), result.text].slice(-SUMMARIES));
    else {
      remember(this.#saidLast, session, textKey(result.text));
      if (result.calls.length === 0) remember(this.#answered, session, personKey(request.messages));
      for (const place of [session, ofKey]) remember(this.#spokeLast, place, result.worker);
    }
    return result;
  }

  /** @param isOwn whether it is the agent's own business */
  async #turn(request: ConverseRequest, { signal, onText }: TurnOptions, { session, isOwn }: { readonly session: string; readonly isOwn: boolean }): Promise<ConverseResult> {
    const { runs, tools } = this.#options;
    const key = requestKey(request);
    const told = (runId: string): Conversation => conversationOf(runs.snapshot(runId));
    const isAlike = (runId: string): boolean => beginningKey(told(runId)) === beginningKey(request);
    const isAsked = (runId: string): boolean => isAlike(runId) && personWords(told(runId).messages) === personWords(request.messages);
    const waiting = hasResultsLast(request) ? tools.claimed(session, request.messages, isAsked) : undefined;
    if (waiting) {
      const { runId, messages } = waiting;
      return await this.#follow(runId, { signal, onText }, { key, isAnswered: true, start: () => tools.deliver(runId, { ...request, messages: [...messages] }) });
    }
    const before = this.#runOf.get(key);
    if (before !== undefined && tools.gaveNothing(before)) {
      return await this.#follow(before, { signal, onText }, { key, isAnswered: true, start: () => tools.askAgain(before) });
    }
    if (before !== undefined && !this.#followed.has(before) && isUnfinished(runs, before)) {
      return await this.#follow(before, { signal, onText }, { key, start: () => runs.resume(before) });
    }
    // The person says something else meanwhile, so nobody will answer what the speaker asked for. What an agent asks beside it says nothing of that.
    const isLeft = (runId: string): boolean => leavesOut(request.messages, tools.latest(runId) ?? told(runId), speakerOf(runs.snapshot(runId))?.turns?.at(-1)?.reply ?? '');
    for (const runId of isOwn ? [] : tools.leftBy(session, request.messages, { isAlike, isLeft })) if (!tools.close(runId)) runs.cancel(runId);
    // BeeAI and others read calls out of the text of an answer, and give what the tools returned as if it had been asked for.
    const goesOn = hasResultsLast(request) && this.#answered.get(session) === personKey(request.messages);
    const runId = await this.#begin(request, isOwn || goesOn);
    return await this.#follow(runId, { signal, onText }, { key, start: () => {} });
  }

  /** Who answers without a plan what no person asked: whoever spoke last, who knows the conversation, or else the cheapest worker. */
  #withoutPlan(request: ConverseRequest, workers: WorkersFile['workers'], isOwn: boolean): string | undefined {
    const ofKey = request.account?.id ?? '';
    const goesOn = (this.#summaries.get(ofKey) ?? []).some((summary) => goesOnFrom(summary, request.messages));
    if (!isOwn && !goesOn) return undefined;
    const enabled = workers.filter(({ enabled: is }) => is);
    const known = [sessionKey(request), ofKey].map((place) => this.#spokeLast.get(place)).find((id) => enabled.some((worker) => worker.id === id));
    const [cheapest] = enabled.toSorted((a, b) => (a.price?.inputPerMillion ?? Infinity) - (b.price?.inputPerMillion ?? Infinity));
    return known ?? cheapest?.id;
  }

  async #begin({ model: asked, ...request }: ConverseRequest, isOwn: boolean): Promise<string> {
    const { requestId: _requestId, ...conversation } = request;
    const { workers: all } = await this.#options.loadWorkers();
    const model = asked === CONDUCTOR_MODEL ? this.#withoutPlan({ model: asked, ...request }, all, isOwn) ?? asked : asked;
    const isPlanned = model === CONDUCTOR_MODEL;
    const workers = all.filter(({ id, enabled }) => enabled && (isPlanned || id === model));
    if (!isPlanned && workers.length === 0) throw new RunError('unknown-worker', `There is no worker "${model}". The models are ${[CONDUCTOR_MODEL, ...all.filter(({ enabled }) => enabled).map(({ id }) => id)].join(', ')}.`);
    const { messages, pictures } = partedPictures(conversation.messages);
    if (pictures.length > 0 && workers.length > 0 && !workers.some(seesPictures)) throw new TurnError('invalid-request', NOBODY_SEES(isPlanned ? undefined : model));
    return await this.#options.runs.converse({ ...runRequest(conversation, isPlanned ? undefined : model), ...(pictures.length > 0 && { pictures }) }, { ...conversation, messages }, { isPlanned });
  }

  /** @param key of the request. @param start lets the run go on; what happens then is followed. @param isAnswered the last turn's calls are answered by `start` */
  async #follow(
    runId: string, { signal, onText }: TurnOptions, { key, start, isAnswered = false }: { readonly key: string; readonly start: () => unknown; readonly isAnswered?: boolean },
  ): Promise<ConverseResult> {
    const { runs, tools } = this.#options;
    remember(this.#runOf, key, runId);
    const conversation = conversationOf(runs.snapshot(runId));
    const followed = new FollowedTurn(() => runs.snapshot(runId), { onText, isAnswered });
    const stop = runs.listen(followed.listener(runId));
    const gone = (): void => {
      followed.fail(signal.reason);
      runs.cancel(runId);
    };
    this.#followed.set(runId, (this.#followed.get(runId) ?? 0) + 1);
    signal.addEventListener('abort', gone, { once: true });
    try {
      if (signal.aborted) gone();
      else await start();
      followed.look();
      const result = await followed.result;
      if (speakerOf(runs.snapshot(runId))?.output === undefined) tools.expect(runId, sessionKey(conversation), result.calls, (tools.latest(runId) ?? conversation).toolChoice);
      // Who asks the same once more after an answer wants another one, as an evaluation that tries each of its samples several times.
      if (!tools.gaveNothing(runId) && this.#runOf.get(key) === runId) this.#runOf.delete(key);
      return result;
    } finally {
      signal.removeEventListener('abort', gone);
      stop();
      const others = (this.#followed.get(runId) ?? 1) - 1;
      if (others > 0) this.#followed.set(runId, others);
      else this.#followed.delete(runId);
      if (isOver(runs.snapshot(runId).state) || signal.aborted) tools.forget(runId);
    }
  }
}

/** The newest ones are kept. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED && oldest !== undefined) map.delete(oldest);
}

/** One turn of the speaker, from the state of its run when the client asked for it. */
class FollowedTurn {
  readonly #snapshot: () => RunSnapshot;
  readonly #onText: (text: string) => void;
  #turnsBefore: number;
  readonly #usdBefore: number;
  readonly #unpricedBefore: number;
  readonly #end = Promise.withResolvers<ConverseResult>();
  #speaker: Usage = NO_USAGE;
  #others: Usage = NO_USAGE;
  #hasStarted = false;
  #attempt: string | undefined;
  /** Of the attempt. */
  #sent = '';
  /** Of the turn. */
  #text = '';

  constructor(snapshot: () => RunSnapshot, { onText, isAnswered }: { readonly onText: (text: string) => void; readonly isAnswered: boolean }) {
    this.#snapshot = snapshot;
    this.#onText = onText;
    const run = snapshot();
    const { turns = [] } = speakerOf(run) ?? {};
    // Calls that nobody answered are given again to a client that asks again.
    this.#turnsBefore = isAnswered ? turns.length : turns.filter(({ observation }) => observation !== undefined).length;
    this.#usdBefore = run.spent.usd;
    this.#unpricedBefore = run.spent.unpricedTokens;
    // Whoever waits for it comes later.
    this.#end.promise.catch(() => {});
  }

  get result(): Promise<ConverseResult> {
    return this.#end.promise;
  }

  fail(reason: unknown): void {
    this.#end.reject(reason);
  }

  listener(runId: string): RunListener {
    return {
      onEvent: (stored: StoredEvent) => { if (stored.runId === runId) this.#take(stored.event); },
      onText: (text) => { if (text.runId === runId && text.purpose.kind === 'step') this.#stream(speakerOf(this.#snapshot())); },
      onRemoved: (removed) => { if (removed === runId) this.fail(new TurnError('run-removed', 'The run of this conversation was removed: ask again.')); },
    };
  }

  /** Looks at the run as it stands, with what happened before anybody listened. */
  look(): void {
    this.#hasStarted = true;
    this.#settle();
  }

  #take(event: RunEvent): void {
    if ('usage' in event) {
      const last = (speakerOf(this.#snapshot())?.index ?? -1);
      const isSpeaker = (event.type === 'step.turned' || event.type === 'step.completed') && event.step === last;
      if (isSpeaker) this.#speaker = event.usage;
      else this.#others = addUsage(this.#others, event.usage);
    }
    // Another worker speaks, whose turns are counted anew.
    if (event.type === 'step.reassigned') this.#turnsBefore = 0;
    if (this.#hasStarted) this.#settle();
  }

  #settle(): void {
    const run = this.#snapshot();
    const step = speakerOf(run);
    const turn = step?.turns?.at(-1);
    this.#stream(step);
    if (step?.output !== undefined) return this.#finish(run, step, { text: step.output, calls: [] });
    if (turn && (step?.turns?.length ?? 0) > this.#turnsBefore && turn.observation === undefined) return this.#finish(run, step as StepView, { text: turn.reply, calls: [...(turn.calls ?? [])] });
    if (isOver(run.state)) this.fail(errorOf(run));
  }

  #finish(run: RunSnapshot, step: StepView, { text, calls }: Pick<ConverseResult, 'text' | 'calls'>): void {
    this.#say(text.startsWith(this.#sent) ? text.slice(this.#sent.length) : `${BEGINS_AGAIN}${text}`);
    this.#sent = text;
    const { finishReason = 'stop' } = step;
    const isUnpriced = run.spent.unpricedTokens > this.#unpricedBefore;
    this.#end.resolve({
      runId: run.runId, worker: run.pool[step.worker]?.id ?? '', text: this.#text, calls, finishReason: finishReason === 'stopped' ? 'stop' : finishReason,
      usage: this.#speaker, orchestration: this.#others,
      cost: { ...(!isUnpriced && { usd: Math.max(0, run.spent.usd - this.#usdBefore) }), estimated: this.#speaker.estimated || this.#others.estimated },
      ...(run.pool.some(({ simulated }) => simulated) && { simulated: true }),
    });
  }

  #stream(step: StepView | undefined): void {
    const { attempt } = step ?? {};
    if (!attempt || attempt.ended || attempt.text === '') return;
    if (this.#attempt !== attempt.attemptId) {
      if (this.#sent !== '') this.#say(BEGINS_AGAIN);
      this.#attempt = attempt.attemptId;
      this.#sent = '';
    }
    this.#say(attempt.text.slice(this.#sent.length));
    this.#sent = attempt.text;
  }

  #say(text: string): void {
    if (text === '') return;
    this.#text += text;
    this.#onText(text);
  }
}

/** The step that speaks; undefined before there is a plan. */
function speakerOf({ rounds }: RunSnapshot): StepView | undefined {
  return rounds[0]?.steps.at(-1);
}

function conversationOf({ runId, conversation }: RunSnapshot): Conversation {
  if (!conversation) throw new TurnError('failed', `Run "${runId}" is no conversation.`);
  return conversation;
}

/** What OpenCode and Kilo let the model say after them, that it has no more turns, is no turn of the speaker. */
function hasResultsLast({ messages }: Pick<Conversation, 'messages'>): boolean {
  const last = messages.findLastIndex((message) => message.role !== 'assistant' || (message.toolCalls ?? []).length > 0);
  const spoken = messages.slice(0, last + 1).findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(spoken + 1, last + 1).some(({ role }) => role === 'tool');
}

/**
 * Whether messages go on from what a run was told without what it called: with nothing that was answered, or with the text alone. With another answer in its
 * place, they are of another conversation that began alike, as when an evaluation tries a sample several times at once.
 */
function leavesOut(messages: readonly SpokenMessage[], told: Pick<Conversation, 'messages'>, reply: string): boolean {
  const since = messages.slice(told.messages.length);
  const answer = since.find(({ role }) => role === 'assistant');
  return answer === undefined ? since.length > 0 : reply !== '' && answer.content.includes(reply);
}

/** Whether a run was left before it gave what its client asked for. One that runs has lost its client a moment ago. */
function isUnfinished(runs: Pick<RunService, 'snapshot'>, runId: string): boolean {
  try {
    const run = runs.snapshot(runId);
    // Who asks again after nothing came wants something else.
    if (run.failure?.kind === 'empty-answer') return false;
    return (run.state === 'running' || run.state === 'cancelled' || run.state === 'failed') && speakerOf(run)?.output === undefined && run.pool.length > 0;
  } catch {
    // It was removed.
    return false;
  }
}

function errorOf({ state, failure, stoppedBy, message = 'The run ended without an answer: ask again.' }: RunSnapshot): TurnError {
  const kind = state === 'stopped' ? 'budget-spent' : state === 'cancelled' ? 'run-cancelled' : failure?.kind ?? 'failed';
  const isOfDay = state === 'stopped' && (stoppedBy === 'dayUsd' || stoppedBy === 'dayTokens');
  return new TurnError(kind, failure?.message ?? message, isOfDay ? msUntilMidnight(new Date()) : failure?.retryAfterMs);
}

/** The budget of a day is renewed at the person's midnight. */
function msUntilMidnight(now: Date): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1).getTime() - now.getTime();
}

function runRequest({ messages }: Conversation, worker: string | undefined): RunRequest {
  const question = personWords(messages) || 'Go on.';
  const clipped = question.length <= MAX_QUESTION ? question : `${question.slice(0, MAX_QUESTION / 2)}\n[…]\n${question.slice(-MAX_QUESTION / 2)}`;
  return runRequestSchema.parse({ question: clipped, rounds: 1, testCommand: null, ...(worker !== undefined && { workers: [worker], conductor: worker }) });
}
