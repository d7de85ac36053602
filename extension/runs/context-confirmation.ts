import * as vscode from 'vscode';
import type { ContextPreview } from '../../backend/protocol/panel-messages.ts';
import type { RunRequestInput } from '../../backend/protocol/run-request.ts';
import { readingOf } from '../../backend/protocol/test-runners.ts';
import { messageOf, type BackendConnection } from '../common/backend-connection.ts';
import { plainLabel } from '../common/plain-message.ts';
import { SCHEMES, type VirtualDocuments } from '../common/virtual-documents.ts';
import { insideFolder } from '../common/workspace-paths.ts';

interface Item extends vscode.QuickPickItem {
  readonly choice?: 'send' | 'save' | 'choose-tests' | { readonly path: string; readonly startLine: number };
}

/** The user's choice after viewing the list. */
export type Wish = 'send' | 'choose-tests' | 'dismiss';

/** Shows the context of a question, piece by piece with the reason for each, before anything leaves the machine. */
export class ContextConfirmation {
  readonly #connection: BackendConnection;
  readonly #documents: VirtualDocuments;

  constructor({ connection, documents }: { connection: BackendConnection; documents: VirtualDocuments }) {
    this.#connection = connection;
    this.#documents = documents;
  }

  /**
   * @param signal closes the list, which dismisses the question
   * @throws the backend's error if there is no preview
   */
  async confirm(request: RunRequestInput, signal?: AbortSignal): Promise<Wish> {
    const pick = vscode.window.createQuickPick<Item>();
    const dismissed = new AbortController();
    pick.title = vscode.l10n.t('Conductor: what will be sent');
    pick.placeholder = vscode.l10n.t('Enter sends the question with these pieces; choose a piece to look at it.');
    pick.ignoreFocusOut = true;
    pick.matchOnDescription = true;
    pick.onDidHide(() => dismissed.abort());
    pick.show();
    const hide = (): void => pick.hide();
    signal?.addEventListener('abort', hide, { once: true });
    try {
      return await this.#ask(pick, request, dismissed.signal);
    } catch (error) {
      if (dismissed.signal.aborted) return 'dismiss';
      throw error;
    } finally {
      signal?.removeEventListener('abort', hide);
      pick.dispose();
    }
  }

  async #ask(pick: vscode.QuickPick<Item>, request: RunRequestInput, signal: AbortSignal): Promise<Wish> {
    const showPreview = async (): Promise<ContextPreview> => {
      pick.busy = true;
      const preview = await this.#connection.request('context/preview', { request }, signal);
      pick.busy = false;
      pick.items = itemsOf(preview, request);
      pick.buttons = [{ iconPath: new vscode.ThemeIcon('eye'), tooltip: vscode.l10n.t('Show the exact text') }];
      return preview;
    };
    let preview = await showPreview();
    pick.onDidTriggerButton(() => { this.#showText(textOf(preview)).catch((error: unknown) => vscode.window.showErrorMessage(messageOf(error))); });
    for (;;) {
      const { choice } = (await accepted(pick, signal)) ?? {};
      if (signal.aborted) return 'dismiss';
      if (choice === 'send' || choice === 'choose-tests') return choice;
      if (choice === 'save') {
        await vscode.workspace.saveAll();
        preview = await showPreview();
      } else if (choice && request.workspace !== undefined) {
        await showPiece(request.workspace, choice);
      }
    }
  }

  async #showText(text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEMES.context, path: `/${vscode.l10n.t('Context')}.txt` });
    this.#documents.put(uri, text);
    await vscode.window.showTextDocument(uri, { preview: true, preserveFocus: true });
  }
}

/** Resolves with the next accepted item; undefined when the list closes. */
function accepted(pick: vscode.QuickPick<Item>, signal: AbortSignal): Promise<Item | undefined> {
  return new Promise((resolve) => {
    const subscription = pick.onDidAccept(() => {
      subscription.dispose();
      resolve(pick.activeItems[0]);
    });
    signal.addEventListener('abort', () => {
      subscription.dispose();
      resolve(undefined);
    }, { once: true });
  });
}

/** The exact texts that are sent beside the question. */
function textOf({ text, earlier }: ContextPreview): string {
  const told = (earlier?.exchanges ?? []).filter(({ isTold }) => isTold).flatMap(({ question, result, answer }) => [question, result, answer]);
  return [...told, text].filter((part) => part !== '').join('\n\n');
}

function itemsOf({ pieces, leftOut, tokens, testCommand, testRunner, earlier }: ContextPreview, request: RunRequestInput): Item[] {
  const separator = (label: string): Item => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const unsaved = request.workspace === undefined ? 0 : unsavedIn(request.workspace);
  return [
    {
      choice: 'send',
      label: vscode.l10n.t('$(send) Send the question with {0} pieces', pieces.length),
      description: vscode.l10n.t('about {0} tokens', tokens.toLocaleString(vscode.env.language)),
      alwaysShow: true,
    },
    ...(request.workspace === undefined ? [] : [testsItem(request, testCommand, testRunner)]),
    ...(unsaved > 0 ? [{
      choice: 'save' as const,
      label: vscode.l10n.t('$(save-all) Save {0} files first', unsaved),
      description: vscode.l10n.t('what is on disk is sent and tested'),
    }] : []),
    ...(pieces.length > 0 || earlier ? [separator(vscode.l10n.t('Sent'))] : []),
    ...(earlier?.exchanges ?? []).filter(({ isTold }) => isTold).map(({ question }): Item => ({
      label: `$(comment-discussion) ${plainLabel(question.replace(/\s+/g, ' '))}`, description: vscode.l10n.t('an earlier question, with its answer'),
    })),
    ...pieces.map((piece): Item => ({
      choice: piece,
      label: `$(file) ${piece.path}:${piece.startLine}-${piece.endLine}`,
      description: vscode.l10n.t('{0} · {1} tokens', piece.reason, piece.tokens),
    })),
    ...(leftOut.length > 0 ? [separator(vscode.l10n.t('Left out'))] : []),
    ...leftOut.map(({ path, reason }): Item => ({ label: `$(circle-slash) ${path}`, description: reason })),
  ];
}

/** Shows the test command that judges the answer, and opens the choice of another. */
function testsItem({ testCommand: named }: RunRequestInput, command: string | null, runner: string | undefined): Item {
  const choice = 'choose-tests';
  if (command !== null) {
    return {
      choice,
      label: vscode.l10n.t('$(beaker) Checked by {0}', plainLabel(command)),
      description: [runner && readingOf(runner), vscode.l10n.t('choose another')].filter(Boolean).join(' · '),
    };
  }
  return {
    choice,
    label: named === null ? vscode.l10n.t('$(beaker) Not checked') : vscode.l10n.t('$(beaker) Not checked: no tests were found'),
    description: vscode.l10n.t('choose a test command'),
  };
}

function unsavedIn(workspace: string): number {
  const folder = vscode.Uri.file(workspace).toString();
  return vscode.workspace.textDocuments.filter((document) =>
    document.isDirty && vscode.workspace.getWorkspaceFolder(document.uri)?.uri.toString() === folder).length;
}

async function showPiece(workspace: string, { path, startLine }: { path: string; startLine: number }): Promise<void> {
  const file = await insideFolder(workspace, path);
  if (file === undefined) return;
  const line = new vscode.Position(startLine - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), {
    preview: true, preserveFocus: true, selection: new vscode.Range(line, line),
  });
}
