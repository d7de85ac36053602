/*
 * What it costs to make tasks of real projects, for each candidate that is tried.
 *
 *   node with-node.mjs node test/bench/tasks/bench.ts FOLDER --out results.json [--only NAME] [--tries 12] [--seed 1]
 *   node with-node.mjs node test/bench/tasks/bench.ts --compare before.json now.json
 *
 * FOLDER holds a clone of each project, as README.md lists them. The first candidates of a seed are tried as a training does. Told are the time until
 * all are decided, the processor time of all runs of tests, and how often tests were run. `--compare` says whether two versions of Conductor
 * decided alike.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import * as z from 'zod';
import { userPath } from '../../../backend/common/user-path.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { makeProjectTasks, type Decision } from '../../../backend/train/tasks/project-tasks.ts';
import { CopyPool } from '../../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { MemoryBaseRunCache } from '../../../backend/verify/judge/base-run-cache.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../backend/verify/verify.ts';

interface Project {
  readonly name: string;
  readonly command: string;
  readonly runner: string;
}

const PROJECTS: readonly Project[] = [
  { name: 'pflag', command: 'go test ./...', runner: 'go' },
  { name: 'ufo', command: 'npx vitest run', runner: 'vitest' },
  { name: 'tomli', command: 'PYTHONPATH=src python3 -m unittest', runner: 'unittest' },
  { name: 'click', command: 'PYTHONPATH=src python3 -m pytest', runner: 'pytest' },
];

const resultSchema = z.object({
  project: z.string(),
  /** Seconds of the tests alone, of all candidates together, and of processors. */
  alone: z.number(), seconds: z.number(), processorSeconds: z.number(),
  /** Runs of the tests, or of some of them. */
  runs: z.number(),
  decisions: z.array(z.object({ about: z.string(), isAdmitted: z.boolean(), reason: z.string() })),
});
type Result = z.infer<typeof resultSchema>;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'only': { type: 'string' }, 'tries': { type: 'string', default: '12' }, 'seed': { type: 'string', default: '1' }, 'out': { type: 'string' }, 'compare': { type: 'boolean', default: false } },
});

if (values.compare) {
  const [before, now] = await Promise.all(positionals.map(read));
  if (!before || !now) throw new Error('Name the results before and now.');
  compare(before, now);
} else {
  const [clones] = positionals;
  if (clones === undefined || values.out === undefined) throw new Error('Name the folder with the clones, and the file for the results.');
  const results: Result[] = [];
  for (const project of PROJECTS) {
    if (values.only !== undefined && values.only !== project.name) continue;
    results.push(await measure(project, path.resolve(clones, project.name)));
    console.log(row(results.at(-1) as Result));
    await writeFile(values.out, `${JSON.stringify(results, undefined, 2)}\n`);
  }
}

async function read(file: string): Promise<readonly Result[]> {
  return z.array(resultSchema).parse(JSON.parse(await readFile(file, 'utf8')));
}

async function measure({ name, command, runner }: Project, workspace: string): Promise<Result> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'tasks-bench-')));
  const folders = new RunFolders(path.join(folder, 'runs'), isProcessAlive);
  const copies = new CopyPool({ folders });
  try {
    const alone = await timed(() => promisify(execFile)('/bin/sh', ['-c', command], { cwd: workspace, maxBuffer: 2 ** 28 }));
    const sandbox = new Sandbox({ searchPath: userPath(process.env), homeFolder: homedir(), folders });
    let runs = 0;
    let processors = 0;
    const counting: Pick<Sandbox, 'run' | 'pinnedImage'> = {
      pinnedImage: (image) => sandbox.pinnedImage(image),
      run: async (asked) => {
        const [report] = asked.writable ?? [];
        if (!asked.cwd.startsWith(folder) || report === undefined) return await sandbox.run(asked);
        runs += 1;
        const times = path.join(report, 'times');
        const outcome = await sandbox.run({ ...asked, command: `trap 'times >${times}' EXIT\n${asked.command}` });
        processors += secondsIn(await readFile(times, 'utf8').catch(() => ''));
        return outcome;
      },
    };
    const verifier = new Verifier({ sandbox: counting, folders, copies, baseRuns: new MemoryBaseRunCache() });
    const decided: Decision[] = [];
    const stop = new AbortController();
    const seconds = await timed(() => makeProjectTasks({
      verifier, workspace, test: { command, runner }, signal: stop.signal,
      gatherContext: async (_, { paths }) => await Promise.resolve({ text: '', shown: paths }),
      onDecided: (decision) => decided.push(decision),
      onTried: ({ tried }) => tried >= Number(values.tries) && stop.abort(),
    }, { seed: Number(values.seed), count: 1_000, heldOut: 0.3, kinds: ['write', 'repair', 'redo'] }).catch((error: unknown) => {
      if (error !== stop.signal.reason) throw error;
    }));
    const tried = decided.slice(-Number(values.tries));
    return {
      project: name, alone, seconds, runs, processorSeconds: processors,
      decisions: tried.map(({ about, state, reason }) => ({ about, isAdmitted: state !== 'left-out', reason })),
    };
  } finally {
    await copies.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Seconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

/** The sum of what `times` says, in seconds. */
function secondsIn(said: string): number {
  return [...said.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds), 0);
}

function row({ project, alone, seconds, processorSeconds: processors, runs, decisions }: Result): string {
  const each = decisions.length;
  const admitted = decisions.filter(({ isAdmitted }) => isAdmitted).length;
  const figures = [alone, seconds / each, processors / each, runs / each].map((figure) => figure.toFixed(2)).join(' | ');
  return `| ${project} | ${figures} | ${admitted} of ${each} |`;
}

function compare(before: readonly Result[], now: readonly Result[]): void {
  console.log('| project | tests alone | a candidate before | now | ratio | processor time before | now | runs before | now | admitted | decided alike |\n|---|---|---|---|---|---|---|---|---|---|---|');
  for (const one of now) {
    const was = before.find(({ project }) => project === one.project);
    if (!was) continue;
    const each = (figures: Result, of: 'seconds' | 'processorSeconds' | 'runs'): number => figures[of] / figures.decisions.length;
    const alike = one.decisions.filter(({ about, isAdmitted }, index) => was.decisions[index]?.about === about && was.decisions[index].isAdmitted === isAdmitted).length;
    const admitted = one.decisions.filter(({ isAdmitted }) => isAdmitted).length;
    const figures = [
      ...[one.alone, each(was, 'seconds'), each(one, 'seconds')].map((seconds) => `${seconds.toFixed(1)} s`),
      (each(one, 'seconds') / each(was, 'seconds')).toFixed(2),
      ...[each(was, 'processorSeconds'), each(one, 'processorSeconds')].map((seconds) => `${seconds.toFixed(1)} s`),
      ...[each(was, 'runs'), each(one, 'runs')].map((count) => count.toFixed(1)),
    ];
    console.log(`| ${one.project} | ${figures.join(' | ')} | ${admitted} of ${one.decisions.length} | ${alike} |`);
  }
}
