import path from 'node:path';
import { parseArgs } from 'node:util';
import type { CDPSession, Page } from 'playwright-core';
import type { PanelState, ViewOf } from '../../../backend/protocol/panel-messages.ts';
import type { RunSnapshot, StepView } from '../../../backend/protocol/run-snapshot.ts';
import { launchBrowser } from '../../e2e/harness/browser.ts';
import { BEGIN, REPLIES, stateWith, twoRoundsRun } from '../../webview/fixtures.ts';
import { openPanel, type PanelPage } from '../../webview/harness/panel-page.ts';
import { THEMES } from '../../webview/harness/themes.ts';
import { loadNow, quantile, report, round, type Rows } from './report.ts';

/*
 * Whether the panel keeps 60 frames a second and flat memory: a run of two rounds, five steps each, 50,000 tokens, streamed into the built
 * page as the extension does it (whole states, ten a second), then scrolled with everything open, then closed, several times over. In the
 * side bar and in an editor's tab. Frames depend on what else the machine does, so the work of the main thread is counted, too, and frames of
 * an empty page are measured beside.
 *
 * npm run build
 * node with-node.mjs node test/bench/extension/panel.ts [--seconds N] [--repeats N] [--dist dist]
 */

const { values } = parseArgs({
  options: {
    dist: { type: 'string', default: 'dist' },
    /** How long the run streams. */
    seconds: { type: 'string', default: '50' },
    repeats: { type: 'string', default: '5' },
  },
});

const TOKENS = 50_000;
const STEPS = 10;
/** English prose and code have about four characters a token. */
const CHARACTERS_PER_TOKEN = 4;
const STATES_PER_SECOND = 10;
const FRAME_MS = 1_000 / 60;

const PLACES = [
  { name: 'side bar, 400 px', place: 'side', width: 400 },
  { name: 'editor, 1700 px', place: 'editor', width: 1_700 },
] as const;

/** What one state costs the main thread, in milliseconds. */
interface StateCost {
  /** Of the browser's own: writing and reading the message. */
  readonly clone: number;
  /** Until the page has taken the state and changed its elements. */
  readonly render: number;
  /** Of styles and layout. */
  readonly layout: number;
}

interface Watched {
  readonly costs: readonly StateCost[];
  readonly frames: readonly number[];
  readonly longTasks: readonly number[];
}

/** From the top to the end of the page in about three seconds of frames. */
const SCROLL = `async () => {
  scrollTo(0, 0);
  const step = Math.max(1, (document.documentElement.scrollHeight - innerHeight) / 180);
  for (let frame = 0; frame < 180; frame += 1) {
    scrollBy(0, step);
    await new Promise(requestAnimationFrame);
  }
}`;

const load = loadNow();
const frames: Record<string, Rows[string]> = {};
const costs: Record<string, Rows[string]> = {};
const memory: Record<string, Rows[string]> = {};
const figures: Record<string, unknown> = {};
const browser = await launchBrowser();
try {
  const run = longRun();
  console.log(`${TOKENS} tokens in ${STEPS} steps; the last state has ${Math.round(JSON.stringify(stateWith({ run })).length / 1_000)} kB`);
  for (const { name, place, width } of PLACES) {
    const panel = await openPanel(browser, {
      dist: path.resolve(values.dist), theme: theme('dark'), width, place, replies: REPLIES, reducedMotion: false,
    });
    const devTools = await panel.page.context().newCDPSession(panel.page);
    await panel.show(stateWith(), BEGIN);
    const empty = await watch(panel.page, '() => after(2_000)');
    const streamed = await stream(panel, run, Number(values.seconds) * STATES_PER_SECOND);
    await panel.show(stateWith({ run }), BEGIN);
    await panel.openAll();
    const scrolled = await watch(panel.page, SCROLL);
    const heaps = await heapsAfterRuns(panel, devTools);
    for (const problem of panel.problems) console.log(`${name}: ${problem}`);
    await panel.page.close();
    Object.assign(frames, {
      [`${name}: nothing to do`]: frameRow(empty), [`${name}: streaming`]: frameRow(streamed), [`${name}: scrolling, all open`]: frameRow(scrolled),
    });
    for (const part of ['clone', 'render', 'layout'] as const) costs[`${name}: ${part}`] = costRow(streamed.costs.map((cost) => cost[part]));
    Object.assign(memory, { [name]: Object.fromEntries(heaps.map((megabytes, index) => [`run ${index + 1}`, megabytes])) });
    figures[name] = { empty, streamed, scrolled, heaps };
  }
  console.log('\nFrames, in milliseconds. "late": over one and a half of the 16.7 that a frame has');
  console.table(frames);
  console.log('What one state costs the main thread, in milliseconds');
  console.table(costs);
  console.log('Heap that is left after a run was streamed, opened and closed, in MB');
  await report('panel', { rows: memory, figures, load });
} finally {
  await browser.close();
}

/** Prose, lists and code, as workers write them. */
function longRun(): RunSnapshot {
  const paragraph = 'The loop keeps the last interval and compares it with the next one, so `merge()` is linear after the sort. ';
  const code = '\n\n```ts\nfor (const [a, b] of sorted) {\n  const last = merged.at(-1);\n  if (last && a <= last[1]) last[1] = Math.max(last[1], b);\n}\n```\n\n';
  const part = `${paragraph.repeat(6)}\n\n- **First**: ${paragraph}\n- **Second**: ${paragraph}\n${code}`;
  const length = TOKENS / STEPS * CHARACTERS_PER_TOKEN;
  return twoRoundsRun((round, step) => `${round}.${step} ${part.repeat(Math.ceil(length / part.length))}`.slice(0, length));
}

/** Sends the run as it grows, `count` states in all. */
async function stream(panel: PanelPage, run: RunSnapshot, count: number): Promise<Watched> {
  const states = Array.from({ length: count }, (_, index) => progressOf(run, (index + 1) / count));
  // Too much to be sent one by one while it is measured: the page gets the finished run once, and how far each state is.
  await panel.page.evaluate((bench) => void Object.assign(window, { bench }), { state: stateWith({ run }), steps: states });
  return watch(panel.page, `async () => {
    const { state, steps } = window.bench;
    const began = performance.now();
    for (const [index, progress] of steps.entries()) {
      await after(began + index * ${1_000 / STATES_PER_SECOND} - performance.now());
      take(stateAt(state, progress));
    }
  }`);
}

/** How many characters of each step have come: a round's first two steps stream side by side, the others one after the other. */
function progressOf(run: RunSnapshot, fraction: number): number[][] {
  const all = run.rounds.map(({ steps }) => steps.map(({ output = '' }) => output.length));
  let left = fraction * all.flat().reduce((sum, length) => sum + length, 0);
  return all.map(([first = 0, second = 0, ...others]) => {
    const both = Math.min(first, left / 2);
    left -= both + Math.min(second, both);
    const rest = others.map((length) => {
      const come = Math.min(length, left);
      left -= come;
      return come;
    });
    return [both, Math.min(second, both), ...rest].map(Math.floor);
  });
}

/**
 * Runs a function in the page, and counts frames, long tasks and the cost of the states that it sends. By the debugger, which no policy
 * of the page stops.
 */
async function watch(page: Page, what: string): Promise<Watched> {
  return page.evaluate(`(async () => {
    const after = (ms) => new Promise((done) => setTimeout(done, Math.max(0, ms)));
    const costs = [], frames = [], longTasks = [];
    const observer = new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)));
    observer.observe({ type: 'longtask' });
    let watching = true, last = performance.now();
    const frame = (now) => { frames.push(now - last); last = now; if (watching) requestAnimationFrame(frame); };
    requestAnimationFrame((now) => { last = now; requestAnimationFrame(frame); });
    const stateAt = ${stateAt.toString()};
    const take = (state) => {
      const begin = performance.now();
      const data = structuredClone({ type: 'state', sentAt: Date.now(), number: 1, state });
      const cloned = performance.now();
      window.dispatchEvent(new MessageEvent('message', { data }));
      const rendered = performance.now();
      document.body.offsetHeight;
      costs.push({ clone: cloned - begin, render: rendered - cloned, layout: performance.now() - rendered });
    };
    await (${what})();
    await after(100);
    watching = false;
    observer.disconnect();
    return { costs, frames, longTasks };
  })()`);
}

/** The state when so many characters of each step have come. Goes to the page as source, so it uses nothing from outside. */
function stateAt(state: PanelState, progress: readonly (readonly number[])[]): PanelState {
  const { run } = state.view as ViewOf<'run'>;
  const rounds = run.rounds.slice(0, progress.findLastIndex((round) => round.some((come) => come > 0)) + 1).map((round, at) => {
    const steps = round.steps.map((step, index): StepView => {
      const come = progress[at]?.[index] ?? 0;
      const { output = '', attempt, durationMs: _durationMs, finishReason: _reason, ...rest } = step;
      if (come >= output.length) return step;
      if (come === 0) return { ...rest, state: 'pending' };
      return { ...rest, state: 'running', ...(attempt && { attempt: { ...attempt, ended: false, text: output.slice(0, come) } }) };
    });
    const { verdict: _verdict, answer: _answer, ...unjudged } = round;
    return steps.every(({ state: done }) => done === 'completed') ? { ...round, steps } : { ...unjudged, steps };
  });
  const isOver = rounds.length === run.rounds.length && rounds.at(-1)?.verdict !== undefined;
  return { ...state, view: { kind: 'run', run: isOver ? run : { ...run, rounds, state: 'running' } } };
}

/** Megabytes of the heap after the run was streamed, opened and closed, by repeat. */
async function heapsAfterRuns(panel: PanelPage, devTools: CDPSession): Promise<number[]> {
  await devTools.send('Performance.enable');
  const heaps: number[] = [];
  for (let repeat = 0; repeat <= Number(values.repeats); repeat += 1) {
    await watch(panel.page, `async () => {
      const { state, steps } = window.bench;
      const runId = 'run-' + performance.now();
      for (const progress of steps.filter((_, index) => index % 10 === 9)) {
        take(stateAt({ ...state, view: { kind: 'run', run: { ...state.view.run, runId } } }, progress));
        await new Promise(requestAnimationFrame);
      }
    }`);
    await panel.openAll();
    await panel.show(stateWith(), BEGIN);
    await devTools.send('HeapProfiler.collectGarbage');
    const { metrics } = await devTools.send('Performance.getMetrics');
    // The first one fills caches.
    if (repeat > 0) heaps.push(Math.round((metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN) / 1e4) / 100);
  }
  return heaps;
}

function frameRow({ frames: all, longTasks }: Watched): Rows[string] {
  return { ...costRow(all), 'frames': all.length, 'late': all.filter((ms) => ms > 1.5 * FRAME_MS).length, 'tasks over 50 ms': longTasks.length };
}

function costRow(all: readonly number[]): Rows[string] {
  return { 'median': round(quantile(all, 0.5)), '95 % within': round(quantile(all, 0.95)), 'slowest': round(quantile(all, 1)) };
}

function theme(name: string): (typeof THEMES)[string] & object {
  const found = THEMES[name];
  if (!found) throw new Error(`There is no theme "${name}".`);
  return found;
}
