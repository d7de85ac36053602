import * as vscode from 'vscode';
import type { FoundTests, LikelyCommand } from '../../backend/protocol/test-command.ts';
import { CUSTOM_RUNNER, EXIT_CODE_RUNNER, readingOf, TEST_RUNNERS } from '../../backend/protocol/test-runners.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { manageTrustStep, NextStepError, openFolderStep } from '../common/next-step.ts';
import { plainLabel } from '../common/plain-message.ts';
import { readTestSettings, writeTestSettings, type TestSettings } from '../common/test-settings.ts';

type Choice = { readonly folder: vscode.WorkspaceFolder; readonly tests: TestSettings | 'another' | LikelyCommand };
type Item = vscode.QuickPickItem & { readonly choice?: Choice };

const title = (): string => vscode.l10n.t('Conductor: Choose Test Command');

/** `Conductor: Choose Test Command`: selects the test command that judges answers about a folder. */
export class ChooseTestCommand {
  readonly #connection: Pick<BackendConnection, 'request'>;

  constructor(connection: Pick<BackendConnection, 'request'>) {
    this.#connection = connection;
  }

  /** @returns whether something was chosen. @throws an error with a sentence if there is no folder */
  async run(): Promise<boolean> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
    if (folders.length === 0) {
      throw new NextStepError(vscode.l10n.t('No folder is open: open the one whose tests should check answers.'), openFolderStep());
    }
    if (!vscode.workspace.isTrusted) {
      throw new NextStepError(vscode.l10n.t('This workspace is not trusted. Trust it to run its commands.'), manageTrustStep());
    }
    const picked = await vscode.window.showQuickPick(this.#items(folders), {
      title: title(),
      placeHolder: vscode.l10n.t('Which test command decides whether an answer is verified?'),
      ignoreFocusOut: true,
      matchOnDescription: true,
    });
    if (!picked?.choice) return false;
    const { folder } = picked.choice;
    const chosen = picked.choice.tests;
    const tests = chosen === 'another' ? await this.#another(folder) : 'from' in chosen ? await this.#readAs(folder, chosen.command) : chosen;
    if (!tests) return false;
    await writeTestSettings(folder, tests);
    return true;
  }

  async #items(folders: readonly vscode.WorkspaceFolder[]): Promise<Item[]> {
    const lists = await Promise.all(folders.map(async (folder) => {
      const { found, likely } = await this.#connection.request('tests/find', { workspace: folder.uri.fsPath });
      const named = await Promise.all(found.map((tests) => this.#settingsFor(folder, tests)));
      const items = itemsOf(folder, found, named, likely);
      return folders.length === 1 ? items : [{ label: folder.name, kind: vscode.QuickPickItemKind.Separator }, ...items];
    }));
    return lists.flat();
  }

  /** Stores the runner only if the command does not determine it, so that it can change with the project. */
  async #settingsFor(folder: vscode.WorkspaceFolder, { command, runner }: FoundTests): Promise<TestSettings> {
    return { testCommand: command, ...((await this.#runnerOf(folder, command)) !== runner && { testRunner: runner }) };
  }

  async #runnerOf(folder: vscode.WorkspaceFolder, command: string): Promise<string | null> {
    return (await this.#connection.request('tests/runner', { workspace: folder.uri.fsPath, command })).runner;
  }

  async #another(folder: vscode.WorkspaceFolder): Promise<TestSettings | undefined> {
    const command = (await vscode.window.showInputBox({
      title: title(),
      prompt: vscode.l10n.t('Command that runs the tests, in the folder {0}', folder.name),
      value: readTestSettings(folder.uri).testCommand ?? '',
      placeHolder: 'npm run test:unit',
      ignoreFocusOut: true,
    }))?.trim();
    return command ? await this.#readAs(folder, command) : undefined;
  }

  /** Asks how the results of a command are read, if it does not say so. */
  async #readAs(folder: vscode.WorkspaceFolder, command: string): Promise<TestSettings | undefined> {
    if ((await this.#runnerOf(folder, command)) !== EXIT_CODE_RUNNER) return { testCommand: command };
    const picked = await vscode.window.showQuickPick(readings(), {
      title: title(),
      placeHolder: vscode.l10n.t('The command does not show which test runner it uses. How should its results be read?'),
      ignoreFocusOut: true,
    });
    if (!picked) return undefined;
    if (picked.runner !== CUSTOM_RUNNER) return { testCommand: command, testRunner: picked.runner };
    const reports = (await vscode.window.showInputBox({
      title: title(),
      prompt: vscode.l10n.t('The JUnit files that the command writes, as a pattern in the folder'),
      placeHolder: 'reports/*.xml',
      ignoreFocusOut: true,
    }))?.trim();
    return reports ? { testCommand: command, testReports: reports } : undefined;
  }
}

function itemsOf(folder: vscode.WorkspaceFolder, found: readonly FoundTests[], named: readonly TestSettings[], likely: readonly LikelyCommand[]): Item[] {
  const now = readTestSettings(folder.uri);
  const item = (icon: string, label: string, tests: Choice['tests'], description?: string): Item => {
    const isInUse = typeof tests === 'object' && !('from' in tests) && (['testCommand', 'testRunner', 'testReports'] as const).every((key) => tests[key] === now[key]);
    const said = [description, isInUse && vscode.l10n.t('in use')].filter(Boolean).join(' · ');
    return { choice: { folder, tests }, label: `$(${isInUse ? 'check' : icon}) ${plainLabel(label)}`, ...(said && { description: plainLabel(said) }) };
  };
  const [first] = found;
  return [
    item('search', vscode.l10n.t('Found from the project’s files'), {}, first?.command ?? vscode.l10n.t('nothing is found')),
    ...found.map((tests, index) => item('beaker', tests.command, named[index] ?? {}, placeOf(tests))),
    ...likely.map((one) => item('question', one.command, one, vscode.l10n.t('may run the tests · {0}', one.from))),
    item('edit', vscode.l10n.t('Another command…'), 'another'),
    item('circle-slash', vscode.l10n.t('None'), { testCommand: null }, vscode.l10n.t('answers stay unchecked')),
  ];
}

function placeOf({ runner, folder }: FoundTests): string {
  return folder === '' ? readingOf(runner) : vscode.l10n.t('{0} in {1}', readingOf(runner), folder);
}

function readings(): (vscode.QuickPickItem & { runner: string })[] {
  return [
    { runner: CUSTOM_RUNNER, label: vscode.l10n.t('From JUnit files that it writes…') },
    { runner: EXIT_CODE_RUNNER, label: vscode.l10n.t('By its exit code alone'), detail: vscode.l10n.t('A change passes at most, and is never verified') },
    ...TEST_RUNNERS.filter((runner) => runner !== CUSTOM_RUNNER && runner !== EXIT_CODE_RUNNER).map((runner) => ({ runner, label: vscode.l10n.t('As those of {0}', runner) })),
  ];
}
