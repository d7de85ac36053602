import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import { ContextGatherer } from '../../../backend/context/gather-context.ts';
import { Ripgrep } from '../../../backend/context/ripgrep.ts';
import { Workspace } from '../../../backend/context/workspace.ts';
import { CONTEXT_TOKENS } from '../../../backend/solve/run-contexts.ts';
import { bm25, type Shown } from './bm25.ts';
import { changedFiles, git, readFixes, type ChangedFile, type HistoricFix } from './historic-fix.ts';

/*
 * Whether the context of a question holds the code that its answer changes, and what it takes. docs/context.md says how to run it and what it
 * found. Other checkouts of this project, `--against FOLDER`, are asked the same in turn.
 */

const { values } = parseArgs({
  options: {
    repositories: { type: 'string' }, work: { type: 'string' }, fixes: { type: 'string', default: 'fixes.json' },
    only: { type: 'string' }, against: { type: 'string', multiple: true, default: [] }, peer: { type: 'boolean', default: false }, cold: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const { repositories, work } = values;
if (repositories === undefined || work === undefined) {
  throw new Error('Say where the repositories lie and where to check them out: --repositories FOLDER --work FOLDER');
}

interface Outcome {
  readonly fix: HistoricFix;
  readonly anyFile: boolean;
  readonly allFiles: boolean;
  readonly allLines: boolean;
}

/** Milliseconds. What ripgrep takes, a process of its own, is in `wall` alone. */
interface Spent {
  readonly wall: number;
  readonly cpu: number;
}

/** This checkout, and others that are asked the same, in turn. */
interface Contestant {
  readonly name: string;
  readonly gatherer: () => ContextGatherer;
  readonly outcomes: Outcome[];
  readonly cold: Spent[];
  readonly warm: Spent[];
}

const contestant = (name: string, Gatherer: typeof ContextGatherer): Contestant =>
  ({ name, gatherer: () => new Gatherer({ ripgrepPath: rgPath }), outcomes: [], cold: [], warm: [] });
const contestants = [contestant('Conductor', ContextGatherer)];
for (const checkout of values.against) {
  const module = await import(pathToFileURL(path.resolve(checkout, 'backend/context/gather-context.ts')).href) as { ContextGatherer: typeof ContextGatherer };
  contestants.push(contestant(path.basename(checkout), module.ContextGatherer));
}
const peers: Outcome[] = [];
const ripgrep = new Ripgrep(rgPath);

const fixes = readFixes(values.fixes).filter(({ repository }) => values.only === undefined || repository.includes(values.only));
for (const [repository, list] of Map.groupBy(fixes, (fix) => fix.repository)) {
  const folder = await clone(repository);
  const kept = contestants.map(({ gatherer }) => gatherer());
  for (const fix of list) {
    const changed = await changedFiles(folder, fix.commit);
    await git(folder, 'checkout', '-q', '-f', '--detach', `${fix.commit}^`);
    for (const [index, { gatherer, outcomes, cold, warm }] of contestants.entries()) {
      const ask = () => (kept[index] ??= gatherer()).gather({
        question: fix.question, workspace: folder, files: [], diagnostics: [], tokenBudget: CONTEXT_TOKENS, signal: new AbortController().signal,
      });
      if (values.cold) {
        delete kept[index];
        cold.push((await timed(ask))[1]);
      } else await ask();
      const [{ pieces, tokens }, spent] = await timed(ask);
      warm.push(spent);
      if (tokens > CONTEXT_TOKENS) throw new Error(`${tokens} tokens are over the budget`);
      const outcome = outcomeOf(fix, changed, pieces);
      outcomes.push(outcome);
      if (values.verbose) report(outcome, changed, pieces);
    }
    if (values.peer) {
      const workspace = await Workspace.open(folder, ripgrep, new AbortController().signal);
      peers.push(outcomeOf(fix, changed, bm25(folder, workspace?.files ?? [], { question: fix.question, tokens: CONTEXT_TOKENS })));
    }
  }
}
for (const { name, outcomes, cold, warm } of contestants) {
  table(name, outcomes);
  for (const [state, times] of [['warm', warm], ['cold', cold]] as const) {
    if (times.length > 0) console.log(`${state}, milliseconds: ${spread(times.map(({ wall }) => wall))}; of CPU: ${spread(times.map(({ cpu }) => cpu))}`);
  }
}
if (peers.length > 0) table('BM25 over whole files', peers);

async function clone(repository: string): Promise<string> {
  const name = repository.replace('/', '+');
  const folder = path.join(work ?? '', name);
  if (!existsSync(path.join(folder, '.git'))) {
    mkdirSync(folder, { recursive: true });
    await git('.', 'clone', '-q', '--shared', '--no-checkout', path.join(repositories ?? '', name, 'repo'), folder);
  }
  return folder;
}

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, Spent]> {
  const begin = performance.now();
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return [result, { wall: performance.now() - begin, cpu: (user + system) / 1000 }];
}

function outcomeOf(fix: HistoricFix, changed: readonly ChangedFile[], shown: readonly Shown[]): Outcome {
  const isShown = ({ path: file }: ChangedFile): boolean => shown.some((piece) => piece.path === file);
  return {
    fix,
    anyFile: changed.some(isShown),
    allFiles: changed.every(isShown),
    allLines: changed.every(({ path: file, lines }) =>
      lines.every((line) => shown.some((piece) => piece.path === file && piece.startLine <= line && line <= piece.endLine))),
  };
}

function table(name: string, outcomes: readonly Outcome[]): void {
  const share = (list: readonly Outcome[], of: (outcome: Outcome) => boolean): string =>
    `${(100 * list.filter(of).length / list.length).toFixed(0)} %`.padStart(6);
  console.log(`\n${name.padEnd(28)} fixes   file  files  lines`);
  const rows: [string, readonly Outcome[]][] = [...Map.groupBy(outcomes, ({ fix }) => fix.repository), ['all', outcomes]];
  for (const [repository, list] of rows) {
    console.log(`${repository.padEnd(28)} ${String(list.length).padStart(5)} ${share(list, ({ anyFile }) => anyFile)} `
      + `${share(list, ({ allFiles }) => allFiles)} ${share(list, ({ allLines }) => allLines)}`);
  }
}

function report({ fix, anyFile, allLines }: Outcome, changed: readonly ChangedFile[], shown: readonly Shown[]): void {
  if (allLines) return;
  console.log(`\n${anyFile ? 'lines' : 'FILE'} ${fix.repository} ${fix.commit.slice(0, 9)} ${fix.question.slice(0, 300).replaceAll('\n', ' / ')}`);
  for (const { path: file, lines } of changed) console.log(`  changed ${file}: ${lines.join(' ').slice(0, 150)}`);
  console.log(`  shown ${shown.map((piece) => `${piece.path}:${piece.startLine}-${piece.endLine}`).join(' ').slice(0, 900)}`);
}

function spread(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(0);
  return `median ${at(0.5)}, 95 % within ${at(0.95)}`;
}
