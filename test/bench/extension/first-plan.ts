import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Locator } from 'playwright-core';
import { Workbench } from '../../e2e/harness/workbench.ts';
import { packEmptyExtension } from './empty-extension.ts';
import { loadNow, median, report, round } from './report.ts';

/*
 * From the command to the first plan on the screen: `Conductor: Solve` is chosen in the palette, the question typed and sent, and the
 * simulated Conductor plans at once. What the person takes to type is left out. Beside it an extension whose command asks in the same
 * kind of box and then shows a page with a list in it. The first of each is told apart: with it the page is made and, for Conductor,
 * the backend is started. From the packed VSIX.
 *
 * npm run package -- linux-x64 && bash test/e2e/vscode/install.sh
 * node with-node.mjs node test/bench/extension/first-plan.ts [--rounds N]
 */

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } });
const rounds = Number(values.rounds);

const EMPTY_MAIN = `
const vscode = require('vscode');
const PAGE = '<!DOCTYPE html><ol></ol><script>addEventListener("message", ({ data }) => {'
  + 'document.querySelector("ol").innerHTML = data.map((step) => "<li>" + step + "</li>").join("");'
  + '}); acquireVsCodeApi().postMessage("ready");</script>';
exports.activate = ({ subscriptions }) => {
  let webview;
  let steps = [];
  const tell = () => webview?.postMessage(steps);
  subscriptions.push(
    vscode.window.registerWebviewViewProvider('empty.view', {
      resolveWebviewView(view) {
        webview = view.webview;
        webview.onDidReceiveMessage(tell);
        webview.options = { enableScripts: true };
        webview.html = PAGE;
      },
    }),
    vscode.commands.registerCommand('empty.ask', async () => {
      steps = [await vscode.window.showInputBox({ prompt: 'What should the list say?' }), 'two', 'three'];
      await vscode.commands.executeCommand('empty.view.focus');
      tell();
    }),
    vscode.commands.registerCommand('empty.page', () => {
      vscode.window.createWebviewPanel('empty.page', 'Empty', vscode.ViewColumn.Active).webview.html = '<!DOCTYPE html><p>Warm.</p>';
    }),
    vscode.commands.registerCommand('empty.clear', () => { steps = []; tell(); }),
  );
};
`;
const CONTRIBUTES = {
  commands: [
    { command: 'empty.ask', title: 'Ask', category: 'Empty' },
    { command: 'empty.page', title: 'Page', category: 'Empty' },
    { command: 'empty.clear', title: 'Clear', category: 'Empty' },
  ],
  viewsContainers: { activitybar: [{ id: 'empty', title: 'Empty', icon: 'icon.svg' }] },
  views: { empty: [{ type: 'webview', id: 'empty.view', name: 'Empty', icon: 'icon.svg' }] },
};

interface Asking {
  readonly command: string;
  readonly prompt: string;
  readonly question: string;
  /** What is on the screen at the end, and was not before. */
  readonly shown: Locator;
}

interface Times {
  /** From the choice in the palette to the box, and from the sent question to what it brings; milliseconds. */
  readonly box: number;
  readonly shown: number;
}

const load = loadNow();
const folder = await mkdtemp(path.join(tmpdir(), 'conductor-bench-plan-'));
const empty = await packEmptyExtension(path.join(folder, 'empty'), { main: EMPTY_MAIN, contributes: CONTRIBUTES });
const workbench = await Workbench.start({ latency: 0, vsix: [empty], settings: { 'conductor.confirmContext': false } });
try {
  const { window, panel, bug } = workbench;
  const measured: { readonly ours: Times[]; readonly empty: Times[] } = { ours: [], empty: [] };
  await window.statusItem(/Conductor suggestions/).waitFor({ timeout: 60_000 });
  // The first page of a window waits for VS Code to start what serves pages, whoever shows it.
  await window.runCommand('Empty: Page');
  await window.webview().getByText('Warm.').waitFor();
  await window.openFile(bug.path);
  for (let turn = 0; turn <= rounds; turn += 1) {
    measured.ours.push(await ask({
      command: 'Conductor: Solve', prompt: 'What do you want to know', question: bug.question, shown: panel.plan(),
    }));
    await panel.status.filter({ hasText: 'Verified' }).waitFor({ timeout: 120_000 });
    // The next plan is not taken for this one.
    await window.runCommand('Conductor: New Question');
    await panel.ask.waitFor();
  }
  for (let turn = 0; turn <= rounds; turn += 1) {
    const list = window.webview().getByText('two', { exact: true });
    measured.empty.push(await ask({ command: 'Empty: Ask', prompt: 'What should the list say', question: 'one', shown: list }));
    await window.runCommand('Empty: Clear');
    await list.waitFor({ state: 'detached' });
  }
  const [oursFirst, ...ours] = measured.ours;
  const [emptyFirst, ...others] = measured.empty;
  const rowOf = (times: readonly Times[], first: Times | undefined): Record<string, number> => {
    const [box, shown] = [median(times.map((time) => time.box)), median(times.map((time) => time.shown))];
    return {
      'first': round((first?.box ?? Number.NaN) + (first?.shown ?? Number.NaN)), 'median': round(box + shown), 'of that the box': round(box),
      'most': round(Math.max(...times.map((time) => time.box + time.shown))),
    };
  };
  const [oursRow, emptyRow] = [rowOf(ours, oursFirst), rowOf(others, emptyFirst)];
  await report('first-plan', {
    rows: {
      'Conductor, ms': oursRow,
      'empty, ms': emptyRow,
      'over empty, ms': Object.fromEntries(Object.entries(oursRow).map(([name, value]) => [name, round(value - (emptyRow[name] ?? Number.NaN))])),
    },
    figures: measured,
    load,
  });
} finally {
  await workbench.stop();
  await rm(folder, { recursive: true, force: true });
}

/** One question, from the palette to what it brings. */
async function ask({ command, prompt, question, shown }: Asking): Promise<Times> {
  const { window } = workbench;
  await window.runCommand(command);
  const chosenAt = performance.now();
  await window.quickInput.filter({ hasText: prompt }).waitFor();
  const box = performance.now() - chosenAt;
  await window.quickInputBox.fill(question);
  const sentAt = performance.now();
  await window.page.keyboard.press('Enter');
  await shown.waitFor();
  return { box, shown: performance.now() - sentAt };
}
