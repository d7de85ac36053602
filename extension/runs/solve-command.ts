import * as vscode from 'vscode';
import type { ContextPreview } from '../../backend/protocol/panel-messages.ts';
import type { FileRange, RunRequestInput } from '../../backend/protocol/run-request.ts';
import { messageOf, type BackendConnection } from '../common/backend-connection.ts';
import type { ContextConfirmation } from './context-confirmation.ts';
import { chooseFolder, lookingAt, type FolderChoice, type LookedAt } from '../common/looking-at.ts';
import { addWorkerStep, demonstrationStep, NextStepError, offerSteps } from '../common/next-step.ts';
import type { PoolStore } from '../workers/pool-store.ts';
import type { RunStore } from './run-store.ts';
import { openFolder } from '../common/open-folder.ts';
import { readSettings } from '../common/settings.ts';
import { readTestSettings } from '../common/test-settings.ts';

/** The parts of the panel that this command uses. */
export interface SolvePanel {
  ask(question: string): void;
  showDraft(question: string, shown: { readonly preview: ContextPreview } | { readonly problem: string }): void;
  showRun(): void;
}

export interface SolveOptions {
  readonly connection: BackendConnection;
  readonly runs: RunStore;
  readonly poolStore: Pick<PoolStore, 'hasEnabledWorker' | 'refresh'>;
  readonly panel: SolvePanel;
  readonly confirmation: ContextConfirmation;
  readonly lookedAt: Pick<LookedAt, 'editor'>;
  readonly showPanel: () => Promise<void>;
  readonly chooseTests: () => Promise<boolean>;
}

const MAX_QUESTION_CHARACTERS = 32_000;

/** The run that a question continues from. */
export interface Continued {
  readonly runId: string;
  readonly workspace: string | undefined;
}

/** What a question comes with. */
export interface Asked {
  /** The cursor where the answer is inserted. */
  readonly insertAt?: RunRequestInput['insertAt'] | undefined;
  /** The run that the question continues from. */
  readonly continues?: Continued | undefined;
  readonly pictures?: RunRequestInput['pictures'];
  readonly attempts?: number | undefined;
  /** All attempts at the same time. */
  readonly atOnce?: boolean | undefined;
  /** The folder of the question; by default that of the editor, or the one that the user picks. */
  readonly folder?: vscode.WorkspaceFolder | undefined;
  /** Files that the user attached, paths relative to the folder. */
  readonly files?: readonly FileRange[] | undefined;
  /** `always` shows each plan before its workers are paid; by default the setting decides. */
  readonly reviewPlan?: 'always' | undefined;
  /** `ask`: the panel asks whether tests that failed before must pass, where an answer fails for them alone. */
  readonly failedBefore?: 'ask' | undefined;
}

interface Prepared {
  readonly request: RunRequestInput;
  /** The folder of the question. */
  readonly folder: vscode.WorkspaceFolder | undefined;
  readonly confirmContext: boolean;
}

/** Turns a question into a run that the panel shows. */
export class SolveCommand {
  readonly #options: SolveOptions;

  constructor(options: SolveOptions) {
    this.#options = options;
  }

  /**
   * `Conductor: Solve`.
   * @param argument a `{question}`; other values, as from menus, are ignored
   * @returns the run's id; undefined if the user cancels
   */
  async run(argument?: unknown): Promise<string | undefined> {
    const { readSolveArguments } = await import('./solve-input.ts');
    const given = readSolveArguments(argument);
    const question = given?.question ?? (await askQuestion());
    if (question === undefined) return undefined;
    if (given === undefined && !(await this.#somebodyAnswers())) return this.#keep(question);
    return this.solve(question, given?.confirmContext);
  }

  /** @throws NextStepError if there is no worker */
  async requireWorker(): Promise<void> {
    if (await this.#somebodyAnswers()) return;
    throw new NextStepError(vscode.l10n.t('There is no worker yet that can answer.'), addWorkerStep(), demonstrationStep());
  }

  /** Whether there is any worker; the run reports problems with one. */
  async #somebodyAnswers(): Promise<boolean> {
    const { poolStore } = this.#options;
    if (!poolStore.hasEnabledWorker) await poolStore.refresh();
    return poolStore.hasEnabledWorker;
  }

  /** Keeps the question in the panel until there is a worker. */
  async #keep(question: string): Promise<undefined> {
    const { panel, showPanel } = this.#options;
    panel.ask(question);
    await showPanel();
    const message = vscode.l10n.t('There is no worker yet that can answer. Your question stays in the panel until you add one.');
    offerSteps(message, [addWorkerStep(), demonstrationStep()]);
  }

  /**
   * Starts a run after showing its context.
   * @param confirm whether to show the context first; defaults to the setting
   * @param options `inPanel`: false opens the run without showing the panel.
   * @returns the run's id; undefined if the user cancels
   * @throws an error with a sentence if the backend refuses the question
   */
  async solve(question: string, confirm?: boolean, { inPanel = true, ...asked }: Asked & { readonly inPanel?: boolean } = {}): Promise<string | undefined> {
    const runId = await this.start(question, { ...asked, confirm, ...(inPanel && { failedBefore: 'ask', onSent: this.#options.showPanel }) });
    if (runId !== undefined) await this.show(runId);
    return runId;
  }

  /** Shows the run wherever the panel is open. */
  async show(runId: string): Promise<void> {
    await this.#options.runs.open(runId);
    this.#options.panel.showRun();
  }

  /**
   * Starts a run after showing its context, and leaves it to the caller to follow it.
   * @param options `confirm`: whether to show the context first; defaults to the setting. `signal` closes what is shown before the run begins.
   * @returns the run's id; undefined if the user cancels
   * @throws an error with a sentence if the backend refuses the question
   */
  async start(
    question: string,
    { confirm, signal, onSent, ...asked }: Asked & {
      readonly confirm?: boolean | undefined; readonly signal?: AbortSignal | undefined; readonly onSent?: (() => Promise<void>) | undefined;
    } = {},
  ): Promise<string | undefined> {
    const prepared = await this.#request(question, asked);
    if (!prepared || signal?.aborted) return undefined;
    const { confirmContext } = prepared;
    // An empty question, or one in Restricted Mode, is sent without context: its run fails immediately with the reason.
    const sendsContext = question.trim() !== '' && vscode.workspace.isTrusted;
    const request = sendsContext && (confirm ?? confirmContext) ? await this.#confirm(prepared, signal) : prepared.request;
    if (!request || signal?.aborted) return undefined;
    const [{ runId }] = await Promise.all([this.#options.connection.request('run/start', { request }), onSent?.()]);
    return runId;
  }

  /** The request of a question, without sending it. @returns undefined if the user cancels */
  async request(question: string, asked: Asked = {}): Promise<RunRequestInput | undefined> {
    return (await this.#request(question, asked))?.request;
  }

  /** Shows a preview of the question's context in the panel. Nothing leaves the machine. */
  async preview(question: string): Promise<void> {
    const { connection, panel } = this.#options;
    const prepared = await this.#request(question);
    if (!prepared) return;
    try {
      panel.showDraft(question, { preview: await connection.request('context/preview', { request: prepared.request }) });
    } catch (error) {
      panel.showDraft(question, { problem: messageOf(error) });
    }
  }

  /** @returns the request to send; undefined if the user cancels */
  async #confirm({ request, folder }: Prepared, signal: AbortSignal | undefined): Promise<RunRequestInput | undefined> {
    const { confirmation, chooseTests } = this.#options;
    let now = request;
    for (;;) {
      const wish = await confirmation.confirm(now, signal);
      if (wish === 'send') return now;
      if (wish === 'dismiss') return undefined;
      await chooseTests();
      now = { ...now, ...readTestSettings(folder?.uri) };
    }
  }

  async #request(
    question: string, { insertAt, continues, pictures = [], attempts, atOnce, folder: named, files, reviewPlan: review, failedBefore }: Asked = {},
  ): Promise<Prepared | undefined> {
    const { editor } = this.#options.lookedAt;
    const choice = await this.#folderOf(named, continues);
    if (choice.kind === 'dismissed') return undefined;
    const folder = choice.kind === 'folder' ? choice.folder : undefined;
    const { rounds, localFirst, confirmContext, reviewPlan } = readSettings(folder?.uri);
    const request: RunRequestInput = {
      question,
      ...(pictures.length > 0 && { pictures }),
      trusted: vscode.workspace.isTrusted,
      rounds,
      ...(localFirst && { localFirst }),
      ...(attempts !== undefined && { attempts }),
      ...(atOnce && { atOnce }),
      ...((review ?? reviewPlan) && { reviewPlan: review ?? reviewPlan }),
      ...(failedBefore && { failedBefore }),
      ...(insertAt && { insertAt }),
      ...(continues && { continues: continues.runId }),
      ...(folder && { workspace: folder.uri.fsPath, focus: { ...lookingAt(folder, editor), ...(files && { files: [...files] }) } }),
      ...readTestSettings(folder?.uri),
    };
    const { checkRequest } = await import('./solve-input.ts');
    checkRequest(request);
    return { request, folder, confirmContext };
  }

  async #folderOf(named: vscode.WorkspaceFolder | undefined, continues: Continued | undefined): Promise<FolderChoice> {
    if (continues?.workspace !== undefined) return openFolderOf(continues.workspace);
    return named ? { kind: 'folder', folder: named } : chooseFolder(undefined, this.#options.lookedAt.editor);
  }
}

/** @throws NextStepError if the folder is not open in this window: a question is asked where its answer can be applied */
function openFolderOf(workspace: string): FolderChoice {
  const folder = openFolder(workspace);
  if (!folder) throw new NextStepError(vscode.l10n.t('The run belongs to the folder {0}, which is not open in this window.', workspace));
  return { kind: 'folder', folder };
}

async function askQuestion(): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t('Conductor: Solve'),
    prompt: vscode.l10n.t('What do you want to know or have changed? Name files with #path.'),
    placeHolder: vscode.l10n.t('Why does merge() lose the outer interval?'),
    ignoreFocusOut: true,
    validateInput: questionProblem,
  });
}

/** Why the question is invalid; undefined if it is valid. */
export function questionProblem(text: string): string | vscode.InputBoxValidationMessage | undefined {
  if (text.trim() === '') return { message: vscode.l10n.t('Write a question.'), severity: vscode.InputBoxValidationSeverity.Info };
  if (text.length <= MAX_QUESTION_CHARACTERS) return undefined;
  return vscode.l10n.t('At most {0} characters: name files with #path instead of pasting them.', MAX_QUESTION_CHARACTERS);
}
