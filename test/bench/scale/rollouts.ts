/*
 * A backend that has hundreds of rollouts under way: docs/scale.md.
 *
 *   npm run build && node with-node.mjs node test/bench/scale/rollouts.ts [--parallel 200] [--plans 1536] [--speed 1] [--keep FOLDER]
 *
 * A training as people start it, with conductor-mini, of tasks that are a sum each. Backend, journal, budget, model process and command line are the product's; the workers
 * are simulated, as slow as measured ones (measured.ts). The report has figures of the time in which the rollouts are under way, which is when all plans are sampled.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { HOSTS } from './measured.ts';
import type { Watched } from './watch-backend.ts';

const { values } = parseArgs({
  options: { parallel: { type: 'string', default: '200' }, plans: { type: 'string', default: '1536' }, speed: { type: 'string', default: '1' }, keep: { type: 'string' } },
});
const [parallel, plans] = [Number(values.parallel), Number(values.plans)];
const TASKS = 64;
const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.resolve(HERE, '../../..');

const keep = values.keep === undefined ? await mkdtemp(path.join(tmpdir(), 'bench-rollouts-')) : path.resolve(values.keep);
const [home, project, watched] = [path.join(keep, 'home'), path.join(keep, 'project'), path.join(keep, 'watched.jsonl')];
await mkdir(home, { recursive: true, mode: 0o700 });
await mkdir(project, { recursive: true });
const children: ChildProcess[] = [];

function start(args: readonly string[], { stdout }: { readonly stdout: 'pipe' | 'inherit' }): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, CONDUCTOR_HOME: home, WATCH_BACKEND: watched }, stdio: ['ignore', stdout, 'inherit'] });
  children.push(child);
  return child;
}

async function command(...args: readonly string[]): Promise<number> {
  const [code] = await once(start([path.join(ROOT, 'run-cli.mjs'), ...args], { stdout: 'inherit' }), 'exit') as [number];
  return code;
}

async function addressesOf(child: ChildProcess): Promise<string[]> {
  const [line] = await once(child.stdout!.setEncoding('utf8'), 'data') as [string];
  return JSON.parse(line) as string[];
}

const task = (index: number): string => JSON.stringify({ id: `sum-${index}`, question: `What is ${index + 11} + ${7 * index + 3}?`, grader: { kind: 'exact', answer: String(8 * index + 14) } });

interface Event { readonly run_id: string; readonly at: number; readonly type: string }

/** How many rollouts were begun and not over, at times in milliseconds. */
function underWay(events: readonly Event[]): (at: number) => number {
  const begun = new Map<string, number>();
  const ended = new Map<string, number>();
  for (const { run_id: run, at } of events) {
    if (!begun.has(run)) begun.set(run, at);
    ended.set(run, at);
  }
  const runs = [...begun].map(([run, from]) => ({ from, to: ended.get(run) ?? from }));
  return (at) => runs.filter(({ from, to }) => from <= at && at < to).length;
}

try {
  const addresses = await addressesOf(start([path.join(HERE, 'worker-hosts.ts'), values.speed], { stdout: 'pipe' }));
  await writeFile(path.join(home, 'workers.json'), JSON.stringify({
    version: 1,
    workers: HOSTS.map(({ name }, index) => ({
      id: name, model: name, provider: 'openai-compatible', baseUrl: addresses[index], description: 'A general language model.', concurrency: 64, price: { inputPerMillion: 1, outputPerMillion: 4 },
    })),
  }));
  await writeFile(path.join(project, 'conductor.tasks.jsonl'), `${Array.from({ length: TASKS + 4 }, (_, index) => task(index)).join('\n')}\n`);
  const config = path.join(keep, 'train.json');
  await writeFile(config, JSON.stringify({
    steps: 1, tasksPerStep: TASKS, groupSize: Math.ceil(plans / TASKS), carriedOut: 16_384, unpaidUpdates: 0, parallel, sharedSteps: false, maxTokens: 256,
    tasks: { project: false, heldOut: 0.05 }, evaluation: { samples: 1, onTheWay: 0 }, budget: { usd: 1_000, tokens: 1_000_000_000 },
  }));

  const backend = start(['--import', path.join(HERE, 'watch-backend.ts'), path.join(ROOT, 'dist/backend.mjs')], { stdout: 'inherit' });
  while (!(await readFile(path.join(home, 'backend.json'), 'utf8').then(() => true, () => false))) await delay(100);
  const code = await command('train', '-w', project, '--config', config, '--yes');
  if (code > 1) throw new Error(`The training ended with ${code}.`);
  const hasEnded = once(backend, 'exit');
  await command('backend', 'stop');
  await hasEnded;

  const database = new DatabaseSync(path.join(home, 'journal.sqlite'), { readOnly: true });
  const events = database.prepare("SELECT run_id, at, type FROM events JOIN runs USING (run_id) WHERE kind = 'rollout' ORDER BY at").all() as unknown as Event[];
  database.close();
  const count = underWay(events);
  const lines = (await readFile(watched, 'utf8')).trim().split('\n').map((line) => JSON.parse(line) as Watched);
  // At least four fifths of what is allowed at once.
  const full = lines.filter(({ at }) => count(at) >= 0.8 * parallel);
  const [first, last] = [full[0], full.at(-1)];
  if (!first || !last || first === last) throw new Error(`There were never ${parallel} rollouts under way: ask for more --plans.`);
  const seconds = (last.at - first.at) / 1_000;
  const between = events.filter(({ at }) => first.at <= at && at < last.at);
  const ended = new Set(between.filter(({ type }) => type === 'run.completed').map(({ run_id: run }) => run)).size;
  const mean = (of: (line: Watched) => number, some: readonly Watched[] = full): number => some.reduce((sum, line) => sum + of(line), 0) / some.length;
  const third = Math.ceil(full.length / 3);
  const megabytes = (of: (line: Watched) => number): string => [full.slice(0, third), full.slice(third, -third), full.slice(-third)].map((some) => (mean(of, some) / 1e6).toFixed(0)).join(', ');
  console.log([
    '| under way | seconds | rollouts ended | events a second | commits a second | in SQLite | processor | event loop busy | resident MB, by thirds | heap MB, by thirds |',
    '| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    `| ${mean(({ at }) => count(at)).toFixed(0)} | ${seconds.toFixed(0)} | ${ended} | ${(between.length / seconds).toFixed(0)} | ${((last.commits - first.commits) / seconds).toFixed(0)} | ${(100 * (last.sqliteMs - first.sqliteMs) / (last.at - first.at)).toFixed(1)} % of the time, ${
      ((last.sqliteMs - first.sqliteMs) / (last.commits - first.commits)).toFixed(1)} ms a commit | ${(100 * (last.processorMs - first.processorMs) / (last.at - first.at)).toFixed(0)} % of a core | ${
      (100 * mean(({ busy }) => busy)).toFixed(0)} % | ${megabytes(({ residentBytes }) => residentBytes)} | ${megabytes(({ heapBytes }) => heapBytes)} |`,
  ].join('\n'));
} finally {
  for (const child of children) child.kill();
  if (values.keep === undefined) await rm(keep, { recursive: true, force: true });
}
