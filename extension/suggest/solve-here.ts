import * as vscode from 'vscode';
import type { RunSummary } from '../../backend/protocol/methods.ts';
import { answerOf } from '../../backend/protocol/run-facts.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { NextStepError, offerSteps } from '../common/next-step.ts';
import type { RunCommands } from '../runs/run-commands.ts';
import { questionProblem, type SolveCommand } from '../runs/solve-command.ts';
import { relativePath } from '../common/workspace-paths.ts';
import type { AnswerGhost } from './answer-ghost.ts';
import { textAtCursor } from './text-at-cursor.ts';

export interface SolveHereOptions {
  readonly connection: BackendConnection;
  readonly solve: Pick<SolveCommand, 'solve' | 'requireWorker'>;
  readonly runCommands: Pick<RunCommands, 'open'>;
  readonly ghost: AnswerGhost;
}

/** The place of the question. */
interface Asked {
  readonly document: vscode.TextDocument;
  readonly position: vscode.Position;
  readonly path: string;
  readonly text: string;
}

/** `Conductor: Solve Here`: a normal question whose answer is shown as ghost text at the cursor. */
export class SolveHere {
  readonly #options: SolveHereOptions;

  constructor(options: SolveHereOptions) {
    this.#options = options;
  }

  /**
   * @param argument a `{question}` from a keybinding or a test; other values, as from menus, are ignored
   * @returns the run's id once its answer is shown; undefined if the user cancels
   */
  async run(argument?: unknown): Promise<string | undefined> {
    const { readSolveArguments } = await import('../runs/solve-input.ts');
    const given = readSolveArguments(argument);
    await this.#options.solve.requireWorker();
    const asked = await askedAt(vscode.window.activeTextEditor);
    const question = given?.question ?? (await askQuestion());
    if (question === undefined) return undefined;
    const ended = this.#endOfRuns();
    try {
      const { path, position } = asked;
      const insertAt = { path, line: position.line + 1, column: position.character + 1 };
      const runId = await this.#options.solve.solve(question, given?.confirmContext, { inPanel: false, insertAt });
      if (runId !== undefined) await this.#show(await ended.of(runId), asked);
      return runId;
    } finally {
      ended.stop();
    }
  }

  async #show(runId: string, asked: Asked): Promise<void> {
    const { connection, runCommands, ghost } = this.#options;
    const { run } = await connection.request('run/get', { runId });
    const answer = run.state === 'completed' ? answerOf(run)?.text : undefined;
    const { document, position, path, text } = asked;
    if (answer !== undefined && document.getText() === text && !document.isClosed) {
      const { edits } = await connection.request('run/edits', { runId });
      const atCursor = textAtCursor({ edits, answer, path, text, offset: document.offsetAt(position) });
      if (atCursor !== undefined) return ghost.show(document, position, atCursor);
    }
    await runCommands.open(runId);
    if (answer === undefined) return;
    offerSteps(vscode.l10n.t('The answer does not fit at the cursor alone.'), [
      { label: vscode.l10n.t('Review Answer'), command: 'conductor.applyAnswer' },
    ]);
  }

  /** Listens immediately, so that a run that ends before its id is known is not missed. */
  #endOfRuns(): { of(runId: string): Promise<string>; stop(): void } {
    const over = new Set<string>();
    const waiting = new Map<string, (runId: string) => void>();
    const note = ({ runId, state }: Pick<RunSummary, 'runId' | 'state'>): void => {
      if (state === 'running' || state === 'waiting') return;
      over.add(runId);
      waiting.get(runId)?.(runId);
    };
    const { connection } = this.#options;
    const stopListening = connection.on('run/changed', note);
    // Events during a lost connection were missed.
    const stopLooking = connection.connected.on((client) => {
      for (const runId of waiting.keys()) client.request('run/get', { runId }).then(({ run }) => note(run), () => undefined);
    });
    return {
      of: (runId) => over.has(runId) ? Promise.resolve(runId) : new Promise((resolve) => waiting.set(runId, resolve)),
      stop: () => {
        stopListening();
        stopLooking();
      },
    };
  }
}

/** The backend reads files, not editors. Saves first, so that the answer matches what the user sees. */
async function askedAt(editor: vscode.TextEditor | undefined): Promise<Asked> {
  const folder = editor && vscode.workspace.getWorkspaceFolder(editor.document.uri);
  const path = editor && folder?.uri.scheme === 'file' ? relativePath(folder.uri.fsPath, editor.document.uri.fsPath) : undefined;
  if (!editor || path === undefined) {
    throw new NextStepError(vscode.l10n.t('Put the cursor into a file of an open folder: the answer is shown there.'));
  }
  const { document } = editor;
  if (document.isDirty && !(await document.save())) {
    throw new Error(vscode.l10n.t('The file could not be saved, and the question would be about what is on disk.'));
  }
  return { document, position: editor.selection.active, path, text: document.getText() };
}

async function askQuestion(): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t('Conductor: Solve Here'),
    prompt: vscode.l10n.t('What belongs at the cursor?'),
    placeHolder: vscode.l10n.t('Sort the orders by date, newest first'),
    ignoreFocusOut: true,
    validateInput: questionProblem,
  });
}
