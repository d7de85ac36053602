import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import * as z from 'zod';
import { clip } from '../../common/clip.ts';
import { inOrder } from '../../common/in-order.ts';
import { redactText } from '../../common/secrets/secrets.ts';
import type { TestCommand } from '../../protocol/test-command.ts';
import { projectTaskKindSchema, type TrainingConfig } from '../../protocol/training.ts';
import type { FileEdit } from '../../verify/patch/patch.ts';
import type { Verdict } from '../../protocol/verdict.ts';
import { isVerified, passesOnly } from '../../protocol/verdict-facts.ts';
import type { Verifier } from '../../verify/verify.ts';
import { draw } from '../statistics/draws.ts';
import { commitName, findCandidates, type Candidate, type CandidateOptions } from './candidates.ts';
import { splitFiles, type Split, type SplitOptions } from './split-files.ts';

/** A file in the project (`before`) and in the base of a task (`after`); null where it does not exist. */
const brokenFileSchema = z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() });

/** A task made of the user's own project: a change that has to be reverted. */
export const projectTaskSchema = z.object({
  id: z.string(),
  kind: projectTaskKindSchema,
  question: z.string(),
  ...brokenFileSchema.shape,
  /** Further files, where a commit changed several. */
  further: z.array(brokenFileSchema).optional(),
  /** Ids of the tests that the task is about, where other tests fail in the project anyway. */
  targets: z.array(z.string()).optional(),
  /** The context of the question, taken from the task's base, and the paths of the files in it. */
  context: z.string(),
  shown: z.array(z.string()),
  split: z.enum(['train', 'held-out']),
});
export type ProjectTaskRecord = z.infer<typeof projectTaskSchema>;

/** The result of trying a candidate, kept for a training that is resumed. */
export const triedCandidateSchema = z.object({
  /** Identifies the change and the command that judged it. */
  key: z.string(),
  /** Absent where it was not admitted. */
  task: projectTaskSchema.omit({ split: true }).optional(),
  /** One sentence: why it was admitted or not. */
  reason: z.string(),
});
export type TriedCandidate = z.infer<typeof triedCandidateSchema>;

type BrokenFile = z.infer<typeof brokenFileSchema>;
const changed = ({ path: file, before, after }: BrokenFile): FileEdit =>
  ({ path: file, kind: before === null ? 'create' : after === null ? 'delete' : 'modify', before, after });
const reverted = ({ path: file, before, after }: BrokenFile): FileEdit => changed({ path: file, before: after, after: before });

/** From the project as it is to the base of the task. */
export const editsOf = ({ path: file, before, after, further = [] }: Pick<ProjectTaskRecord, 'path' | 'before' | 'after' | 'further'>): readonly FileEdit[] =>
  [{ path: file, before, after }, ...further].map(changed);

export interface TaskMakerParts {
  readonly verifier: Pick<Verifier, 'verify' | 'onBase' | 'notices' | 'testBase' | 'tryTests'>;
  /** The workspace, absolute, with its history and its installed dependencies. */
  readonly workspace: string;
  /** The folder with its files, if they may change meanwhile: where they are kept. */
  readonly files?: string;
  readonly test: TestCommand & { readonly runner: string };
  /** The context of a question about files of a folder (absolute). */
  readonly gatherContext: (folder: string, about: { readonly question: string; readonly paths: readonly string[] }, signal: AbortSignal) => Promise<GatheredTask>;
  readonly signal: AbortSignal;
  /** What a task is worth whose right answer passes, but cannot be verified: by default it is not admitted, since no answer would earn anything. */
  readonly passes?: TrainingConfig['reward']['passes'];
  /** Called with one sentence on the project's history, where tasks are made of it. */
  readonly onHistory?: (note: string) => void;
  /** Called for each candidate that was tried, and for each commit that was left out. */
  readonly onDecided?: (decision: Decision) => void;
  /** Results of earlier tries, by key: these candidates are not tried again. */
  readonly known?: ReadonlyMap<string, TriedCandidate>;
  /** Called with each new result. A candidate that could not be judged has none, since the cause may pass. */
  readonly onFound?: (found: TriedCandidate) => Promise<void>;
  /** Called after each candidate; `seconds` since the one before it, absent where its result was known. */
  readonly onTried?: (told: {
    readonly tried: number; readonly candidates: number; readonly admitted: number; readonly seconds?: number | undefined;
  }) => void;
}

export interface Decision {
  /** The place in the project, or the commit. */
  readonly about: string;
  readonly state: Split | 'left-out';
  /** One sentence: why. */
  readonly reason: string;
}

export interface GatheredTask {
  readonly text: string;
  readonly shown: readonly string[];
}

export interface TaskMakerOptions extends CandidateOptions, SplitOptions {
  /** The maximum number of tasks. */
  readonly count: number;
}

/** The project's tests cannot judge any task. The message says why. */
export class UnusableProjectError extends Error {
  override readonly name = 'UnusableProjectError';
}

/** Candidates tried per wanted task. */
const TRIES = 4;
const MAX_FAILURE_CHARACTERS = 2_000;

/** Candidates tried at the same time: each has one run of the tests under way, most of the time. More would need too much memory. */
const AT_ONCE = Math.min(4, availableParallelism());

/** If this many first candidates cannot be judged, none can: the command is wrong or something is missing. */
const HOPELESS_TRIES = 3;

/** The candidate does not become a task. The message says why. */
class NotAdmittedError extends Error {}

/** The candidate could not be judged: it may prevent the tests from starting. */
class UnusableCandidateError extends NotAdmittedError {}

/**
 * Makes tasks of a project that has tests: an emptied function to write again, a bug of one word to find, an undone commit to make again.
 * A candidate is admitted only if its base fails twice and the unchanged project is verified twice. The tasks of one file are either all for
 * training or all held out. Several candidates are tried at once, and decided in their order.
 * @throws UnusableProjectError, the signal's reason
 */
export async function makeProjectTasks(parts: TaskMakerParts, options: TaskMakerOptions): Promise<readonly ProjectTaskRecord[]> {
  const { signal, onTried, onDecided, onFound } = parts;
  const { count } = options;
  const candidates = await splitCandidates(parts, options);
  const most = count * TRIES;
  const admitted: ProjectTaskRecord[] = [];
  let tried = 0;
  let unusable = 0;
  let isBaseKnown = false;
  let began = performance.now();
  const finding = inOrder(candidates.slice(0, most), { atOnce: AT_ONCE, signal }, async ({ candidate, split }, giveUp) =>
    ({ candidate, split, found: await tryCandidate({ ...parts, signal: giveUp }, candidate) }));
  for await (const { candidate: { about }, split, found: { key, task, reason, isKnown, isUnusable } } of finding) {
    tried += 1;
    // A candidate that could not be judged may be tried again: the cause may pass.
    if (isUnusable) unusable += 1;
    else if (!isKnown) await onFound?.({ key, reason, ...(task && { task }) });
    if (unusable > HOPELESS_TRIES && unusable === tried) throw new UnusableProjectError(`No tasks can be made of this project: ${reason}`);
    if (!task && !isKnown && !isBaseKnown) {
      await refuseRed(parts);
      isBaseKnown = true;
    }
    if (task) admitted.push({ ...task, split });
    onDecided?.({ about, state: task ? split : 'left-out', reason });
    const now = performance.now();
    onTried?.({ tried, candidates: Math.min(candidates.length, most), admitted: admitted.length, seconds: isKnown ? undefined : (now - began) / 1_000 });
    began = now;
    if (admitted.length >= count) break;
    signal.throwIfAborted();
  }
  return admitted;
}

/** Tests that are all red notice nothing. Their results are known by now. @throws UnusableProjectError, the signal's reason */
async function refuseRed({ verifier, workspace, files = workspace, test, signal }: TaskMakerParts): Promise<void> {
  const { total, failed, failing: [first], problem } = await verifier.testBase({ base: files, installed: workspace, ...test, signal });
  if (problem !== undefined || failed < total || !first) return;
  const said = first.message?.trim().split('\n').at(-1)?.trim() ?? '';
  throw new UnusableProjectError(
    `No tasks can be made of this project: none of its tests passes as it is with "${test.command}". The first that fails is ${first.id}${said === '' ? '.' : `: ${clip(said, MAX_FAILURE_CHARACTERS)}`}`,
  );
}

type Found = TriedCandidate & { readonly isKnown?: boolean; readonly isUnusable?: boolean };

async function tryCandidate(parts: TaskMakerParts, candidate: Candidate): Promise<Found> {
  const key = keyOf(candidate, parts);
  const known = parts.known?.get(key);
  if (known) return { ...known, isKnown: true };
  try {
    const { record: task, reason } = await admit(parts, candidate);
    return { key, task, reason };
  } catch (error) {
    if (!(error instanceof NotAdmittedError)) throw error;
    return { key, reason: error.message, isUnusable: error instanceof UnusableCandidateError };
  }
}

function keyOf({ kind, edits }: Candidate, { test }: TaskMakerParts): string {
  return createHash('sha256').update(JSON.stringify([test, kind, edits])).digest('hex');
}

async function splitCandidates(
  { verifier, workspace, files = workspace, signal, onHistory, onDecided }: TaskMakerParts, options: TaskMakerOptions,
): Promise<readonly { readonly candidate: Candidate; readonly split: Split }[]> {
  const { candidates, history } = await verifier.onBase({ base: files, installed: workspace }, signal, (folder, paths) =>
    findCandidates({ workspace, folder, paths }, options, signal));
  if (history) onHistory?.(history.note);
  for (const { commit, reason } of history?.leftOut ?? []) onDecided?.({ about: commitName(commit), state: 'left-out', reason });
  const splitOf = splitFiles(candidates.map(pathsOf), options);
  return candidates.flatMap((candidate) => {
    const split = splitOf(pathsOf(candidate));
    if (split) return { candidate, split };
    onDecided?.({ about: candidate.about, state: 'left-out', reason: 'Some of the files that it changes are held out and some are not.' });
    return [];
  });
}

const pathsOf = ({ edits }: Candidate): readonly string[] => edits.map(({ path: file }) => file);

/** @throws NotAdmittedError, the signal's reason */
async function admit(
  { verifier, workspace, files: kept = workspace, test, gatherContext, signal, passes }: TaskMakerParts, { kind, edits, questionOf }: Candidate,
): Promise<{ readonly record: Omit<ProjectTaskRecord, 'split'>; readonly reason: string }> {
  const base = { base: kept, installed: workspace, baseEdits: edits };
  const asked = { ...base, patch: { edits: edits.map(reverted), refused: [] }, ...test, signal };
  const noticing = await verifier.notices({ ...base, ...test, signal });
  if (noticing?.state === 'unusable') throw new UnusableCandidateError(noticing.reason);
  if (noticing?.state === 'unnoticed') throw new NotAdmittedError(noticing.reason);
  const verdict = await verifier.verify(asked);
  if (verdict.outcome === 'infrastructure') throw new UnusableCandidateError(verdict.reason);
  const targets = failToPassTests(verdict);
  if (targets.length === 0) throw new NotAdmittedError(`No test notices it: ${verdict.reason}`);
  // Where other tests fail anyway, the task is about those that the change breaks.
  const isEnough = (judged: Verdict): boolean => isVerified(judged) || (passes === 'right' && passesOnly(judged));
  const isWhole = isEnough(verdict);
  const admitting = isWhole ? verdict : await verifier.verify({ ...asked, targets });
  if (!isEnough(admitting)) throw new NotAdmittedError(`The unchanged project is not verified: ${admitting.reason}`);
  // The message of a commit may hold what nobody wants to send.
  const question = redactText(questionOf(failureText(verdict, targets)));
  const files = edits.map(({ path: file, before, after }): BrokenFile => ({ path: file, before, after }));
  const paths = files.filter(({ after }) => after !== null).map(({ path: file }) => file);
  const { text, shown } = await verifier.onBase(base, signal, (folder) => gatherContext(folder, { question, paths }, signal));
  const [first, ...further] = files as [BrokenFile, ...BrokenFile[]];
  const record = {
    id: `${kind}-${draw(0, kind, ...files.flatMap(({ path: file, after }) => [file, after ?? ''])).toString(36)}`,
    kind, question, ...first,
    ...(further.length > 0 && { further }),
    ...{ context: text, shown: [...shown] },
    ...(!isWhole && { targets: [...targets] }),
  };
  return { record, reason: admitting.reason };
}

const failToPassTests = ({ tests }: Verdict): readonly string[] =>
  tests.filter(({ before, after, flaky }) => before !== 'passed' && after === 'passed' && !flaky).map(({ id }) => id);

function failureText({ tests }: Verdict, targets: readonly string[]): string {
  const about = new Set(targets);
  return tests.filter(({ id }) => about.has(id)).map(({ id }) => `- ${id}`).join('\n').slice(0, MAX_FAILURE_CHARACTERS);
}
