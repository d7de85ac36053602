import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import type { findTestCommands } from '../../../backend/verify/runners/find-tests.ts';
import type { TestRunsParts } from '../../../backend/verify/judge/test-runs.ts';
import type { Verdict } from '../../../backend/protocol/verdict.ts';
import { Verifier } from '../../../backend/verify/verify.ts';
import type { Files } from '../runners/setup.ts';
import { makeScratch, type Scratch } from '../setup.ts';

/** A project as people write them, and an honest answer to what is wrong with it. */
export interface HonestFix {
  readonly files: Files;
  /** What the answer does to a file: gives it this text, puts the second of two texts in place of the first, or, with null, deletes it. */
  readonly fix: Readonly<Record<string, string | readonly [string, string] | null>>;
  readonly command: string;
  /** Ids of the tests that did not pass before and do with the fix. */
  readonly mended: readonly string[];
  /** Why no expected value of these tests can be altered. Then the fix passes, and is not called verified. */
  readonly noControl?: string;
}

export interface Machine {
  /** Where programs are looked for; the PATH of this process unless said otherwise. */
  readonly searchPath?: string;
  /** The user's home folder, hidden but for toolchains; the real one unless said otherwise. */
  readonly homeFolder?: string;
  /** The folder inside the scratch folder that is the workspace. */
  readonly name?: string;
  /** What is done to the workspace before it is looked at. */
  readonly before?: (workspace: string) => void | Promise<void>;
  /** Finds the tests of the workspace. By default, the command counts as one that a person named. */
  readonly findsTests?: typeof findTestCommands;
  /** Variables for the n-th run of the tests, counted from 0. */
  readonly environment?: (run: number) => Readonly<Record<string, string>>;
}

/** Writes the project and lets the real verifier judge the fix in the real sandbox, the answer read as a worker's answer is. */
export async function judgeFix(scratch: Scratch, { files, fix, command }: HonestFix, machine: Machine = {}): Promise<Verdict> {
  const { searchPath = process.env.PATH ?? '', homeFolder = homedir(), name, before, findsTests, environment = () => ({}) } = machine;
  const base = await scratch.project(files, name);
  await before?.(base);
  const answer = Object.entries(fix).map(([file, change]) => answerOf(file, change, files[file])).join('\n');
  const { folders, copies, baseRuns } = scratch;
  const real = new Sandbox({ searchPath, homeFolder, folders });
  let runs = 0;
  const sandbox: TestRunsParts['sandbox'] = {
    pinnedImage: (image) => real.pinnedImage(image),
    // What asks for the version of a program is no run of the tests.
    run: (given) => given.cwd === given.temporary ? real.run(given) : real.run({ ...given, environment: { ...given.environment, ...environment(runs++) } }),
  };
  return await new Verifier({ sandbox, folders, copies, baseRuns }).verify({
    base,
    patch: await parsePatch(answer, base),
    command,
    ...(findsTests && { packages: await findsTests(base) }),
    signal: new AbortController().signal,
    timeoutMs: 240_000,
  });
}

function answerOf(file: string, change: HonestFix['fix'][string], original: Files[string] | undefined): string {
  const text = typeof original === 'string' ? original.replaceAll('\r\n', '\n') : '';
  if (typeof change === 'string') return block(file, change.replace(/\n$/, ''));
  if (change !== null) return block(file, searchAndReplace(text, change[0], change[1]));
  const lines = text.replace(/\n$/, '').split('\n');
  return `\`\`\`diff\n--- a/${file}\n+++ /dev/null\n@@ -1,${lines.length} +0,0 @@\n${lines.map((line) => `-${line}`).join('\n')}\n\`\`\`\n`;
}

function block(file: string, text: string): string {
  // A text may hold fences of its own.
  const fence = '`'.repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map(({ length }) => length + 1)));
  return `${fence} title="${file}"\n${text}\n${fence}\n`;
}

/** With whole lines, as workers are asked for. */
function searchAndReplace(text: string, from: string, to: string): string {
  const at = text.indexOf(from);
  expect(at, `"${from}" in the file`).toBeGreaterThanOrEqual(0);
  const start = text.lastIndexOf('\n', at) + 1;
  const end = (text + '\n').indexOf('\n', at + from.length);
  const search = text.slice(start, end);
  return `<<<<<<< SEARCH\n${search}\n=======\n${search.replace(from, () => to)}\n>>>>>>> REPLACE`;
}

/** Says what was found otherwise than an honest fix deserves. */
export function expectVerified(
  { outcome, reason, verified, score, tests }: Verdict, { mended, noControl }: Pick<HonestFix, 'mended' | 'noControl'>,
): void {
  const wanted = noControl === undefined ? 'verified' : 'passes';
  const amiss = tests.filter(({ after }) => after === 'failed' || after === 'missing');
  const lines = amiss.map(({ id, before, after, message = '' }) => `${id}: ${before} → ${after} ${message.slice(0, 200)}`);
  expect([`${outcome}: ${reason}`, ...lines].join('\n')).toMatch(new RegExp(`^${wanted}: `));
  expect({ verified, score }).toEqual({ verified: wanted === 'verified', score: 1 });
  if (noControl !== undefined) expect(reason).toMatch(/no test that was fixed has an expected value that can be altered|what tests (?:of|in) \S+ expect cannot be altered/);
  const found = tests.filter(({ before, after, flaky }) => before !== 'passed' && after === 'passed' && flaky !== true);
  expect(found.map(({ id }) => id).toSorted()).toEqual([...mended].toSorted());
}

/** The whole of a test: a project of its own, its fix, and that this is verified. */
export async function expectHonest(honest: HonestFix, machine?: Machine): Promise<Verdict> {
  await using scratch = await makeScratch();
  const verdict = await judgeFix(scratch, honest, machine);
  expectVerified(verdict, honest);
  return verdict;
}

const NODE_MODULES = realpathSync(path.resolve(import.meta.dirname, '../../../node_modules'));

/** Packages that are installed here, as packages of the project. */
export const installed = (...names: string[]): Files =>
  Object.fromEntries(names.map((name) => [`node_modules/${name}`, { link: path.join(NODE_MODULES, name) }]));

/** As on a machine where somebody works with go: what the tests of this folder need has been compiled before. */
export function compileWithGo(cwd: string): void {
  try {
    execFileSync('go', ['test', '-run', '^$', './...'], { cwd, stdio: 'ignore' });
  } catch {
    // What is to be mended may keep it from being built.
  }
}

/** Several runs of the tests, each of which may build them. */
export const TIMEOUT_MS = 300_000;
