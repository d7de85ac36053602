import { readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { userPath } from '../../../backend/common/user-path.ts';
import { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import type { Verdict } from '../../../backend/protocol/verdict.ts';
import { mutations } from '../../../backend/train/tasks/mutations.ts';
import { editsOf, makeProjectTasks, type ProjectTaskRecord, type TriedCandidate } from '../../../backend/train/tasks/project-tasks.ts';
import { CopyPool } from '../../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { MemoryBaseRunCache } from '../../../backend/verify/judge/base-run-cache.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../backend/verify/verify.ts';
import { git } from '../context/historic-fix.ts';

/*
 * Tasks that a training would mine from real projects, with answers that the real judge has judged once: the right one, and wrong ones. What was
 * found is kept in a file, so that simulations cost no runs of tests.
 */

export interface Project {
  readonly name: string;
  readonly command: string;
  readonly runner: string;
}

export const PROJECTS: readonly Project[] = [
  { name: 'tomli', command: 'PYTHONPATH=src python3 -m unittest', runner: 'unittest' },
  { name: 'fast-uri', command: "npx tape 'test/**/*.js'", runner: 'tape' },
  { name: 'uuid', command: 'go test ./...', runner: 'go' },
];

/** The content of the task's file, and what the tests say of it. The first answer of a task is the right one. */
export interface JudgedAnswer {
  readonly text: string;
  readonly verdict: Verdict;
  /** Processor seconds of all runs of tests that the verdict took. */
  readonly seconds: number;
}

export interface MinedTask {
  readonly project: string;
  readonly record: ProjectTaskRecord;
  readonly answers: readonly JudgedAnswer[];
}

interface Kept {
  /** By project: its commit and the candidates that were tried. */
  readonly tried: Record<string, { readonly commit: string; readonly candidates: TriedCandidate[] }>;
  /** By the id of the task. */
  readonly judged: Record<string, MinedTask>;
}

const MAX_WRONG = 3;
/** A mistaken token may make a loop without end. These tests take less than a second. */
const TIMEOUT_MS = 90_000;
/** Lines around the change in which a wrong answer is wrong. */
const NEAR = 12;

/**
 * @param clones the folder with a clone of each project, with its dependencies installed
 * @param file what was found is kept there, and is not looked for again
 * @param home an absolute folder for copies and reports
 */
export async function minedTasks(clones: string, { file, home, each, seed, only }: { readonly file: string; readonly home: string; readonly each: number; readonly seed: number; readonly only?: string | undefined }): Promise<readonly MinedTask[]> {
  const kept = await readFile(file, 'utf8').then((text) => JSON.parse(text) as Kept, (): Kept => ({ tried: {}, judged: {} }));
  const keep = (): Promise<void> => writeFile(file, JSON.stringify(kept));
  const folders = new RunFolders(path.join(home, 'runs'), isProcessAlive);
  const copies = new CopyPool({ folders });
  const sandbox = new Sandbox({ searchPath: userPath(process.env), homeFolder: homedir(), folders });
  let seconds = 0;
  const counting: Pick<Sandbox, 'run' | 'pinnedImage'> = {
    pinnedImage: (image) => sandbox.pinnedImage(image),
    run: async (asked) => {
      const [report] = asked.writable ?? [];
      if (report === undefined) return await sandbox.run(asked);
      const times = path.join(report, 'times');
      const outcome = await sandbox.run({ ...asked, command: `trap 'times >${times}' EXIT\n${asked.command}` });
      seconds += secondsIn(await readFile(times, 'utf8').catch(() => ''));
      return outcome;
    },
  };
  const verifier = new Verifier({ sandbox: counting, folders, copies, baseRuns: new MemoryBaseRunCache() });
  const { signal } = new AbortController();
  try {
    const all: MinedTask[] = [];
    for (const { name, command, runner } of PROJECTS.filter((project) => only === undefined || project.name === only)) {
      const workspace = path.resolve(clones, name);
      const commit = (await git(workspace, 'rev-parse', 'HEAD')).trim();
      const before = kept.tried[name];
      if (before && before.commit !== commit) throw new Error(`${name} is at another commit than ${file} tells of: name another file.`);
      const tried = (kept.tried[name] ??= { commit, candidates: [] });
      const records = await makeProjectTasks({
        verifier, workspace, test: { command, runner }, signal,
        gatherContext: async (folder, { paths }) => ({ text: (await Promise.all(paths.map((one) => readFile(path.join(folder, one), 'utf8')))).join('\n').slice(0, 40_000), shown: paths }),
        known: new Map(tried.candidates.map((candidate) => [candidate.key, candidate])),
        onFound: async (candidate) => {
          tried.candidates.push(candidate);
          await keep();
        },
        onTried: (told) => console.error(`${name}: ${told.admitted} tasks of ${told.tried} candidates`),
      }, { seed, count: each, heldOut: 0, kinds: ['write', 'repair'] });
      for (const record of records) {
        const answers: JudgedAnswer[] = [...(kept.judged[record.id]?.answers ?? [])];
        for (const text of (await answersTo(record, seed)).slice(answers.length)) {
          seconds = 0;
          const patch = { edits: [{ path: record.path, kind: 'modify' as const, before: record.after, after: text }], refused: [] };
          const verdict = await verifier.verify({
            base: workspace, installed: workspace, baseEdits: editsOf(record), command, runner, patch, ...(record.targets && { targets: record.targets }), timeoutMs: TIMEOUT_MS, signal,
          });
          answers.push({ text, verdict, seconds });
          console.error(`${name}: ${record.id.slice(0, 40)}: ${verdict.outcome}, ${seconds.toFixed(1)} s`);
          kept.judged[record.id] = { project: name, record, answers: [...answers] };
          await keep();
        }
        all.push({ project: name, record, answers });
      }
    }
    return all;
  } finally {
    await copies.close();
  }
}

/** The right answer, then wrong ones: the file as it is asked about with a remark, and the right one with a token mistaken near the change. */
export async function answersTo({ id, path: file, before, after }: Pick<ProjectTaskRecord, 'id' | 'path' | 'before' | 'after'>, seed: number): Promise<readonly string[]> {
  if (before === null || after === null) return [];
  const changed = firstDifference(before, after);
  const near = (await mutations(file, before)).filter(({ line, text }) => Math.abs(line - changed) <= NEAR && text !== after && text !== before);
  const mistaken = new KeyedRandom(seed, 'wrong answers', id).shuffled('order', near.map(({ text }) => text));
  const remark = `${after}${file.endsWith('.py') ? '#' : '//'} It is right now.\n`;
  return [before, ...[...new Set(mistaken)].slice(0, MAX_WRONG - 1), remark];
}

/** The line, from 1. */
function firstDifference(a: string, b: string): number {
  const [left, right] = [a.split('\n'), b.split('\n')];
  const at = left.findIndex((line, index) => line !== right[index]);
  return at === -1 ? left.length : at + 1;
}

/** The sum of what `times` says, in seconds. */
function secondsIn(said: string): number {
  return [...said.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds), 0);
}
