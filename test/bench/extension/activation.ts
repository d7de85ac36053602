import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../../e2e/harness/browser.ts';
import { packedVsix } from '../../e2e/harness/workbench.ts';
import { VsCodeServer } from '../../e2e/harness/vscode-server.ts';
import { VsCodeWindow } from '../../e2e/harness/vscode-window.ts';

/*
 * How long VS Code says that it took to activate Conductor (loading its code and calling `activate`), beside an extension that does
 * nothing and is activated by the same event, in the same extension host. Each round starts a new one. From the packed VSIX.
 *
 * npm run package -- linux-x64 && bash test/e2e/vscode/install.sh
 * node with-node.mjs node test/bench/extension/activation.ts [--rounds N]
 */

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } });
const rounds = Number(values.rounds);
const EMPTY = 'empty-beside-conductor';

const folder = await mkdtemp(path.join(tmpdir(), 'conductor-bench-activation-'));
const workspace = path.join(folder, 'workspace');
await mkdir(workspace);
const server = await VsCodeServer.start({
  vsix: [packedVsix(), await packEmptyExtension(path.join(folder, 'empty'))],
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
  const [cpu] = cpus();
  console.log(`\n${cpu?.model}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}; ${rounds} rounds, ${gitCommit()}`);
  console.log(`median: Conductor ${median(ours)} ms, empty ${median(empty)} ms, difference ${median(ours) - median(empty)} ms`);
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

/** @returns the path of its VSIX. */
async function packEmptyExtension(at: string): Promise<string> {
  await mkdir(at);
  const manifest = {
    name: EMPTY, displayName: EMPTY, publisher: 'conductor', version: '0.0.1', engines: { vscode: '^1.101.0' },
    main: './main.cjs', activationEvents: ['onStartupFinished'], extensionKind: ['workspace'],
  };
  await writeFile(path.join(at, 'package.json'), JSON.stringify(manifest));
  await writeFile(path.join(at, 'main.cjs'), 'exports.activate = () => {};\n');
  await writeFile(path.join(at, 'README.md'), 'Does nothing.\n');
  await writeFile(path.join(at, '.vscodeignore'), '');
  const { createVSIX } = createRequire(import.meta.url)('@vscode/vsce') as
    { createVSIX: (options: Readonly<Record<string, unknown>>) => Promise<void> };
  const vsix = `${at}.vsix`;
  await createVSIX({ cwd: at, packagePath: vsix, dependencies: false, allowMissingRepository: true, skipLicense: true });
  return vsix;
}

/** Of an even number the lower one in the middle. */
function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor((figures.length - 1) / 2)] ?? Number.NaN;
}

function gitCommit(): string {
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
}
