import { stat } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { formatDuration } from '../../backend/protocol/figures.ts';
import { changeKind, counts, isRed } from '../../backend/protocol/test-changes.ts';
import { toolText } from '../../backend/protocol/tool-text.ts';
import type { TestChange, Verdict } from '../../backend/protocol/verdict.ts';
import { isVerified, passesOnly } from '../../backend/protocol/verdict-facts.ts';
import { testTree, type TestNode } from './test-tree.ts';
import type { JudgedRun } from '../runs/verdict-feed.ts';
import { insideFolder } from '../common/workspace-paths.ts';

const MAX_NAME_CHARACTERS = 80;

interface PlacedTest {
  readonly item: vscode.TestItem;
  readonly test: TestChange;
}

/**
 * Shows each folder's last verdict in VS Code's Test Explorer, under the question's name. It cannot run tests: they run only to judge
 * answers. Every label says that this is not the state of the folder.
 */
export class TestExplorer {
  /** Created with the first verdict: an empty one would clutter the view of other extensions' tests. */
  #controller: vscode.TestController | undefined;
  readonly #items = new Map<string, readonly vscode.TestItem[]>();

  async show({ folder, question, verdict, isNew }: JudgedRun): Promise<void> {
    const tree = testTree(verdict.tests);
    const files = new Map(await Promise.all(tree.map(async ({ name }) => [name, await fileOf(folder, name)] as const)));
    const controller = (this.#controller ??= vscode.tests.createTestController('conductor', vscode.l10n.t('Conductor: with its last answer, in a copy')));
    const placed: PlacedTest[] = [];
    const before = new Map(this.#items.get(folder)?.map((item) => [item.id, item]));
    const items = tree.map((node) => itemOf(controller, before, node, files.get(node.name), placed));
    for (const item of items) item.description = [vscode.l10n.t('with the answer, in a copy'), ...(item.description ? [item.description] : [])].join(' · ');
    this.#items.set(folder, items);
    controller.items.replace(this.#roots(controller));
    if (isNew) tellResults(controller, placed, { question, verdict });
  }

  dispose(): void {
    this.#controller?.dispose();
  }

  /** With several folders, each has its own item. */
  #roots(controller: vscode.TestController): readonly vscode.TestItem[] {
    const folders = vscode.workspace.workspaceFolders ?? [];
    if (folders.length === 1) return folders.flatMap(({ uri }) => this.#items.get(uri.fsPath) ?? []);
    return folders.flatMap(({ uri, name }) => {
      const items = this.#items.get(uri.fsPath);
      if (!items) return [];
      const root = controller.items.get(uri.fsPath) ?? controller.createTestItem(uri.fsPath, name, uri);
      root.children.replace(items);
      return [root];
    });
  }
}

/** The file at the beginning of a test's id, if it is in the folder. */
async function fileOf(folder: string, name: string): Promise<vscode.Uri | undefined> {
  const file = await insideFolder(folder, name);
  const isFile = file !== undefined && (await stat(file).then((found) => found.isFile(), () => false));
  return isFile ? vscode.Uri.file(path.resolve(folder, name)) : undefined;
}

/**
 * Changed tests come first; files and suites show their number of changes. Reuses existing items: VS Code's extension host keeps the items
 * of every test run (1.139 never frees them, although it lists 128 runs), and a project has thousands.
 */
function itemOf(
  controller: vscode.TestController, before: Pick<vscode.TestItemCollection, 'get'>, { name, test, children }: TestNode,
  file: vscode.Uri | undefined, placed: PlacedTest[],
): vscode.TestItem {
  const first = placed.length;
  const known = before.get(name);
  const item = known && known.uri?.toString() === file?.toString() ? known : controller.createTestItem(name, name, file);
  item.children.replace(children.map((child) => itemOf(controller, item.children, child, file, placed)));
  if (test) placed.push({ item, test });
  const changed = placed.slice(first).filter((inside) => beforeOf(inside.test) !== undefined).length;
  const description = test ? beforeOf(test) : changed > 0 ? vscode.l10n.t('{0} changed', changed) : undefined;
  item.description = description;
  item.sortText = `${changed > 0 ? 0 : 1} ${name}`;
  return item;
}

function tellResults(
  controller: vscode.TestController, placed: readonly PlacedTest[], { question, verdict }: Pick<JudgedRun, 'question' | 'verdict'>,
): void {
  const name = question.replace(/\s+/g, ' ').trim();
  const shortName = name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}…` : name;
  const run = controller.createTestRun(new vscode.TestRunRequest(placed.map(({ item }) => item)), vscode.l10n.t('Conductor, in a copy: the answer to “{0}”', shortName), true);
  run.appendOutput(terminalText(summaryOf(verdict)));
  for (const { item, test } of placed) {
    if (isRed(test)) run.failed(item, new vscode.TestMessage(messageOf(test)), test.durationMs);
    else if (test.after === 'passed' && counts(test)) run.passed(item, test.durationMs);
    else run.skipped(item);
  }
  run.end();
}

/** The description beside a test's name: its status before the change, if it differs. */
function beforeOf(test: TestChange): string | undefined {
  switch (changeKind(test)) {
    case 'mended': return vscode.l10n.t('failed before');
    case 'broken': return vscode.l10n.t('passed before');
    case 'newly-failing': return vscode.l10n.t('did not run before');
    case 'still-failing': return vscode.l10n.t('failed before, too');
    case 'added': return vscode.l10n.t('did not run before');
    case 'flaky': return vscode.l10n.t('flaky, left out');
    case 'left-out': return vscode.l10n.t('failed before, left out');
    case 'kept':
    case 'not-run': return undefined;
  }
}

function messageOf({ after, message }: TestChange): string {
  if (after === 'missing') return vscode.l10n.t('The test is gone with the change: a missing test is not a passing one.');
  if (after === 'skipped') return vscode.l10n.t('The test is skipped with the change: a skipped test is not a passing one.');
  return message ?? vscode.l10n.t('The test failed and said nothing.');
}

function summaryOf(verdict: Verdict): string {
  const { command, reason, notes, tools = [], sandboxed, durationMs } = verdict;
  const where = sandboxed ? vscode.l10n.t('in the sandbox') : vscode.l10n.t('without a sandbox');
  const outcome = isVerified(verdict)
    ? vscode.l10n.t('Verified: {0}', reason)
    : passesOnly(verdict) ? vscode.l10n.t('Tests pass, not verified: {0}', reason) : vscode.l10n.t('Not verified: {0}', reason);
  // The icons do not show it: the folder itself has not changed yet.
  const what = vscode.l10n.t('Test results with the answer’s change, in a copy of the folder.');
  return [what, [command, where, ...tools.map(toolText), formatDuration(durationMs)].join(' · '), outcome, ...notes, ''].join('\n');
}

/** Text for a terminal, without the control characters that names of tests and commands may contain. */
function terminalText(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, '').replaceAll('\n', '\r\n');
}
