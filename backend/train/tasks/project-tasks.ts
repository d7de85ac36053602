import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { TestCommand } from '../../protocol/test-command.ts';
import type { FileEdit } from '../../verify/patch.ts';
import { protectedReason } from '../../verify/protected-paths.ts';
import { languageOf } from '../../verify/syntax/language.ts';
import type { Verdict } from '../../verify/verdict.ts';
import type { Verifier } from '../../verify/verify.ts';
import { draw, shuffled } from '../draws.ts';
import { emptiedFunctions } from './emptied-functions.ts';
import { mutations } from './mutations.ts';

/** A task made of the user's own project: what was changed in it, which has to be made good again. */
export const projectTaskSchema = z.object({
  id: z.string(),
  kind: z.enum(['write', 'repair']),
  question: z.string(),
  path: z.string(),
  /** The file as it is in the project, and as the task has it. */
  before: z.string(),
  after: z.string(),
  /** Ids of the tests that the task is about, where others fail in the project anyway. */
  targets: z.array(z.string()).optional(),
  /** What the question is shown with, and paths of the files in it: of the project as the task has it. */
  context: z.string(),
  shown: z.array(z.string()),
  split: z.enum(['train', 'held-out']),
});
export type ProjectTaskRecord = z.infer<typeof projectTaskSchema>;

export interface TaskMakerParts {
  readonly verifier: Pick<Verifier, 'verify' | 'onBase'>;
  /** The workspace, absolute. */
  readonly workspace: string;
  readonly test: TestCommand & { readonly runner: string };
  /** What of a folder (absolute) a question about a file is shown with. */
  readonly gatherContext: (folder: string, about: Pick<ProjectTaskRecord, 'question' | 'path'>, signal: AbortSignal) => Promise<GatheredTask>;
  readonly signal: AbortSignal;
  /** Told of each candidate that was tried. */
  readonly onTried?: (told: { readonly tried: number; readonly candidates: number; readonly admitted: number }) => void;
}

export interface GatheredTask {
  readonly text: string;
  readonly shown: readonly string[];
}

export interface TaskMakerOptions {
  readonly seed: number;
  /** The most that are wanted. */
  readonly count: number;
  /** Share of the files whose tasks are never trained on. */
  readonly heldOut: number;
}

export const TASK_DEFAULTS: Omit<TaskMakerOptions, 'seed'> = { count: 40, heldOut: 0.3 };

/** The project's tests cannot judge anything here; the message says why. */
export class UnusableProjectError extends Error {
  override readonly name = 'UnusableProjectError';
}

/** So many candidates are tried for each task that is wanted, before it is given up. */
const TRIES = 4;
/** Of one file, so that no file is the whole training. */
const MOST_OF_A_FILE = 12;
const MAX_FAILURE_CHARACTERS = 2_000;

/** Where the first so many cannot be judged, no other one will be: the command is wrong, or something is missing. */
const HOPELESS_TRIES = 3;

/** One candidate could not be judged: it may keep the tests from starting. */
class UnusableCandidateError extends Error {}

interface Candidate extends Pick<ProjectTaskRecord, 'kind' | 'path' | 'before' | 'after'> {
  readonly about: string;
}

/**
 * Makes tasks of a project whose tests can judge: functions that are emptied and have to be written again, and bugs of one word that have
 * to be found. Each is admitted only where the verifier says so: its base fails, twice, and the file as it was is verified, twice. The
 * tasks of a file are all for training or all held out.
 * @throws UnusableProjectError, the signal's reason
 */
export async function makeProjectTasks(parts: TaskMakerParts, options: TaskMakerOptions): Promise<readonly ProjectTaskRecord[]> {
  const { signal, onTried } = parts;
  const { seed, count, heldOut } = options;
  const candidates = await candidatesOf(parts, seed);
  const files = shuffled([...new Set(candidates.map((candidate) => candidate.path))].sort(), seed, 'files');
  const held = new Set(files.slice(0, files.length < 2 ? 0 : Math.max(1, Math.round(files.length * heldOut))));
  const admitted: ProjectTaskRecord[] = [];
  let tried = 0;
  for (const candidate of candidates) {
    if (admitted.length >= count || tried >= count * TRIES) break;
    signal.throwIfAborted();
    const record = await admit(parts, candidate).catch((error: unknown) => {
      if (!(error instanceof UnusableCandidateError)) throw error;
      if (admitted.length === 0 && tried >= HOPELESS_TRIES) throw new UnusableProjectError(`No tasks can be made of this project: ${error.message}`);
      return undefined;
    });
    tried += 1;
    if (record) admitted.push({ ...record, split: held.has(candidate.path) ? 'held-out' : 'train' });
    onTried?.({ tried, candidates: Math.min(candidates.length, count * TRIES), admitted: admitted.length });
  }
  return admitted;
}

/** In an order in which every file and both kinds come early. */
async function candidatesOf({ verifier, workspace, signal }: TaskMakerParts, seed: number): Promise<readonly Candidate[]> {
  const byFile = await verifier.onBase({ base: workspace }, signal, async (folder, paths) => {
    const sources = [...paths].filter((file) => languageOf(file) !== undefined && protectedReason(file) === undefined).sort();
    const found: Candidate[][] = [];
    for (const file of sources) found.push(await candidatesIn(file, await readFile(path.join(folder, file), 'utf8'), seed));
    return found;
  });
  const rounds = Math.max(0, ...byFile.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) =>
    shuffled(byFile.flatMap((file) => file[round] ?? []), seed, 'candidates', round)).flat();
}

async function candidatesIn(file: string, text: string, seed: number): Promise<Candidate[]> {
  const written = (await emptiedFunctions(file, text)).map(({ name, text: after }): Candidate =>
    ({ kind: 'write', path: file, before: text, after, about: `\`${name}\`` }));
  const repaired = (await mutations(file, text)).map(({ line, text: after }): Candidate =>
    ({ kind: 'repair', path: file, before: text, after, about: `line ${line}` }));
  const [writes, repairs] = [shuffled(written, seed, 'write', file), shuffled(repaired, seed, 'repair', file)];
  const both = Array.from({ length: MOST_OF_A_FILE }, (_, index) => [writes[index], repairs[index]]).flat();
  return both.filter((candidate) => candidate !== undefined).slice(0, MOST_OF_A_FILE);
}

async function admit({ verifier, workspace, test, gatherContext, signal }: TaskMakerParts, candidate: Candidate): Promise<Omit<ProjectTaskRecord, 'split'> | undefined> {
  const { kind, path: file, before, after, about } = candidate;
  const base = { base: workspace, baseEdits: [changed(file, before, after)] };
  const asked = { ...base, patch: { edits: [changed(file, after, before)], refused: [] }, ...test, signal };
  const verdict = await verifier.verify(asked);
  const targets = mendedTests(verdict);
  if (verdict.outcome === 'infrastructure') throw new UnusableCandidateError(verdict.reason);
  if (targets.length === 0) return undefined;
  // Where other tests fail anyway, the task is about those that the change has broken.
  const isWhole = verdict.verified;
  if (!isWhole && !(await verifier.verify({ ...asked, targets })).verified) return undefined;
  const question = kind === 'write' ? writeQuestion(file, about) : repairQuestion(failureText(verdict, targets));
  const { text, shown } = await verifier.onBase(base, signal, (folder) => gatherContext(folder, { question, path: file }, signal));
  return {
    id: `${kind}-${draw(0, kind, file, after).toString(36)}`,
    ...{ kind, path: file, before, after, question },
    ...{ context: text, shown: [...shown] },
    ...(!isWhole && { targets: [...targets] }),
  };
}

const changed = (file: string, before: string, after: string): FileEdit => ({ path: file, kind: 'modify', before, after });

const mendedTests = ({ tests }: Verdict): readonly string[] =>
  tests.filter(({ before, after, flaky }) => before !== 'passed' && after === 'passed' && !flaky).map(({ id }) => id);

function failureText({ tests }: Verdict, targets: readonly string[]): string {
  const about = new Set(targets);
  return tests.filter(({ id }) => about.has(id)).map(({ id }) => `- ${id}`).join('\n').slice(0, MAX_FAILURE_CHARACTERS);
}

const writeQuestion = (file: string, name: string): string =>
  `The function ${name} in ${file} is not written yet. Write it, so that it does what its name, its comments, its callers and the tests ask of it.`;

const repairQuestion = (failures: string): string => `These tests fail:\n${failures}\nFind the bug in the code and mend it.`;

/** A task's files are no longer what they were when it was made. */
export class ChangedProjectError extends Error {
  override readonly name = 'ChangedProjectError';
}

/** @throws ChangedProjectError where the project is not the one that the tasks were made of. */
export async function checkUnchanged(workspace: string, tasks: readonly ProjectTaskRecord[]): Promise<void> {
  const texts = new Map<string, Promise<string | undefined>>();
  for (const { path: file, before } of tasks) {
    const text = texts.get(file) ?? readFile(path.join(workspace, file), 'utf8').catch(() => undefined);
    texts.set(file, text);
    if ((await text) !== before) {
      throw new ChangedProjectError(`${file} has changed since the tasks of this training were made: begin another training, or restore the file.`);
    }
  }
}

