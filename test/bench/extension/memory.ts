import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CDPSession } from 'playwright-core';
import type { BackendClient } from '../../../backend/protocol/client/backend-client.ts';
import { connectBackend } from '../../../backend/protocol/client/start-backend.ts';
import { writeSampleProject } from '../../../backend/simulator/sample-project.ts';
import { Workbench } from '../../e2e/harness/workbench.ts';
import { packEmptyExtension } from './empty-extension.ts';
import { loadNow, report, round, slope } from './report.ts';

/*
 * What extension host, backend and the window's page hold while run after run is asked, carried out by the simulator, checked by the
 * project's tests and shown in the panel. Garbage is collected before each look, so that what grows is held and not only lying about.
 * A second extension in the same host brings the key that asks (with `conductor.solve` behind it) and the probe. Growth is the slope
 * over all looks but the first ones, in which code is compiled and caches fill. From the packed VSIX.
 *
 * npm run package -- linux-x64 && bash test/e2e/vscode/install.sh
 * node with-node.mjs node test/bench/extension/memory.ts [--runs N] [--every N]
 */

const { values } = parseArgs({ options: { runs: { type: 'string', default: '200' }, every: { type: 'string', default: '20' } } });
const runs = Number(values.runs);
const every = Number(values.every);
/** Looks that count for nothing. */
const WARM_UP = 2;
const SEED = 1;
const KEY = 'Control+Alt+K';
const PROBE = path.join(import.meta.dirname, 'memory-probe.cjs');
const MEGABYTE = 1024 * 1024;

interface Held {
  /** Resident memory and what JavaScript holds of it, in bytes. */
  readonly rss: number;
  readonly heap: number;
}

interface Look {
  readonly runs: number;
  readonly host: Held;
  readonly backend: Held;
  readonly page: Held;
  /** Of all documents of the page: elements, texts, and what listens on them. */
  readonly nodes: number;
  readonly listeners: number;
}

const load = loadNow();
const folder = await mkdtemp(path.join(tmpdir(), 'conductor-bench-memory-'));
const told = path.join(folder, 'told');
await mkdir(told);
// The project is the same for the same seed, and so is what is asked about it.
const { question } = await writeSampleProject(path.join(folder, 'same'), { seed: SEED });
const solve = { command: 'conductor.solve', key: KEY.replace('Control', 'Ctrl').toLowerCase(), args: { question, confirmContext: false } };
const empty = await packEmptyExtension(path.join(folder, 'empty'), {
  main: `exports.activate = () => { require(${JSON.stringify(PROBE)}); };\n`, contributes: { keybindings: [solve] },
});
const workbench = await Workbench.start({
  seed: SEED, latency: 0, vsix: [empty], environment: { CONDUCTOR_BENCH_MEMORY: told },
});
try {
  const { window, panel, server } = workbench;
  const backend = await startBackend(workbench);
  const session = await window.page.context().newCDPSession(window.page);
  await session.send('Performance.enable');
  await window.statusItem(/Conductor suggestions/).waitFor({ timeout: 60_000 });
  await window.openFile(workbench.bug.path);
  const looks: Look[] = [];
  for (let done = 0; done <= runs; done += 1) {
    if (done > 0) {
      await window.editors.first().click();
      await window.page.keyboard.press(KEY);
      if (done > 1) await panel.status.filter({ hasNotText: 'Verified' }).waitFor();
      await panel.status.filter({ hasText: 'Verified' }).waitFor({ timeout: 120_000 });
    }
    // Nothing runs before the first question.
    if (done === 0 || (done !== 1 && done % every !== 0)) continue;
    const [host] = server.extensionHosts();
    const { pid } = await workbench.backend();
    const look = {
      runs: done, host: await heldBy(host ?? -1), backend: await heldBy(pid), ...await lookAtPage(session),
    };
    looks.push(look);
    console.log([
      `${String(done).padStart(4)} runs`,
      ...(['host', 'backend', 'page'] as const).map((name) => `${name} ${megabytes(look[name].rss)} MB (heap ${megabytes(look[name].heap)})`),
      `${look.nodes} nodes, ${look.listeners} listeners`,
    ].join('  '));
  }
  const counted = looks.slice(Math.min(WARM_UP, looks.length - 2));
  const growth = (valueOf: (look: Look) => number): number => slope(counted.map((look) => ({ x: look.runs, y: valueOf(look) })));
  const row = (name: 'host' | 'backend' | 'page'): Record<string, number> => ({
    'first, MB': megabytes(counted[0]?.[name].rss ?? Number.NaN),
    'last, MB': megabytes(counted.at(-1)?.[name].rss ?? Number.NaN),
    'resident, kB a run': round(growth((look) => look[name].rss) / 1024),
    'heap, kB a run': round(growth((look) => look[name].heap) / 1024),
  });
  backend.close();
  await report('memory', {
    rows: { 'extension host': row('host'), 'backend': row('backend'), 'page': row('page') },
    figures: { looks, nodesARun: growth(({ nodes }) => nodes), listenersARun: growth(({ listeners }) => listeners) },
    load,
  });
} finally {
  await workbench.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Before the first question, which would start one without the probe. */
async function startBackend({ home, server }: Workbench): Promise<BackendClient> {
  return connectBackend({
    home,
    backendScript: path.join(server.extensionFolder('conductor.conductor'), 'dist', 'backend.mjs'),
    environment: { NODE_OPTIONS: `--require=${PROBE}`, CONDUCTOR_BENCH_MEMORY: told },
    client: { kind: 'test', version: '0.0.0' }, capabilities: [], workspaces: [], handlers: {},
  });
}

/** Asks a process with memory-probe.cjs in it. */
async function heldBy(pid: number): Promise<Held> {
  const file = path.join(told, `${pid}.json`);
  await rm(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (let waited = 0; !existsSync(file); waited += 50) {
    if (waited > 30_000) throw new Error(`Process ${pid} does not tell what it holds.`);
    await delay(50);
  }
  const { rss, heapUsed, external } = JSON.parse(await readFile(file, 'utf8')) as NodeJS.MemoryUsage;
  return { rss, heap: heapUsed + external };
}

/** The window's page, which holds the workbench and the panel in its frame. */
async function lookAtPage(session: CDPSession): Promise<Pick<Look, 'page' | 'nodes' | 'listeners'>> {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return {
    page: { rss: await rendererMemory(), heap: of('JSHeapUsedSize') },
    nodes: of('Nodes'),
    listeners: of('JSEventListeners'),
  };
}

/** Resident memory of the browser's largest renderer, which is that of the window. */
async function rendererMemory(): Promise<number> {
  const browser = await workbench.window.page.context().browser()?.newBrowserCDPSession();
  if (!browser) throw new Error('The window has no browser.');
  try {
    const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
    const renderers = processInfo.filter(({ type }) => type === 'renderer');
    return Math.max(...await Promise.all(renderers.map(({ id }) => residentMemory(id))));
  } finally {
    await browser.detach();
  }
}

async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

function megabytes(bytes: number): number {
  return round(bytes / MEGABYTE);
}
