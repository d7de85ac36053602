import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { stopBackend } from '../../../backend/protocol/client/start-backend.ts';
import { launchBrowser } from '../../e2e/harness/browser.ts';
import { packedVsix } from '../../e2e/harness/workbench.ts';
import { VsCodeServer } from '../../e2e/harness/vscode-server.ts';
import { VsCodeWindow } from '../../e2e/harness/vscode-window.ts';
import { LocalServer } from '../../support/local-server.ts';
import { packEmptyExtension } from './empty-extension.ts';
import { loadNow, median, quantile, report, round } from './report.ts';

/*
 * From a key to ghost text, with a worker that answers in 50 ms: a real HTTP server with OpenAI's Chat Completions. Beside it an
 * extension that waits as long as Conductor lets keys pause (50 ms with a worker that quick) and as long as the worker takes, and
 * then suggests the same: what it needs is VS Code's own and the machine's, and the difference is ours. Both times are taken in the
 * page: the key as the document gets it, the ghost text as it enters the document. From the packed VSIX.
 *
 * npm run package -- linux-x64 && bash test/e2e/vscode/install.sh
 * node with-node.mjs node test/bench/extension/ghost-text.ts [--rounds N]
 */

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '100' } } });
const rounds = Number(values.rounds);
/** Keys in one file before it is the other's turn, so that what else the machine does falls on both. */
const BLOCK = 10;
const WORKER_MS = 50;
/** `SHORTEST_MS` of extension/suggest/adaptive-pause.ts. */
const PAUSE_MS = 50;
const FILES = { ours: 'ours.rb', empty: 'empty.py' };
const SUGGESTED = 'bc.first';

const EMPTY_MAIN = `
const vscode = require('vscode');
exports.activate = ({ subscriptions }) => subscriptions.push(vscode.languages.registerInlineCompletionItemProvider({ language: 'python' }, {
  async provideInlineCompletionItems(_document, position, _context, token) {
    await new Promise((resolve) => setTimeout(resolve, ${PAUSE_MS}));
    if (token.isCancellationRequested) return [];
    await new Promise((resolve) => setTimeout(resolve, ${WORKER_MS}));
    return [new vscode.InlineCompletionItem('${SUGGESTED}', new vscode.Range(position, position))];
  },
}));
`;

interface Timed {
  key?: number;
  shown?: number;
}

const load = loadNow();
/** When each request came to the worker, by the clock that the page has, too. */
const askedAt: number[] = [];
const worker = await LocalServer.start((request, response) => void answer(request, response));
const folder = await mkdtemp(path.join(tmpdir(), 'conductor-bench-ghost-'));
const home = path.join(folder, 'home');
const project = path.join(folder, 'project');
await Promise.all([mkdir(home, { mode: 0o700 }), mkdir(project)]);
await writeFile(path.join(home, 'workers.json'), JSON.stringify({
  version: 1,
  conductor: 'quick',
  workers: [{
    id: 'quick', provider: 'openai-compatible', model: 'quick', baseUrl: `${worker.url}/v1`,
    price: { inputPerMillion: 0, outputPerMillion: 0 },
  }],
}));
// Lines that differ from each other: what was suggested for one is not known for the next.
const lines = Array.from({ length: rounds + BLOCK }, (_, index) => `value_${index} = `);
await Promise.all(Object.values(FILES).map((file) => writeFile(path.join(project, file), `${lines.join('\n')}\n`)));
const server = await VsCodeServer.start({
  vsix: [packedVsix(), await packEmptyExtension(path.join(folder, 'empty'), { main: EMPTY_MAIN })],
  settings: {
    'conductor.suggestions.enabled': true,
    'conductor.suggestions.worker': 'quick',
    'conductor.suggestions.languages': { '*': true, 'python': false },
    // The list of completions has its own say about what may be shown; it is not what this is about.
    'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
    'files.autoSave': 'off',
  },
  environment: { CONDUCTOR_HOME: home },
});
const browser = await launchBrowser();
try {
  const window = await VsCodeWindow.open(browser, server, project, { prepare });
  await window.statusItem(/Conductor suggestions are on/).waitFor({ timeout: 60_000 });
  const ours: number[] = [];
  const empty: number[] = [];
  const untilAsked: number[] = [];
  // The first block starts the backend and fills caches; it counts for nothing.
  for (let first = 0; first < rounds + BLOCK; first += BLOCK) {
    for (const [file, times] of [[FILES.ours, ours], [FILES.empty, empty]] as const) {
      await window.openFile(file);
      await window.goTo(first + 1, 100);
      for (let line = first; line < first + BLOCK; line += 1) {
        const asked = askedAt.length;
        const { key, shown } = await pressAndWait(window);
        if (first > 0) times.push(shown - key);
        const arrived = askedAt[asked];
        if (first > 0 && file === FILES.ours && arrived !== undefined) untilAsked.push(arrived - key);
        await window.page.keyboard.press('Escape');
        await window.page.keyboard.press('ArrowDown');
        await window.page.keyboard.press('End');
      }
    }
    console.log(`${String(first).padStart(4)}  Conductor ${round(median(ours.slice(-BLOCK)))} ms, empty ${round(median(empty.slice(-BLOCK)))} ms`);
  }
  const row = (times: readonly number[]): Record<string, number> => ({
    'median': round(median(times)), '90 %': round(quantile(times, 0.9)), 'most': round(Math.max(...times)), 'keys': times.length,
  });
  await report('ghost-text', {
    rows: {
      'Conductor, ms': row(ours),
      'empty, ms': row(empty),
      'over empty, ms': { 'median': round(median(ours) - median(empty)), '90 %': round(quantile(ours, 0.9) - quantile(empty, 0.9)), 'most': '', 'keys': '' },
      'key to request, ms': row(untilAsked),
    },
    figures: { ours, empty, untilAsked },
    load,
  });
} finally {
  await browser.close();
  await server.stop();
  await stopBackend(home);
  await worker.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/** One key, and the times by the page's clock, in milliseconds since 1970. */
async function pressAndWait({ page }: VsCodeWindow): Promise<Required<Timed>> {
  await page.evaluate(() => { (window as unknown as { timed: Timed }).timed = {}; });
  await page.keyboard.press('a');
  const timed = await page.waitForFunction(() => {
    const { key, shown } = (window as unknown as { timed: Timed }).timed;
    return key !== undefined && shown !== undefined && { key, shown };
  }, undefined, { timeout: 20_000 });
  return timed.jsonValue() as Promise<Required<Timed>>;
}

async function prepare(page: Page): Promise<void> {
  await page.addInitScript(watchKeysAndGhosts);
}

/** Runs in the page, before its scripts. */
function watchKeysAndGhosts(): void {
  const page = window as unknown as { timed: Timed };
  page.timed = {};
  const now = (): number => performance.timeOrigin + performance.now();
  window.addEventListener('keydown', (event) => {
    if (event.key === 'a') page.timed.key = now();
  }, true);
  new MutationObserver(() => {
    if (page.timed.key !== undefined && page.timed.shown === undefined && document.querySelector('.ghost-text-decoration')) page.timed.shown = now();
  }).observe(document, { subtree: true, childList: true });
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Who looks for what the server is finds nothing.
  if (request.method !== 'POST' || !request.url?.endsWith('/chat/completions')) return void response.writeHead(404).end();
  askedAt.push(performance.timeOrigin + performance.now());
  const { model } = JSON.parse(await text(request)) as { model: string };
  await delay(WORKER_MS);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (data: object): boolean => response.write(`data: ${JSON.stringify({ id: 'x', model, ...data })}\n\n`);
  send({ choices: [{ index: 0, delta: { content: `${SUGGESTED}\n` }, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  send({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 } });
  response.end('data: [DONE]\n\n');
}
