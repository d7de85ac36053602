/*
 * What a right patch costs in real projects beside their own test command.
 *
 *   node with-node.mjs node test/bench/verify/projects.ts FOLDER [--only NAME] [--rounds 3]
 *
 * FOLDER holds a clone of each project, as README.md lists them. Each is broken by one edit; the patch takes it back. Beside the verdict, which
 * is three runs of the tests, the same command by itself, with warm caches, three times, each time after a change of the file that the
 * patch changes, so that it has to be compiled as often. Base is tested once, before, and said apart. Medians. Beside each, the processor time of
 * what runs, which other work on the machine changes less.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { userPath } from '../../../backend/common/user-path.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { MemoryBaseRunCache } from '../../../backend/verify/judge/base-run-cache.ts';
import { CopyPool } from '../../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../backend/verify/verify.ts';

interface Project {
  readonly name: string;
  readonly command: string;
  readonly file: string;
  /** What stands in the file, and what stands there once it is broken. */
  readonly right: string;
  readonly wrong: string;
  /** Begins a comment in its language. */
  readonly comment: string;
}

const PROJECTS: readonly Project[] = [
  { name: 'pflag', command: 'go test ./...', file: 'bool.go', right: 'return strconv.FormatBool(bool(*b))', wrong: 'return strconv.FormatBool(!bool(*b))', comment: '//' },
  { name: 'cobra', command: 'go test -skip TestFailGen ./...', file: 'doc/util.go', right: 'if cmd.HasParent() {', wrong: 'if !cmd.HasParent() {', comment: '//' },
  { name: 'semver', command: 'cargo test --tests', file: 'src/eval.rs', right: 'fn matches_exact(cmp: &Comparator, ver: &Version) -> bool {', wrong: 'fn matches_exact(cmp: &Comparator, ver: &Version) -> bool {\n    if ver.patch > 0 { return false; }', comment: '//' },
  { name: 'gson', command: 'mvn -q -pl gson test', file: 'gson/src/main/java/com/google/gson/JsonArray.java', right: 'return elements.size();', wrong: 'return elements.size() + 1;', comment: '//' },
  { name: 'ufo', command: 'npx vitest run', file: 'src/utils.ts', right: 'PROTOCOL_REGEX.test(inputString) ||', wrong: '!PROTOCOL_REGEX.test(inputString) ||', comment: '//' },
  { name: 'tomli', command: 'PYTHONPATH=src python3 -m unittest', file: 'src/tomli/_parser.py', right: 'lineno = doc.count("\\n", 0, pos) + 1', wrong: 'lineno = doc.count("\\n", 0, pos)', comment: '#' },
];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' }, rounds: { type: 'string', default: '3' } } });
const [clones] = positionals;
if (clones === undefined) throw new Error('Name the folder with the clones.');
const rounds = Number(values.rounds);

console.log('project    base   tests alone   verdict   beyond   ratio   processors: base   alone   verdict    seconds; a verdict is three runs');
for (const project of PROJECTS) if (values.only === undefined || values.only === project.name) await measure(project, path.resolve(clones, project.name));

async function measure({ name, command, file, right, wrong, comment }: Project, clone: string): Promise<void> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'verify-bench-')));
  const folders = new RunFolders(path.join(folder, 'runs'), isProcessAlive);
  const copies = new CopyPool({ folders });
  try {
    const [base, alone] = [path.join(folder, 'project'), path.join(folder, 'alone')];
    for (const place of [base, alone]) await cp(clone, place, { recursive: true, verbatimSymlinks: true });
    const text = await readFile(path.join(base, file), 'utf8');
    const broken = text.replace(right, wrong);
    if (broken === text) throw new Error(`${name}: ${file} has no "${right}".`);
    await writeFile(path.join(base, file), broken);
    const sandbox = new Sandbox({ searchPath: userPath(process.env), homeFolder: homedir(), folders });
    let processors = 0;
    const measuring: Pick<Sandbox, 'run' | 'pinnedImage'> = {
      pinnedImage: (image) => sandbox.pinnedImage(image),
      run: async (asked) => {
        const [report] = asked.writable ?? [];
        if (report === undefined) return await sandbox.run(asked);
        const times = path.join(report, 'times');
        const outcome = await sandbox.run({ ...asked, command: `trap 'times >${times}' EXIT\n${asked.command}` });
        processors += secondsIn(await readFile(times, 'utf8').catch(() => ''));
        return outcome;
      },
    };
    const taken = (): number => {
      const sum = processors;
      processors = 0;
      return sum;
    };
    const verifier = new Verifier({ sandbox: measuring, folders, copies, baseRuns: new MemoryBaseRunCache() });
    const { signal } = new AbortController();
    const baseMs = await timed(() => verifier.testBase({ base, command, signal }));
    const baseProcessors = taken();
    let changes = 0;
    const changed = (): string => `${text}\n${comment} ${(changes += 1)}\n`;
    const bare = async (): Promise<void> => {
      await writeFile(path.join(alone, file), changed());
      const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `trap times EXIT\n${command}`], { cwd: alone, maxBuffer: 2 ** 28 });
      processors += secondsIn(stdout);
    };
    await bare();
    const times = { alone: [] as number[], verdict: [] as number[] };
    const processorTimes = { alone: [] as number[], verdict: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      taken();
      times.alone.push(await timed(async () => {
        for (let run = 0; run < 3; run += 1) await bare();
      }));
      processorTimes.alone.push(taken());
      const patch = { edits: [{ path: file, kind: 'modify', before: broken, after: changed() }], refused: [] } as const;
      times.verdict.push(await timed(async () => {
        const verdict = await verifier.verify({ base, patch, command, signal });
        if (verdict.outcome !== 'verified') console.log(`${name}: ${verdict.outcome}: ${verdict.reason}`);
      }));
      processorTimes.verdict.push(taken());
    }
    const [tests, verdict] = [median(times.alone), median(times.verdict)];
    const shown = [baseMs, tests, verdict, verdict - tests].map((ms) => (ms / 1_000).toFixed(2).padStart(9)).join('');
    const spent = [baseProcessors, median(processorTimes.alone), median(processorTimes.verdict)].map((seconds) => seconds.toFixed(2).padStart(9)).join('');
    console.log(`${name.padEnd(8)}${shown}${(verdict / tests).toFixed(2).padStart(9)}${spent}`);
  } finally {
    await copies.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The sum of what the shell's `times` says of its children, in seconds. */
function secondsIn(said: string): number {
  const found = [...said.matchAll(/(\d+)m([\d.]+)s/g)].slice(-4);
  return found.reduce((sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds), 0);
}

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[all.length >> 1] ?? Number.NaN;
}
