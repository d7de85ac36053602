import * as z from 'zod';
import { firstIssue, rowsOf, TaskFileError } from '../../verify/graders/tasks/task-file.ts';
import { shellQuote } from '../../verify/sandbox/shell-quote.ts';
import { logReaderNamed, type LogReader } from './logs/log-readers.ts';

/** A row of SWE-bench, or of SWE-bench-Live, that says how it is judged. */
export interface SweBenchRow {
  readonly form: 'SWE-bench' | 'SWE-bench-Live';
  readonly id: string;
  readonly question: string;
  /** The container image with the project in `PROJECT`, and all that its tests need. */
  readonly image: string;
  /** A script for Bash, which brings the tests of the row and runs them between two marks. */
  readonly evalScript: string;
  /** What reads the log of its tests; pytest's by default. */
  readonly log?: LogReader | undefined;
  readonly failToPass: readonly string[];
  readonly passToPass: readonly string[];
  /** The change that was made by people. */
  readonly gold: string | undefined;
  /** The day of the change, as `2025-04-30`, where the row says it. */
  readonly date: string | undefined;
}

/** Where the images have the project. */
export const PROJECT = '/testbed';

const names = z.preprocess((list) => (typeof list === 'string' ? parsed(list) : list), z.array(z.string(), 'is no list of tests'));

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The marks of a row's script, between which its tests run. */
export const MARKS = { begin: '>>>>> Start Test Output', end: '>>>>> End Test Output' } as const;

const imageSchema = z.string().regex(/^\w[\w./:@-]*$/, 'is no name of an image');
const rowSchema = z.object({
  instance_id: z.string().regex(/^[\w.-]+$/, 'is no id'), problem_statement: z.string().min(1), patch: z.string().optional(), test_patch: z.string(), created_at: z.string().optional(), FAIL_TO_PASS: names, PASS_TO_PASS: names,
});
/** As swebench 5 wants it. */
const judgedSchema = z.object({ image: imageSchema, eval_script: z.string().min(1), log_parser: z.string(), eval_type: z.string().default('pass_and_fail') });
const none = z.array(z.string()).max(0).nullish();
/** Rows of Python projects in SWE-bench-Live. Those of other languages bring a program that reads their log. */
const liveSchema = z.object({ test_cmds: z.array(z.string().min(1)).min(1), log_parser: z.literal('pytest'), docker_image: imageSchema.optional(), rebuild_cmds: none, print_cmds: none });

const FIELDS = ['instance_id', 'problem_statement', 'test_patch', 'FAIL_TO_PASS', 'PASS_TO_PASS'];

/** Whether a row has the fields of SWE-bench. */
export const isSweBench = (row: unknown): boolean => typeof row === 'object' && row !== null && FIELDS.every((field) => Object.hasOwn(row, field));

/** Rows that are not run here. */
export interface NotRun {
  /** What they are. */
  readonly kind: string;
  readonly message: string;
}

const HARBOR = 'Harbor runs them, with Conductor as its agent: packaging/harbor.';

/** What a row can be used for. @throws ZodError if it has other contents than its fields promise */
export function readRow(row: unknown): SweBenchRow | NotRun {
  const { instance_id: id, problem_statement: question, patch: gold, test_patch: testPatch, created_at: createdAt, FAIL_TO_PASS: failToPass, PASS_TO_PASS: passToPass } = rowSchema.parse(row);
  const asked = { id, question, failToPass, passToPass, gold, date: /^\d{4}-\d\d-\d\d/.exec(createdAt ?? '')?.[0] };
  const live = liveSchema.safeParse(row);
  if (live.success) {
    const { test_cmds: commands, docker_image: image = liveImage(id) } = live.data;
    return { ...asked, form: 'SWE-bench-Live', image, evalScript: liveScript(testPatch, commands) };
  }
  const judged = judgedSchema.safeParse(row);
  if (!judged.success) {
    return { kind: 'SWE-bench without scripts', message: `They do not say how they are judged (image, eval_script, log_parser), as rows for swebench 5 do. ${HARBOR}` };
  }
  const { image, eval_script: evalScript, log_parser: reader, eval_type: type } = judged.data;
  const log = logReaderNamed(reader);
  if (log === undefined || type !== 'pass_and_fail') {
    return { kind: `SWE-bench with ${reader}`, message: `Their tests are not of a Python project, whose logs alone are read here. ${HARBOR}` };
  }
  return { ...asked, form: 'SWE-bench', image, evalScript, ...(log !== 'pytest' && { log }) };
}

/** Where SWE-bench-Live publishes the image of a row that does not name one (evaluation/evaluation.py of microsoft/SWE-bench-Live). */
const liveImage = (id: string): string => `starryzhang/sweb.eval.x86_64.${id.replaceAll('__', '_1776_').toLowerCase()}`;

/** Its commands run in an interactive shell, as there: an image may set up its environment in .bashrc. */
function liveScript(testPatch: string, commands: readonly string[]): string {
  return [
    `cd ${PROJECT}`,
    // The last line may be an empty one of the file, which a diff needs.
    ...(testPatch.trim() === '' ? [] : ["git -c safe.directory='*' apply - <<'END_OF_TESTS' || exit", testPatch.replace(/\n$/, ''), 'END_OF_TESTS']),
    `echo '${MARKS.begin}'`,
    `bash -i -c ${shellQuote(commands.join(' ; '))}`,
    `echo '${MARKS.end}'`,
  ].join('\n');
}

export interface SweBenchFile {
  readonly rows: readonly SweBenchRow[];
  /** Those that are not run here, by their kind. */
  readonly notRun: ReadonlyMap<string, { readonly rows: number; readonly message: string }>;
}

/** Whether the first row of a file is of SWE-bench. False if it cannot be read. @throws an error of the file system */
export async function isSweBenchFile(file: string): Promise<boolean> {
  try {
    for await (const { row } of rowsOf(file)) return isSweBench(row);
    return false;
  } catch (error) {
    if (error instanceof TaskFileError) return false;
    throw error;
  }
}

/** The rows of a file of SWE-bench. @throws TaskFileError, an error of the file system */
export async function readSweBench(file: string): Promise<SweBenchFile> {
  const rows: SweBenchRow[] = [];
  const notRun = new Map<string, { rows: number; message: string }>();
  const seen = new Set<string>();
  for await (const { line, row } of rowsOf(file)) {
    if (!isSweBench(row)) throw new TaskFileError(file, line, 'this row is not of SWE-bench, as those before it are: give each data set a file of its own.');
    let read: ReturnType<typeof readRow>;
    try {
      read = readRow(row);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      throw new TaskFileError(file, line, firstIssue(error), { cause: error });
    }
    if ('kind' in read) {
      notRun.set(read.kind, { rows: (notRun.get(read.kind)?.rows ?? 0) + 1, message: read.message });
      continue;
    }
    if (seen.has(read.id)) throw new TaskFileError(file, line, `the row "${read.id}" is there twice.`);
    seen.add(read.id);
    rows.push(read);
  }
  return { rows, notRun };
}
