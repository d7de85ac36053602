import { SerialQueue } from '../common/serial-queue.ts';
import type { ContextRequest, GatheredContext } from '../context/context.ts';
import { redactText } from '../common/secrets/secrets.ts';
import { tokensOf } from '../context/tokens.ts';
import type { ProjectFacts } from '../protocol/project-facts.ts';
import { hasAttempts, roundsBefore } from '../protocol/run-facts.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import { askedQuestion } from './asked-question.ts';
import type { BaseRun } from './base-run.ts';
import type { Checker } from './checker.ts';
import { RunError } from './failure.ts';
import { failingText } from './failing-text.ts';
import { both, learnedFromBase, learnedFromEarlier, learnedFromRound, redTests, type Learned } from './learned.ts';
import type { RunFiles } from './run-files.ts';
import type { RunRecorder } from './run-recorder.ts';
import { commandOfRun, pathsOf } from './test-command.ts';

/** Tokens of workspace context that a question is sent with. */
export const CONTEXT_TOKENS = 12_000;

export interface RunContextsOptions {
  readonly recorder: RunRecorder;
  readonly checker: Checker;
  readonly gatherContext: (request: ContextRequest) => Promise<GatheredContext>;
  readonly files: RunFiles;
  readonly signal: AbortSignal;
}

/** What is known of the tests on the code as it is. `failing` is the text for models. */
interface Known {
  readonly knowsBase: boolean;
  readonly failing: string;
}

/** The context request for a run's request. */
export function contextRequestOf({ request }: Pick<RunSnapshot, 'request'>, signal: AbortSignal): ContextRequest {
  const { workspace, focus } = request;
  return { question: askedQuestion(request), workspace, ...focus, tokenBudget: CONTEXT_TOKENS, signal };
}

/**
 * The contexts of a run. The first belongs to the question. Each later round has one of its own, with what the round before taught, and
 * the steps of a round get another one if what fails becomes known while it runs. All are journalled, and each call names its own.
 */
export class RunContexts {
  readonly #options: RunContextsOptions;
  readonly #queue = new SerialQueue();

  constructor(options: RunContextsOptions) {
    this.#options = options;
  }

  get #run(): RunSnapshot {
    return this.#options.recorder.snapshot;
  }

  /**
   * Gathers the first one, beside the tests.
   * @param testCommand the command that judges
   * @throws RunError if a file that the request names cannot be sent
   */
  async first(base: BaseRun, testCommand: string | undefined): Promise<void> {
    if (this.#run.context) return;
    const earlier = learnedFromEarlier(this.#run);
    const gathered = await this.#gather(earlier, '');
    const { focus } = this.#run.request;
    const refused = gathered.leftOut.find(({ path }) =>
      focus.files.some((file) => file.path === path) && !gathered.pieces.some((piece) => piece.path === path));
    if (refused) throw new RunError('context', `"${refused.path}" cannot be sent: ${refused.reason}. Name another file, or ask without it.`);
    await base.known();
    const known = this.#known();
    const first = known.failing === '' ? gathered : await this.#gather(both(learnedFromBase(this.#run), earlier), known.failing);
    this.#record(0, first, known, projectFacts(first, testCommand));
  }

  /** Files that the question is about, the surest first. */
  async about(): Promise<readonly string[]> {
    return pathsOf(this.#run.context ?? (await this.#gather(learnedFromEarlier(this.#run), '')));
  }

  /** The position of the context for the round's next call. It is gathered first if more is known than the last one shows. */
  current(round: number): Promise<number> {
    return this.#queue.run(async () => {
      // Of a training or evaluation, the context is the task's.
      if (this.#run.kind === 'solve') await this.#bringUpToDate(round);
      return this.#run.contexts.length - 1;
    }, this.#options.signal);
  }

  async #bringUpToDate(of: number): Promise<void> {
    const before = roundsBefore(this.#run, of).at(-1);
    // Attempts share one: that of the question, or that behind the local try.
    const round = !before ? 0 : hasAttempts(this.#run) ? before.index + 1 : of;
    const last = this.#run.contexts.at(-1);
    const known = this.#known();
    const isCurrent = last?.round === round && (last.knowsBase || known.failing === '');
    if (isCurrent || !last) return;
    const base = both(learnedFromBase(this.#run), learnedFromEarlier(this.#run));
    const learned = before ? both(learnedFromRound(this.#run, before, await this.#placesOf(before)), base) : base;
    this.#record(round, await this.#gather(learned, known.failing), known);
  }

  #known(): Known {
    const result = this.#run.base?.result;
    return { knowsBase: result !== undefined, failing: result ? failingText(result) : '' };
  }

  async #placesOf(round: RunSnapshot['rounds'][number]): ReturnType<NonNullable<Checker['placesOf']>> {
    const { checker, files, signal } = this.#options;
    const { request } = this.#run;
    const ids = redTests(round).map(({ id }) => id);
    const test = ids.length > 0 && checker.placesOf ? await commandOfRun(this.#run, checker) : undefined;
    if (!test || request.workspace === undefined || !checker.placesOf) return new Map();
    try {
      return await checker.placesOf(ids, { ...test, ...files.base(request.workspace), signal });
    } catch {
      // The places only help the search.
      signal.throwIfAborted();
      return new Map();
    }
  }

  /** The failing tests are shown beside the context, and count as a part of it. */
  #gather(learned: Learned, failing: string): Promise<GatheredContext> {
    const { gatherContext, files, signal } = this.#options;
    const request = contextRequestOf(this.#run, signal);
    const wanted = { ...request, ...learned, tokenBudget: request.tokenBudget - tokensOf(failing) };
    const { workspace } = request;
    return workspace === undefined ? gatherContext(wanted) : files.read(workspace, (folder) => gatherContext({ ...wanted, workspace: folder }));
  }

  #record(round: number, { pieces, leftOut, tokens, text }: GatheredContext, { knowsBase, failing }: Known, project?: ProjectFacts): void {
    this.#options.recorder.record([{
      type: 'context.gathered', pieces: [...pieces], leftOut: [...leftOut], tokens, text,
      ...(round > 0 && { round }),
      ...(knowsBase && { knowsBase }),
      ...(failing !== '' && { failing }),
      ...(project && { project }),
    }]);
  }
}

/** A command with what looks like a key in it is not told. */
function projectFacts({ languages = [] }: GatheredContext, testCommand: string | undefined): ProjectFacts | undefined {
  const isTold = testCommand !== undefined && redactText(testCommand) === testCommand;
  return languages.length > 0 || isTold ? { ...(languages.length > 0 && { languages: [...languages] }), ...(isTold && { testCommand }) } : undefined;
}
