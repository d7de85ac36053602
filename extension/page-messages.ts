import * as vscode from 'vscode';
import type { PageMessage } from '../backend/protocol/panel-messages.ts';
import type { AnswerReview } from './answer-review.ts';
import type { BackendConnection } from './backend-connection.ts';
import { openWorkspaceFile } from './open-file.ts';
import type { PanelStateSource } from './panel-state.ts';
import type { RunCommands } from './run-commands.ts';
import type { RunStore } from './run-store.ts';
import type { SolveCommand } from './solve-command.ts';

export interface PageMessageOptions {
  readonly connection: BackendConnection;
  readonly runs: RunStore;
  readonly panel: PanelStateSource;
  readonly solve: SolveCommand;
  readonly runCommands: RunCommands;
  readonly review: AnswerReview;
}

/** Does what the page asks for. @throws an error with a sentence, for the page to show. */
export async function actOn(message: PageMessage, options: PageMessageOptions): Promise<void> {
  const { connection, runs, panel, solve, runCommands, review } = options;
  switch (message.type) {
    case 'ready':
    case 'retryBackend':
      // Whether it worked is part of the state that the page shows.
      await connection.client().catch(() => undefined);
      return;
    case 'solve': {
      const shown = panel.draft?.question === message.question && panel.draft.preview !== undefined;
      await solve.solve(message.question, shown ? false : undefined);
      return;
    }
    case 'previewContext':
      await solve.preview(message.question);
      return;
    case 'newQuestion':
      panel.ask(message.question);
      return;
    case 'cancel':
      await runCommands.cancel(message.runId);
      return;
    case 'resume':
      await runCommands.resume(message.runId);
      return;
    case 'open':
      await runCommands.open(message.runId);
      return;
    case 'apply':
      await review.show(await runCommands.runOf(message.runId));
      return;
    case 'copy':
      await runCommands.copyAnswer(message.text);
      return;
    case 'insert':
      await runCommands.insertAnswer(message.text);
      return;
    case 'openFile':
      await openWorkspaceFile(runs.run?.request.workspace ?? onlyFolder(), message.path, message.line);
      return;
    case 'addWorker':
      await vscode.commands.executeCommand('conductor.addWorker');
      return;
    case 'manageTrust':
      await vscode.commands.executeCommand('workbench.trust.manage');
      return;
    case 'showLogs':
      await vscode.commands.executeCommand('conductor.showLogs');
      return;
  }
}

function onlyFolder(): string | undefined {
  const [folder, ...others] = vscode.workspace.workspaceFolders ?? [];
  return others.length === 0 ? folder?.uri.fsPath : undefined;
}
