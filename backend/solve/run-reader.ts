import type { ContextRequest, GatheredContext } from '../context/context.ts';
import type { FileEdit, ModelMessage, RunFileFormat } from '../protocol/methods.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import { answerOf, type RunSnapshot } from '../protocol/run-snapshot.ts';
import type { FoundTests, LikelyCommand, TestCommand } from '../protocol/test-command.ts';
import { admit } from './admit.ts';
import { answerPatch, stepPatch } from './answer-patch.ts';
import type { Checker } from './checker.ts';
import type { Clients } from './clients.ts';
import { RunRefusedError } from './errors.ts';
import type { StepPlace } from './kept-events.ts';
import { exportedRun } from './export/exported-run.ts';
import { runMarkdown } from './export/run-markdown.ts';
import { planPromptOf } from './plan-prompt.ts';
import { contextRequestOf } from './run-contexts.ts';
import type { ContextPreview, RunQuestions } from './run-service.ts';
import { promptOf } from './step-prompt.ts';
import { judgingCommand } from './test-command.ts';

export interface RunReaderOptions {
  readonly snapshot: (runId: string) => RunSnapshot;
  readonly clients: Pick<Clients, 'secret'>;
  readonly checker: Checker;
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

  async edits(runId: string): Promise<{ edits: FileEdit[]; refused: { path: string; reason: string }[] }> {
    const run = this.#options.snapshot(runId);
    const answer = answerOf(run);
    if (!answer) throw new RunRefusedError(`Run "${runId}" has no answer yet.`);
    if (run.request.workspace === undefined) return { edits: [], refused: [] };
    const { edits, refused } = await answerPatch(this.#options.checker, run, answer.round.index, { output: answer.text, folder: run.request.workspace });
    return { edits: [...edits], refused: [...refused] };
  }

  async stepEdits(runId: string, { round, step }: StepPlace): Promise<{ edits: FileEdit[]; refused: { path: string; reason: string }[] }> {
    const run = this.#options.snapshot(runId);
    const view = run.rounds[round]?.steps[step];
    if (!view) throw new RunRefusedError(`Run "${runId}" has no step ${step + 1} in round ${round + 1}.`);
    const { workspace } = run.request;
    if (workspace === undefined) return { edits: [], refused: [] };
    const { edits, refused } = await stepPatch(this.#options.checker, run, round, { step: view, folder: workspace });
    return { edits: [...edits], refused: refused.map(({ path, reason }) => ({ path, reason })) };
  }

  async previewContext(request: RunRequest, signal: AbortSignal): Promise<ContextPreview> {
    await admit(request);
    const { pieces, leftOut, tokens, text } = await this.#options.gatherContext(contextRequestOf({ request }, signal));
    const test = await judgingCommand(request, this.#options.checker);
    const likelyTests = test ? [] : [...(await this.likelyTests(request.workspace))];
    return { pieces, leftOut, tokens, text, testCommand: test?.command ?? null, testRunner: test?.runner, ...(!test && { likelyTests }) };
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
