import { createHash } from 'node:crypto';
import type { BaseResult } from '../protocol/run-events.ts';
import type { Verdict } from '../protocol/verdict.ts';
import type { VerifiedChange } from '../protocol/verified-change.ts';
import { NoHeadError, readHead, writeHead } from '../verify/git/git-head.ts';
import { takeTests, type ChangeWithOwnTests } from '../verify/git/tests-of-change.ts';
import { uncommittedChange } from '../verify/git/uncommitted-change.ts';
import type { LeavingOut } from '../verify/judge/left-out.ts';
import { PatchNotApplicableError } from '../verify/patch/apply-patch.ts';
import type { ReadChange } from '../verify/patch/change-draft.ts';
import { parseDiffFile } from '../verify/patch/diff-file.ts';
import type { TestCommand } from '../verify/runners/choose-runner.ts';
import { testsRunBy } from '../verify/runners/fan-out.ts';
import { findTestCommands } from '../verify/runners/find-tests.ts';
import { likelyCommands, whatWasLookedFor } from '../verify/runners/likely-commands.ts';
import { testsOfChange } from '../verify/runners/tests-beside.ts';
import type { VerifyOptions } from '../verify/verify-options.ts';
import type { CommandContext } from './command.ts';
import { likelyText } from './likely-text.ts';
import { aboveText } from './project-above.ts';
import { UsageError } from './usage-error.ts';

/*
 * The verdict on a change that is not Conductor's: the uncommitted changes, or a diff, on top of the last commit.
 */

export interface JudgeOptions extends Pick<CommandContext, 'openVerification'>, Pick<LeavingOut, 'leaveOut'> {
  /** A real path, in a Git repository. */
  readonly workspace: string;
  /** Judged instead of the uncommitted changes. */
  readonly diff?: string | undefined;
  /** The commit to judge against, instead of the last one. */
  readonly base?: string | undefined;
  /** Whose tests judge: those of the base, by default, or those of the change itself. */
  readonly tests?: 'base' | 'head' | undefined;
  /** Found in the last commit where it is absent. */
  readonly command?: string | undefined;
  readonly runner?: string | undefined;
  readonly reports?: string | undefined;
  readonly image?: string | undefined;
  /** Ids of tests that must pass, instead of those that failed before. */
  readonly targets?: readonly string[] | undefined;
  readonly timeoutMs?: number | undefined;
  readonly sandboxed: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (stage: string) => void;
  /** Asked with the SHA-256 of a change before it is judged. If it says no, the change is refused without a run of the tests. */
  readonly isToJudge?: ((digest: string) => Promise<boolean>) | undefined;
}

/** Of a change to more packages, the tests of the first ones are tried. */
const MOST_TRIED = 5;

/** The JSON output. Users' scripts rely on it: fields are added, never renamed or removed. */
export type VerifyResult = Readonly<VerifiedChange>;

/** Turns other errors into the outcome `infrastructure`. @throws UsageError, or the signal's reason */
export async function judgeChange(options: JudgeOptions): Promise<VerifyResult> {
  try {
    return await judgeAgainstHead(options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof UsageError) throw error;
    if (error instanceof NoHeadError) throw new UsageError(error.message, { cause: error });
    const reason = error instanceof Error ? error.message : String(error);
    return { ...nothingRun(error instanceof PatchNotApplicableError ? 'refused' : 'infrastructure', reason, options), command: options.command ?? null, commit: null };
  }
}

async function judgeAgainstHead(options: JudgeOptions): Promise<VerifyResult> {
  const { workspace, diff, targets, leaveOut, timeoutMs, sandboxed, signal, onProgress } = options;
  onProgress('reading the last commit');
  const head = await readHead(workspace, signal, options.base);
  const verification = await options.openVerification();
  try {
    const base = await writeHead(head, await verification.newFolder(), signal);
    const read = diff === undefined ? await uncommittedChange(base, signal) : await parseDiffFile(diff, base.folder, head);
    const refused = refusal(read, options);
    const change: ReadChange & Partial<ChangeWithOwnTests> = options.tests === 'head' && refused === undefined ? await takeTests(base, read, signal) : read;
    const [likeliest, ...others] = await testCommands(base.folder, options, change.patch.edits.map((edit) => edit.path));
    const without = refused ?? (await unwanted(read, options));
    const running = {
      base: base.folder, installed: workspace, ...(leaveOut && { leaveOut }), ...(timeoutMs !== undefined && { timeoutMs }), sandboxed, signal, onProgress,
    };
    const test = without ? likeliest : (await firstRed([likeliest, ...others], (one) => verification.verifier.testBase({ ...running, ...one }))) ?? likeliest;
    const verdict = without ?? (await verification.verifier.verify({
      ...running,
      patch: change.patch,
      protectedEdits: 'leave out',
      nothingFailed: 'run',
      ...test,
      ...(targets && { targets }),
      ...(change.ownTests && { ownTests: change.ownTests }),
    }));
    return { ...verdict, notes: [...base.notes, ...change.notes, ...verdict.notes], command: test.command, commit: head.commit };
  } finally {
    await verification.close();
  }
}

type JudgingTests = TestCommand & Pick<VerifyOptions, 'packages' | 'besides'>;

/**
 * The given command, or those of the changed packages whose tests it runs, or the likeliest one found in the last commit. Where only packages of a monorepo have tests, those of each package that is changed.
 * Uncommitted changes must not choose the tests that judge them.
 * @returns the likeliest first
 * @throws UsageError
 */
async function testCommands(base: string, { workspace, command, runner, reports, image }: JudgeOptions, changed: readonly string[]): Promise<readonly [JudgingTests, ...JudgingTests[]]> {
  const where = image === undefined ? {} : { image };
  if (command !== undefined) {
    const packages = runner === undefined && reports === undefined ? await testsRunBy(command, base) : [];
    const [first, ...others] = testsOfChange(packages, changed).map((tests) => ({ command: tests.command, runner: tests.runner, packages, besides: [command], ...where }));
    if (first) return [first, ...others];
    return [{ command, ...(runner !== undefined && { runner }), ...(reports !== undefined && { reports }), ...where }];
  }
  const likely = (await findTestCommands(base)).filter((test) => runner === undefined || test.runner === runner);
  const ofPackages = likely[0]?.folder === '' ? [] : testsOfChange(likely, changed);
  const [first, ...others] = (ofPackages.length > 0 ? ofPackages : likely.slice(0, 1)).map((found) => ({ command: found.command, runner: found.runner, packages: likely, ...where }));
  if (first) return [first, ...others];
  const which = runner === undefined ? '' : ` of ${runner}`;
  const above = await aboveText(workspace, async (folder) => ({ found: await findTestCommands(folder), likely: await likelyCommands(folder) }));
  throw new UsageError(
    `No test command${which} was found in the last commit: name the one that runs the tests with --command "…".`
    + `${above} ${whatWasLookedFor(runner)}${likelyText(runner === undefined ? await likelyCommands(base) : [])}`,
  );
}

/** A change that mends one package often touches others. It is judged by those tests that fail before it, because only they can show what it mends. */
async function firstRed(commands: readonly JudgingTests[], before: (test: JudgingTests) => Promise<BaseResult>): Promise<JudgingTests | undefined> {
  if (commands.length === 1) return undefined;
  for (const test of commands.slice(0, MOST_TRIED)) if ((await before(test)).failed > 0) return test;
  return undefined;
}

/** The reason where there is nothing uncommitted. */
export const NO_CHANGE = 'There is no uncommitted change to judge.';

type NothingRun = Omit<Verdict, 'command'>;

export const nothingRun = (outcome: 'refused' | 'infrastructure', reason: string, { sandboxed }: Pick<JudgeOptions, 'sandboxed'>): NothingRun => ({
  verified: false,
  score: 0,
  outcome,
  reason,
  tests: [],
  notes: [],
  sandboxed,
  durationMs: 0,
});

/** The verdict on a change that is not to be judged. */
async function unwanted({ patch: { edits } }: ReadChange, options: JudgeOptions): Promise<NothingRun | undefined> {
  const digest = createHash('sha256').update(JSON.stringify(edits.map(({ path, after }) => [path, after]))).digest('hex');
  return (await options.isToJudge?.(digest)) === false ? nothingRun('refused', 'This change was judged before.', options) : undefined;
}

/** The verdict on a change that the tests cannot judge; undefined if they can. */
function refusal({ patch: { edits, refused } }: ReadChange, options: JudgeOptions): NothingRun | undefined {
  const [first, ...others] = refused;
  const more = others.length > 0 ? ` The same holds for ${others.length} more.` : '';
  if (first) return nothingRun('refused', `The change cannot be judged: ${first.path}: ${first.reason}${more}`, options);
  if (edits.length > 0) return undefined;
  return nothingRun(
    'refused',
    options.diff !== undefined ? 'The diff has no change to judge.'
      : options.base === undefined ? NO_CHANGE : `There is no change to judge: the files are as in ${options.base}.`,
    options,
  );
}
