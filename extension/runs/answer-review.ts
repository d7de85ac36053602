import * as vscode from 'vscode';
import type { FileEdit } from '../../backend/protocol/methods.ts';
import type { AppliedAnswer, ApplyOutcome } from '../../backend/protocol/panel-messages.ts';
import { answerOf } from '../../backend/protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { brokenCount } from '../../backend/protocol/test-changes.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import { isVerified, passesOnly } from '../../backend/protocol/verdict-facts.ts';
import type { Applied } from './applied-answer.ts';
import { applyEdits, placeEdits, undoEdits, type Obstacle, type PlacedEdit } from './apply-edits.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import type { ContextKeys } from '../common/context-keys.ts';
import { SCHEMES, type VirtualDocuments } from '../common/virtual-documents.ts';

const APPLIED_KEY = 'conductor.applied';
/** VS Code keeps workspace storage in memory. Larger changes are undone with the editor's undo or version control. */
const MAX_REMEMBERED_CHARACTERS = 4_000_000;

interface Review {
  readonly runId: string;
  readonly folder: vscode.Uri;
  readonly edits: readonly PlacedEdit[];
  readonly refused: readonly Obstacle[];
  readonly title: string;
  readonly documents: readonly vscode.Uri[];
  /** Cancelled when the review ends; this also closes the list with the actions. */
  readonly ended: vscode.CancellationTokenSource;
}

const reviewTitle = (): string => vscode.l10n.t('Conductor’s answer: accept ✓ or reject ✗');

export interface AnswerReviewOptions {
  readonly connection: BackendConnection;
  readonly documents: VirtualDocuments;
  readonly memory: vscode.Memento;
  readonly contextKeys: ContextKeys;
  readonly onOutcome: (outcome: ApplyOutcome) => void;
}

/** Shows an answer's edits as a diff and applies them when the user accepts. The workspace does not change before that. */
export class AnswerReview {
  readonly #options: AnswerReviewOptions;
  #review: Review | undefined;

  constructor(options: AnswerReviewOptions) {
    this.#options = options;
    options.contextKeys.set('canUndo', this.undoable !== undefined);
  }

  /** The last applied answer that can be undone. Its edits are checked when the user undoes it. */
  get undoable(): AppliedAnswer | undefined {
    const { runId, edits } = this.#options.memory.get<Partial<Applied>>(APPLIED_KEY) ?? {};
    if (typeof runId !== 'string' || !Array.isArray(edits)) return undefined;
    return { runId, files: edits.flatMap(({ path, after }) => (after === null ? [] : [path])) };
  }

  /** Ends the review when the user closes its tab. A tab that VS Code restored after a reload has no review and is closed. */
  watch(): vscode.Disposable {
    const restored = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter(({ label }) => label.startsWith(reviewTitle()));
    void vscode.window.tabGroups.close(restored);
    return vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      const { title } = this.#review ?? {};
      if (title !== undefined && closed.some(({ label }) => label.startsWith(title))) this.#end();
    });
  }

  /** Opens the diff and offers to accept or reject it. @throws an error with a sentence if there is nothing to review */
  async show(run: RunSnapshot): Promise<void> {
    if (!isOver(run.state)) throw new Error(vscode.l10n.t('The run is still going on: review its answer when it has ended.'));
    const folder = folderOf(run);
    const { edits, refused } = await this.#options.connection.request('run/edits', { runId: run.runId });
    const { placed, refused: outside } = await placeEdits(folder, edits);
    const allRefused = [...refused, ...outside];
    if (placed.length === 0) {
      throw new Error([vscode.l10n.t('The answer holds no edit that can be applied.'), ...allRefused.map(sentenceOf)].join(' '));
    }
    await this.#close();
    const title = reviewTitle();
    const resources = placed.map((edit) => this.#sidesOf(run.runId, edit));
    const documents = resources.flatMap(([, before, after]) => [before, after]);
    const ended = new vscode.CancellationTokenSource();
    this.#review = { runId: run.runId, folder, edits: placed, refused: allRefused, title, documents, ended };
    await vscode.commands.executeCommand('vscode.changes', title, resources);
    this.#options.contextKeys.set('reviewing', true);
    await this.#ask(run);
  }

  /** Applies the reviewed edits. @throws EditConflictError; the review then stays open */
  async accept(): Promise<void> {
    const review = this.#underReview();
    await applyEdits(review.edits);
    await this.#close();
    await this.#remember({
      runId: review.runId,
      folder: review.folder.fsPath,
      edits: review.edits.map(({ path, kind, before, after }): FileEdit => ({ path, kind, before, after })),
    });
    const files = vscode.l10n.t('Applied to {0}.', review.edits.map(({ path }) => path).join(', '));
    this.#options.onOutcome({
      runId: review.runId,
      state: review.refused.length > 0 ? 'partly' : 'applied',
      message: [files, ...review.refused.map(sentenceOf)].join(' '),
    });
  }

  async reject(): Promise<void> {
    const { runId } = this.#underReview();
    await this.#close();
    this.#options.onOutcome({ runId, state: 'rejected', message: vscode.l10n.t('Rejected; no file was changed.') });
  }

  /** Undoes the last applied answer, if it belongs to the given run (if any). @throws EditConflictError if its lines have changed since */
  async undo(runId?: string): Promise<void> {
    const applied = await this.#applied();
    if (!applied || (runId !== undefined && applied.runId !== runId)) throw new Error(vscode.l10n.t('No answer has been applied in this workspace, or it has been undone already.'));
    const { placed, refused } = await placeEdits(openFolder(applied.folder), applied.edits);
    const [first] = refused;
    if (first) throw new Error(sentenceOf(first));
    await undoEdits(placed);
    await this.#remember(undefined);
    const message = vscode.l10n.t('Undone: the answer’s changes are reverted.');
    this.#options.onOutcome({ runId: applied.runId, state: 'rejected', message });
  }

  /** A list that closes by itself when the user clicks into the diff. The editor's title bar offers both actions, too. */
  async #ask(run: RunSnapshot): Promise<void> {
    const review = this.#underReview();
    const verdict = answerOf(run)?.round.verdict;
    const verified = verdict !== undefined && isVerified(verdict);
    const accept: vscode.QuickPickItem = {
      label: vscode.l10n.t('$(check) Accept'),
      description: verified ? vscode.l10n.t('verified by the project’s tests') : doubtOf(verdict),
      detail: review.edits.map(({ kind, path }) => `${KIND_SIGNS[kind]} ${path}`).join('   '),
    };
    const reject: vscode.QuickPickItem = {
      label: vscode.l10n.t('$(close) Reject'),
      description: vscode.l10n.t('changes nothing'),
    };
    const separator: vscode.QuickPickItem = { label: vscode.l10n.t('Not applied'), kind: vscode.QuickPickItemKind.Separator };
    const refused = review.refused.map(({ path, reason }): vscode.QuickPickItem =>
      ({ label: `$(warning) ${path}`, description: reason }));
    const chosen = await vscode.window.showQuickPick(
      // The first item is the one that Enter accepts.
      [...(verified ? [accept, reject] : [reject, accept]), ...(refused.length > 0 ? [separator, ...refused] : [])],
      { title: review.title, placeHolder: vscode.l10n.t('Escape to look at it first; ✓ and ✗ stay in the editor’s title.') },
      review.ended.token,
    );
    if (chosen === accept) await this.accept();
    if (chosen === reject) await this.reject();
  }

  /** A file for `vscode.changes`: the resource, its left and its right side. A missing side is an empty document. */
  #sidesOf(runId: string, { uri, before, after }: PlacedEdit): [vscode.Uri, vscode.Uri, vscode.Uri] {
    const side = (scheme: string, text: string | null): vscode.Uri => {
      const sideUri = vscode.Uri.from({ scheme, path: uri.path, query: runId });
      this.#options.documents.put(sideUri, text ?? '');
      return sideUri;
    };
    return [uri, side(SCHEMES.before, before), side(SCHEMES.after, after)];
  }

  #underReview(): Review {
    if (!this.#review) {
      throw new Error(vscode.l10n.t('No answer is under review: run "Conductor: Review and Apply Answer" first.'));
    }
    return this.#review;
  }

  /** Closes the diff and ends the review. Finds the tab by its title, to which VS Code appends the number of files. */
  async #close(): Promise<void> {
    const { title } = this.#review ?? {};
    this.#end();
    if (title === undefined) return;
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(({ label }) => label.startsWith(title));
    await vscode.window.tabGroups.close(tabs);
  }

  #end(): void {
    const review = this.#review;
    this.#review = undefined;
    review?.ended.cancel();
    review?.ended.dispose();
    for (const uri of review?.documents ?? []) this.#options.documents.remove(uri);
    this.#options.contextKeys.set('reviewing', false);
  }

  async #applied(): Promise<Applied | undefined> {
    const { readApplied } = await import('./applied-answer.ts');
    return readApplied(this.#options.memory.get(APPLIED_KEY));
  }

  async #remember(applied: Applied | undefined): Promise<void> {
    const texts = applied?.edits.flatMap(({ before, after }) => [before ?? '', after ?? '']) ?? [];
    const kept = texts.join('').length <= MAX_REMEMBERED_CHARACTERS ? applied : undefined;
    await this.#options.memory.update(APPLIED_KEY, kept);
    this.#options.contextKeys.set('canUndo', kept !== undefined);
  }
}

/** A warning before accepting an answer that is not verified. */
function doubtOf(verdict: Verdict | undefined): string {
  const broken = brokenCount(verdict?.tests ?? []);
  if (broken === 1) return vscode.l10n.t('breaks 1 test that passed before');
  if (broken > 1) return vscode.l10n.t('breaks {0} tests that passed before', broken);
  if (verdict && passesOnly(verdict)) return vscode.l10n.t('the tests pass, which does not prove it');
  return verdict?.outcome === 'failed' ? vscode.l10n.t('the tests do not confirm it') : vscode.l10n.t('no test has checked it');
}

const KIND_SIGNS: Record<FileEdit['kind'], string> = { create: '+', modify: '~', delete: '-' };

function sentenceOf({ path, reason }: Obstacle): string {
  return vscode.l10n.t('Not applied: {0}. {1}', path, reason);
}

/** The run's folder, if it is open in this window. Answers are applied only in open folders. */
function folderOf(run: RunSnapshot): vscode.Uri {
  const { workspace } = run.request;
  if (workspace === undefined) {
    throw new Error(vscode.l10n.t('The question was asked without a folder, so the answer belongs to no files: insert it.'));
  }
  return openFolder(workspace);
}

function openFolder(path: string): vscode.Uri {
  const wanted = vscode.Uri.file(path).toString();
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.toString() === wanted);
  if (!folder) throw new Error(vscode.l10n.t('The answer belongs to {0}: open that folder first.', path));
  return folder.uri;
}
