import type { ContextRequest, GatheredContext } from '../context/context.ts';
import type { Journal } from '../journal/journal.ts';
import type { Earlier } from '../protocol/earlier.ts';
import type { FileEdit, ModelMessage, RunFileFormat } from '../protocol/methods.ts';
import type { LocalFirst } from '../protocol/local-first.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import { answerOf } from '../protocol/run-facts.ts';
import type { RoundView, RunSnapshot, StepView } from '../protocol/run-snapshot.ts';
import type { FoundTests, LikelyCommand, TestCommand } from '../protocol/test-command.ts';
import { ALL_ALIKE, expectation, recordBook } from '../records/worker-records.ts';
import type { Patch } from '../verify/patch/patch.ts';
import { admit } from './admit.ts';
import { answerPatch, wholeStepPatch } from './answer-patch.ts';
import type { Checker } from './checker.ts';
import { isBuiltOn } from './follow-up/build-on.ts';
import { placeChange, takeBackChange } from './follow-up/earlier-change.ts';
import { readEarlier } from './follow-up/read-earlier.ts';
import { learnedFromEarlier } from './learned.ts';
import type { Clients } from './clients.ts';
import { RunRefusedError } from './errors.ts';
import type { StepPlace } from './kept-events.ts';
import { exportedRun } from './export/exported-run.ts';
import { runMarkdown } from './export/run-markdown.ts';
import { whoTries } from './local-first.ts';
import { planPromptOf } from './plan-prompt.ts';
import { contextRequestOf } from './run-contexts.ts';
import { RunFiles } from './run-files.ts';
import type { Cast } from './run-pool.ts';
import type { ContextPreview, RunQuestions } from './run-service.ts';
import { promptOf } from './step-prompt.ts';
import { judgingCommand, pathsOf } from './test-command.ts';

/** How long the files of a project are read for a diff to show. */
const READ_MS = 60_000;

export interface RunReaderOptions {
  readonly snapshot: (runId: string) => RunSnapshot;
  readonly clients: Pick<Clients, 'secret'>;
  readonly checker: Checker;
  readonly journal: Pick<Journal, 'localTries' | 'judgedSteps'>;
  /** Who would take part in the next run. */
  readonly castNext: (workspace: string | undefined) => Promise<Cast>;
  readonly gatherContext: (request: ContextRequest) => Promise<GatheredContext>;
}

/** Answers questions about runs and workspaces; it changes nothing. */
export class RunReader implements RunQuestions {
  readonly #options: RunReaderOptions;

  constructor(options: RunReaderOptions) {
    this.#options = options;
  }

  prompt(runId: string, round: number, step: number | undefined): ModelMessage[] {
    const run = this.#options.snapshot(runId);
    const messages = step === undefined ? planPromptOf(run, round) : promptOf(run, round, step);
    if (!messages) {
      throw new RunRefusedError(step === undefined
        ? 'The Conductor has not been asked for this plan yet.'
        : 'The step has not been sent anything yet: what it reads is not there.');
    }
    return messages.map(({ role, content }) => ({ role, content }));
  }

  async export(runId: string, format: RunFileFormat): Promise<{ text: string; fileName: string }> {
    const run = this.#options.snapshot(runId);
    const names = new Set([...run.pool, run.policy.worker].flatMap((worker) => worker?.key ?? []));
    const keys = await Promise.all([...names].map((name) => this.#options.clients.secret(name)));
    const exported = exportedRun(run, keys.flatMap((key) => key ?? []));
    return format === 'json'
      ? { text: `${JSON.stringify(exported, undefined, 2)}\n`, fileName: `conductor-${runId}.json` }
      : { text: runMarkdown(exported), fileName: `conductor-${runId}.md` };
  }

  async edits(runId: string, { takeBack = false } = {}): Promise<{ edits: FileEdit[]; refused: { path: string; reason: string }[] }> {
    const run = this.#options.snapshot(runId);
    const answer = answerOf(run);
    if (!answer) throw new RunRefusedError(`Run "${runId}" has no answer yet.`);
    if (run.request.workspace === undefined) return { edits: [], refused: [] };
    if (takeBack) {
      const back = await takeBackChange(answer.round.answer?.edits ?? [], run.request.workspace);
      return { edits: [...back.edits], refused: [...back.lost] };
    }
    const { edits, refused } = isBuiltOn(run)
      ? await wholeChangeOf(run, answer.round, run.request.workspace)
      : await answerPatch(this.#options.checker, run, answer.round.index, { output: answer.text, folder: run.request.workspace });
    return { edits: [...edits], refused: [...refused] };
  }

  async stepEdits(runId: string, { round, step }: StepPlace): Promise<{ edits: FileEdit[]; refused: { path: string; reason: string }[] }> {
    const run = this.#options.snapshot(runId);
    const view = run.rounds[round]?.steps[step];
    if (!view) throw new RunRefusedError(`Run "${runId}" has no step ${step + 1} in round ${round + 1}.`);
    const { workspace } = run.request;
    if (workspace === undefined) return { edits: [], refused: [] };
    const { edits, refused } = await this.#stepPatch(run, round, { step: view, workspace });
    return { edits: [...edits], refused: refused.map(({ path, reason }) => ({ path, reason })) };
  }

  async #stepPatch(run: RunSnapshot, round: number, { step, workspace }: { readonly step: StepView; readonly workspace: string }): Promise<Patch> {
    const { checker } = this.#options;
    const files = new RunFiles({ checker, signal: AbortSignal.timeout(READ_MS), begins: run.earlier?.change });
    try {
      return await wholeStepPatch(checker, run, round, { step, workspace, files });
    } finally {
      files.letGo();
    }
  }

  async previewContext(request: RunRequest, signal: AbortSignal): Promise<ContextPreview> {
    await admit(request);
    const { snapshot, checker } = this.#options;
    const earlier = request.continues === undefined ? undefined : await readEarlier(snapshot(request.continues), request);
    const { pieces, leftOut, tokens, text } = await this.#gather(request, earlier, signal);
    const test = await judgingCommand(request, checker, { about: async () => pathsOf({ pieces }) });
    const likelyTests = test ? [] : [...(await this.likelyTests(request.workspace))];
    return { pieces, leftOut, tokens, text, testCommand: test?.command ?? null, testRunner: test?.runner, ...(!test && { likelyTests }), ...(earlier && { earlier }) };
  }

  async #gather(request: RunRequest, earlier: Earlier | undefined, signal: AbortSignal): Promise<GatheredContext> {
    const { checker, gatherContext } = this.#options;
    const wanted = { ...contextRequestOf({ request }, signal), ...(earlier && learnedFromEarlier({ earlier })) };
    const { workspace } = request;
    if (workspace === undefined) return await gatherContext(wanted);
    const files = new RunFiles({ checker, signal, begins: earlier?.change });
    try {
      return await files.read(workspace, (folder) => gatherContext({ ...wanted, workspace: folder }));
    } finally {
      files.letGo();
    }
  }

  async localFirst(workspace: string | undefined): Promise<LocalFirst> {
    const { journal, castNext } = this.#options;
    const { pool, policy: { worker: planner }, recordsOff } = await castNext(workspace);
    const first = whoTries(pool, planner, recordsOff ? ALL_ALIKE : expectation(recordBook(journal), { project: workspace }));
    if (typeof first === 'string') return {};
    const worker = pool[first]?.id;
    return { ...(worker !== undefined && { worker }), ...(workspace !== undefined && { record: journal.localTries(workspace) }) };
  }

  findTests(workspace: string): Promise<readonly FoundTests[]> {
    return this.#options.checker.findTestCommands(workspace);
  }

  async likelyTests(workspace: string | undefined): Promise<readonly LikelyCommand[]> {
    return workspace === undefined ? [] : ((await this.#options.checker.likelyCommands?.(workspace)) ?? []);
  }

  runnerOf(test: TestCommand, workspace: string): Promise<string | undefined> {
    return this.#options.checker.runnerOf(test, workspace);
  }
}

/** The whole change of an answer that builds on an earlier one. What is in the workspace already is no edit of it. */
async function wholeChangeOf({ earlier }: RunSnapshot, { answer }: RoundView, workspace: string): Promise<Pick<Patch, 'edits' | 'refused'>> {
  const { edits, lost } = await placeChange(answer?.edits ?? [], workspace, earlier?.change?.edits);
  const refused = [...(answer?.refused ?? []), ...(answer?.leftOut ?? [])];
  return { edits, refused: [...lost, ...refused.map(({ path, reason }) => ({ path, reason }))] };
}
