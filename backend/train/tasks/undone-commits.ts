import { parseDiffFile } from '../../verify/patch/diff-file.ts';
import { weakensEmbeddedTests } from '../../verify/judge/embedded-tests.ts';
import { GitError, runGit } from '../../verify/git/git-safety.ts';
import { counted } from '../../common/counted.ts';
import type { FileEdit } from '../../verify/patch/patch.ts';
import { protectedReason } from '../../verify/files/protected-paths.ts';
import { languageOf } from '../../verify/syntax/language.ts';

/*
 * A commit that tests depend on makes a task: it is undone, and its change has to be made again. It is undone in today's project; its parent
 * is not checked out. So the installed dependencies fit, today's tests judge whether or not they came with the commit, and the reference is a
 * state that its developers keep green. The cost: later changes to the same lines hide a commit. Only Git's plumbing is used (`rev-list`,
 * `diff-tree`): `log` and `show` can run a signature program that the repository names, and `apply` writes through its filters.
 */

/** A commit whose change is undone. */
export interface UndoneCommit {
  readonly commit: string;
  /** Untrusted text. */
  readonly message: string;
  /** From the project as it is to the project without the commit. Source files only. */
  readonly edits: readonly FileEdit[];
}

export interface LeftOutCommit {
  readonly commit: string;
  /** One sentence. */
  readonly reason: string;
}

export interface UndoneHistory {
  /** Commits that changed tests first, then the others; newest first in both. */
  readonly undone: readonly UndoneCommit[];
  readonly leftOut: readonly LeftOutCommit[];
  /** One sentence: the result, or why there is no history. */
  readonly note: string;
}

export interface HistoryLimits {
  /** The maximum number of commits, and the maximum time. */
  readonly commits: number;
  readonly milliseconds: number;
}

/** The repository's working folder, and a copy in which files are read; both absolute. */
interface UndoneIn {
  readonly workspace: string;
  readonly folder: string;
}

const HISTORY_LIMITS: HistoryLimits = { commits: 300, milliseconds: 60_000 };

/** A larger change is too large for one question. */
const MOST_FILES = 6;
const MOST_LINES = 300;

const PLACES_OF_OTHERS = /(^|\/)(vendor|vendored|third[-_]party|bower_components|dist|generated|__generated__)\//i;
const GENERATED_NAME = /\.(min|bundle|generated|gen|pb)\.[^/.]+$|_gen\.go$|_pb2(_grpc)?\.py$|(^|\/)zz_generated/i;
/** Go's marker for generated code (https://go.dev/s/generatedcode) and similar ones. */
const GENERATED_TEXT = /@generated\b|\bgenerated\b[^]{0,200}\bdo not (edit|modify)\b/i;
const HEADER_CHARACTERS = 1_000;

const TEST_REASON = protectedReason('test/a.js');

/**
 * The commits of a workspace whose changes to sources can be undone in its present state. Where there is no history, or Git cannot read it,
 * the note says so. @throws the signal's reason
 */
export async function undoneCommits({ workspace, folder }: UndoneIn, signal: AbortSignal, limits: HistoryLimits = HISTORY_LIMITS): Promise<UndoneHistory> {
  let commits: readonly Commit[];
  try {
    commits = await readCommits(workspace, limits.commits, signal);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return { undone: [], leftOut: [], note: `No tasks are made of the project's history: ${whyNoHistory(error)}` };
  }
  const until = performance.now() + limits.milliseconds;
  const undone: Undone[] = [];
  const leftOut: LeftOutCommit[] = [];
  const seen = new Map<string, string>();
  for (const one of commits) {
    if (performance.now() >= until) break;
    try {
      const found = await undo(one, { workspace, folder }, signal);
      refuseTwice(found, seen);
      undone.push(found);
    } catch (error) {
      leftOut.push({ commit: one.commit, reason: reasonOf(error) });
    }
  }
  return {
    undone: [...undone.filter(({ changesTests }) => changesTests), ...undone.filter(({ changesTests }) => !changesTests)],
    leftOut,
    note: commits.length === 0
      ? 'No tasks are made of the project\'s history: no commit has changed this folder.'
      : `Of the last ${counted(undone.length + leftOut.length, 'commit')}, ${undone.length} can be undone and may become tasks.`,
  };
}

/** The commit is left out. The message says why. */
class LeftOut extends Error {}

/** @throws errors that concern more than one commit */
function reasonOf(error: unknown): string {
  if (error instanceof LeftOut) return error.message;
  // A partial clone fetches contents on demand, which is not done here.
  if (error instanceof GitError) return 'This clone does not have all of its contents.';
  throw error;
}

function whyNoHistory({ said, message }: GitError): string {
  if (said.includes('not a git repository')) return 'the folder is in no Git repository.';
  if (/bad revision|ambiguous argument/.test(said)) return 'its repository has no commit yet.';
  return message;
}

interface Commit {
  readonly commit: string;
  readonly message: string;
  /** Empty for the first commit; in a shallow clone also for the oldest. */
  readonly parents: readonly string[];
}

/** The commits that changed the workspace, newest first. */
async function readCommits(workspace: string, count: number, signal: AbortSignal): Promise<readonly Commit[]> {
  const args = ['rev-list', `--max-count=${count}`, '--encoding=UTF-8', '--format=%P%x00%B%x00', 'HEAD', '--', '.'];
  const fields = (await runGit(workspace, args, { signal })).toString().split('\0');
  const commits: Commit[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [, commit, parents = ''] = /commit ([0-9a-f]+)\n([0-9a-f ]*)$/.exec(fields[index] ?? '') ?? [];
    if (commit !== undefined) commits.push({ commit, parents: parents.split(' ').filter(Boolean), message: fields[index + 1] ?? '' });
  }
  return commits;
}

interface Undone extends UndoneCommit {
  readonly changesTests: boolean;
}

/** @throws LeftOut, GitError, the signal's reason */
async function undo({ commit, parents, message }: Commit, { workspace, folder }: UndoneIn, signal: AbortSignal): Promise<Undone> {
  const [parent, second] = parents;
  if (parent === undefined) throw new LeftOut('The history begins with it.');
  if (second !== undefined) throw new LeftOut('It is a merge.');
  if (/^revert\b/i.test(message) || /^This reverts commit /m.test(message)) throw new LeftOut('It reverts another commit.');

  const listed = await runGit(workspace, ['diff-tree', '-r', '-z', '-M', '--name-status', '--relative', parent, commit], { signal });
  const changes = changesIn(listed.toString());
  const sources = changes.filter((paths) => paths.some(isSource));
  if (sources.length === 0) {
    throw new LeftOut('It changes no sources: only tests, documentation, configuration, generated files, or files of others.');
  }
  if (sources.some((paths) => paths.length > 1)) throw new LeftOut('It moves files.');
  if (sources.length > MOST_FILES) throw new LeftOut(`It is too large for a task: it changes more than ${MOST_FILES} sources.`);

  const diff = (await runGit(workspace, [...UNDOING, commit, parent, '--', ...sources.flat()], { signal })).toString();
  if ((diff.match(/^[+-]/gm)?.length ?? 0) > MOST_LINES) throw new LeftOut(`It is too large for a task: it changes more than ${MOST_LINES} lines.`);
  const { patch: { edits: all, refused } } = await parseDiffFile(diff, folder);
  const [unfit] = refused;
  if (unfit) throw new LeftOut(`It cannot be undone: ${unfit.path} is not text, or has changed since.`);
  const edits = all.filter(({ before, after }) => !GENERATED_TEXT.test((before ?? after ?? '').slice(0, HEADER_CHARACTERS)));
  if (edits.length === 0) throw new LeftOut('It changes no sources: only permissions, or generated files.');
  for (const { path, before, after } of edits) {
    const [now, then] = [before ?? '', after ?? ''];
    const areTestsKept = !(await weakensEmbeddedTests(path, now, then)) && !(await weakensEmbeddedTests(path, then, now));
    if (!areTestsKept) throw new LeftOut(`It changes tests that are in ${path}.`);
  }
  return { commit, message, edits, changesTests: changes.some((paths) => paths.some((file) => protectedReason(file) === TEST_REASON)) };
}

/** Diff arguments whose output no configuration changes and that run no program. */
const UNDOING = [
  ...['-c', 'core.quotePath=false', '-c', 'diff.suppressBlankEmpty=false', '--literal-pathspecs'],
  ...['diff-tree', '-r', '-p', '-U3', '--no-ext-diff', '--no-textconv', '--no-renames', '--no-color', '--src-prefix=a/', '--dst-prefix=b/', '--relative'],
];

/** The paths of each change (`M\0path\0`): two for a moved file. */
function changesIn(listed: string): (readonly string[])[] {
  const fields = listed.split('\0');
  const changes: string[][] = [];
  for (let index = 0; index + 1 < fields.length;) {
    const end = index + (/^[RC]/.test(fields[index] ?? '') ? 3 : 2);
    changes.push(fields.slice(index + 1, end));
    index = end;
  }
  return changes;
}

const isSource = (file: string): boolean =>
  languageOf(file) !== undefined && protectedReason(file) === undefined && !PLACES_OF_OTHERS.test(file) && !GENERATED_NAME.test(file);

/** The same change can be in two commits, such as on a branch and cherry-picked. @throws LeftOut */
function refuseTwice({ commit, edits }: UndoneCommit, seen: Map<string, string>): void {
  const key = JSON.stringify(edits.map(({ path, after }) => [path, after]));
  const other = seen.get(key);
  if (other !== undefined) throw new LeftOut(`It makes the same change as ${other.slice(0, 12)}.`);
  seen.set(key, commit);
}
