import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../../e2e/harness/browser.ts';
import { packedVsix } from '../../e2e/harness/workbench.ts';
import { VsCodeServer } from '../../e2e/harness/vscode-server.ts';
import { VsCodeWindow } from '../../e2e/harness/vscode-window.ts';
import { EMPTY, packEmptyExtension } from './empty-extension.ts';
import { loadNow, median, report } from './report.ts';

/*
 * How long VS Code says that it took to activate Conductor (loading its code and calling `activate`), beside an extension that does
 * nothing and is activated by the same event, in the same extension host. Each round starts a new one. From the packed VSIX.
 *
 * npm run package -- linux-x64 && bash test/e2e/vscode/install.sh
 * node with-node.mjs node test/bench/extension/activation.ts [--rounds N]
 */

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } });
const rounds = Number(values.rounds);
const load = loadNow();

const folder = await mkdtemp(path.join(tmpdir(), 'conductor-bench-activation-'));
const workspace = path.join(folder, 'workspace');
await mkdir(workspace);
const server = await VsCodeServer.start({
  vsix: [packedVsix(), await packEmptyExtension(path.join(folder, 'empty'), { main: 'exports.activate = () => {};\n' })],
  environment: { CONDUCTOR_HOME: path.join(folder, 'home') },
});
const browser = await launchBrowser();
try {
  const ours: number[] = [];
  const empty: number[] = [];
  // The first start fills caches of the disk and counts for nothing.
  for (let round = 0; round <= rounds; round += 1) {
    // Both are found in one window: whatever else the machine does falls on both.
    const times = await activationTimes(['Conductor', EMPTY]);
    if (round === 0) continue;
    ours.push(times.get('Conductor') ?? Number.NaN);
    empty.push(times.get(EMPTY) ?? Number.NaN);
    console.log(`${String(round).padStart(3)}  Conductor ${ours.at(-1)} ms, empty ${empty.at(-1)} ms`);
  }
  const differences = ours.map((time, index) => time - (empty[index] ?? Number.NaN));
  await report('activation', {
    rows: {
      'Conductor, ms': { median: median(ours), most: Math.max(...ours) },
      'empty, ms': { median: median(empty), most: Math.max(...empty) },
      'over empty, ms': { median: median(differences), most: Math.max(...differences) },
    },
    figures: { ours, empty },
    load,
  });
} finally {
  await browser.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** From "Developer: Show Running Extensions", in whole milliseconds as it shows them. */
async function activationTimes(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  // Tall, because the list draws only the rows that are in view.
  const window = await VsCodeWindow.open(browser, server, workspace, { height: 3_000 });
  try {
    await window.runCommand('Developer: Show Running Extensions');
    const found = new Map<string, number>();
    for (const name of names) {
      const title = window.page.getByText(name, { exact: true });
      const row = window.page.locator('.runtime-extensions-editor .extension').filter({ has: title });
      const time = row.locator('.activation-time').filter({ hasText: /\d+ ?ms/ });
      await time.waitFor();
      found.set(name, Number(/(\d+) ?ms/.exec(await time.innerText())?.[1]));
    }
    return found;
  } finally {
    await window.close();
  }
}
