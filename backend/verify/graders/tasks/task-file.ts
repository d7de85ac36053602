import { createReadStream } from 'node:fs';
import path from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { parse, CsvError } from 'csv-parse';
import * as z from 'zod';
import { graderSpecSchema, type Task } from './grader-spec.ts';
import { linesOf, LineTooLongError } from './lines.ts';
import { ElsewhereError, FORM_DEFAULTS, PUBLISHED_FORMS, RowError, type FormOptions, type TaskBody } from './published-forms.ts';

/** A task file cannot be used. The message says where, why, and what to do. */
export class TaskFileError extends Error {
  override readonly name = 'TaskFileError';
  readonly file: string;
  /** The line number, from 1. Undefined if the error concerns the whole file. */
  readonly line: number | undefined;

  constructor(file: string, line: number | undefined, problem: string, options?: ErrorOptions) {
    super(`${file}${line === undefined ? '' : `, line ${line}`}: ${problem}`, options);
    this.file = file;
    this.line = line;
  }
}

/** Lines with private cases of LiveCodeBench have up to some tens of megabytes. */
const MAX_LINE_BYTES = 128 * 1024 * 1024;

const OWN_FORM = 'conductor';

const MAX_QUESTION_CHARACTERS = 1_000_000;
const MAX_KIND_CHARACTERS = 40;

/**
 * Yields the tasks of a file in order. JSON lines have rows of our own form, `{"id", "question", "grader": {"kind", …}}`, or of a published
 * data set, recognised by their fields; both may be mixed. CSV files with a header have rows of a published data set. Empty lines are
 * skipped. The first invalid row ends the reading. Throws `TaskFileError` or an error of the file system.
 */
export async function* readTasks(file: string, options: FormOptions = {}): AsyncGenerator<Task> {
  const lineOfId = new Map<string, number>();
  for await (const { line, row } of rowsOf(file)) {
    const task = toTask(file, line, row, options);
    const earlier = lineOfId.get(task.id);
    if (earlier !== undefined && task.form === OWN_FORM) {
      throw new TaskFileError(file, line, `the task "${task.id}" is already on line ${earlier}.`);
    }
    // Published data sets contain some rows twice.
    let id = task.id;
    for (let use = 2; lineOfId.has(id); use += 1) id = `${task.id} (${use})`;
    lineOfId.set(id, line);
    yield { ...task, id };
  }
}

/** What a file of tasks holds. */
export interface TaskFileCheck {
  /** Number of readable tasks by form. */
  readonly forms: ReadonlyMap<string, number>;
  /** Data sets whose tasks are judged by other programs only: their rows, and a sentence. */
  readonly elsewhere: ReadonlyMap<string, { readonly rows: number; readonly message: string }>;
  /** Sentences about rows that cannot be read; at most `MAX_PROBLEMS`. */
  readonly problems: readonly string[];
  /** Number of rows that cannot be read. */
  readonly unreadable: number;
}

const MAX_PROBLEMS = 20;

/** Reads all rows of a file and says what each was taken for, and what cannot be read and why. @throws an error of the file system */
export async function checkTaskFile(file: string): Promise<TaskFileCheck> {
  const forms = new Map<string, number>();
  const elsewhere = new Map<string, { rows: number; message: string }>();
  const problems: string[] = [];
  let unreadable = 0;
  const note = (error: unknown): void => {
    if (!(error instanceof TaskFileError)) throw error;
    if (error.cause instanceof ElsewhereError) {
      const { form, message } = error.cause;
      elsewhere.set(form, { rows: (elsewhere.get(form)?.rows ?? 0) + 1, message });
      return;
    }
    unreadable += 1;
    if (problems.length < MAX_PROBLEMS) problems.push(error.message);
  };
  try {
    for await (const { line, row } of rowsOf(file)) {
      try {
        const { form } = toTask(file, line, row, {});
        forms.set(form, (forms.get(form) ?? 0) + 1);
      } catch (error) {
        note(error);
      }
    }
  } catch (error) {
    note(error);
  }
  return { forms, elsewhere, problems, unreadable };
}

export interface Row {
  readonly line: number;
  readonly row: unknown;
}

/** The rows of a file, whatever they are of. @throws TaskFileError, an error of the file system */
export function rowsOf(file: string): AsyncGenerator<Row> {
  switch (path.extname(file.replace(/\.gz$/i, '')).toLowerCase()) {
    case '.csv':
      return csvRows(file);
    case '.parquet':
    case '.arrow':
      throw new TaskFileError(
        file,
        undefined,
        'this format is not read; write it as JSON lines, in Python: ' +
          'pandas.read_parquet(file).to_json(out, orient="records", lines=True).',
      );
    default:
      return jsonRows(file);
  }
}

/** Errors of zlib have such codes. */
const isUnpackingError = (error: unknown): error is Error => error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');

/** The file's bytes; those of a `.gz` are unpacked. */
function contentsOf(file: string): Readable {
  const source = createReadStream(file);
  if (!/\.gz$/i.test(file)) return source;
  const unpacked = createGunzip();
  // pipeline() hands the errors of either to the reader of the second.
  pipeline(source, unpacked, () => undefined);
  return unpacked;
}

async function* jsonRows(file: string): AsyncGenerator<Row> {
  let line = 0;
  try {
    for await (const text of linesOf(contentsOf(file), MAX_LINE_BYTES)) {
      line += 1;
      if (text.trim() === '') continue;
      if (text.trimStart().startsWith('[')) {
        throw new TaskFileError(
          file,
          line,
          'a list stands where one object is wanted; write one object a line, with: jq -c ".[]".',
        );
      }
      yield { line, row: parseLine(file, line, text) };
    }
  } catch (error) {
    if (error instanceof LineTooLongError) throw new TaskFileError(file, line + 1, error.message);
    if (isUnpackingError(error)) throw new TaskFileError(file, undefined, `this cannot be unpacked: ${error.message}.`, { cause: error });
    throw error;
  }
}

function parseLine(file: string, line: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TaskFileError(file, line, 'this is not JSON; every line must be one whole object.', { cause: error });
  }
}

/** MMLU as its authors publish it has no header: a question, four choices, and the letter of the right one. */
const MMLU_COLUMNS = ['Question', 'A', 'B', 'C', 'D', 'Answer'];

async function* csvRows(file: string): AsyncGenerator<Row> {
  const source = contentsOf(file);
  let first: readonly string[] | undefined;
  const columns = (header: string[]): string[] => {
    if (header.length !== MMLU_COLUMNS.length || !/^[A-D]$/.test(header.at(-1) ?? '')) return header;
    first = header;
    return MMLU_COLUMNS;
  };
  const firstRow = (): Row[] => {
    const cells = first;
    first = undefined;
    return cells ? [{ line: 1, row: Object.fromEntries(MMLU_COLUMNS.map((name, index) => [name, cells[index]])) }] : [];
  };
  const parser = parse({ columns, bom: true, info: true, skip_empty_lines: true, max_record_size: MAX_LINE_BYTES });
  source.once('error', (error) => parser.destroy(error));
  try {
    for await (const { info, record } of source.pipe(parser) as AsyncIterable<{ info: { lines: number }; record: unknown }>) {
      yield* firstRow();
      yield { line: info.lines, row: record };
    }
    yield* firstRow();
  } catch (error) {
    if (error instanceof CsvError)
      throw new TaskFileError(file, parser.info.lines, `this is no CSV: ${error.message}.`, { cause: error });
    throw error;
  } finally {
    source.destroy();
  }
}

const ownFormSchema = z.strictObject({
  id: z.string().min(1).max(500),
  question: z.string().min(1).max(MAX_QUESTION_CHARACTERS),
  grader: graderSpecSchema,
  kind: z.string().min(1).max(MAX_KIND_CHARACTERS).optional(),
});

const fieldsSchema = z.record(z.string(), z.unknown());

function toTask(file: string, line: number, row: unknown, options: FormOptions): Task {
  const fields = fieldsSchema.safeParse(row);
  if (!fields.success) throw new TaskFileError(file, line, 'every row must be an object.');
  const has = (name: string): boolean => Object.hasOwn(fields.data, name);
  try {
    if (has('grader')) {
      const own = ownFormSchema.parse(row);
      return { ...checked(own), form: OWN_FORM, kind: own.kind ?? own.grader.kind, line };
    }
    const form = PUBLISHED_FORMS.find((candidate) => candidate.fields.every(has));
    if (!form) {
      const known = Object.keys(fields.data).slice(0, 20).join(', ');
      throw new RowError(`it has no "grader", and its fields (${known}) are those of no data set that is known here`);
    }
    const name = form.formOf?.(row).name ?? form.name;
    return { ...checked(form.toTask(row, { ...FORM_DEFAULTS, ...options })), form: name, kind: name, line };
  } catch (error) {
    if (error instanceof ElsewhereError) throw new TaskFileError(file, line, error.message, { cause: error });
    if (error instanceof RowError) throw new TaskFileError(file, line, `${error.message}.`);
    if (error instanceof z.ZodError) throw new TaskFileError(file, line, firstIssue(error), { cause: error });
    throw error;
  }
}

/** Checks rules that the grader's schema cannot express. */
function checked(task: TaskBody): TaskBody {
  const { grader } = task;
  if (task.question.length > MAX_QUESTION_CHARACTERS) throw new RowError('its question is too long');
  if (grader.kind === 'cases' && grader.cases.length === 0 && grader.packedCases === undefined)
    throw new RowError('it has no cases');
  if (grader.kind === 'choice') {
    const position = typeof grader.answer === 'number' ? grader.answer : grader.answer.toUpperCase().charCodeAt(0) - 65;
    if (position >= grader.choices.length) throw new RowError('answer names none of the choices');
  }
  return task;
}

export function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  const where = issue?.path.map(String).join('.') ?? '';
  return `${where === '' ? 'the row' : where}: ${issue?.message ?? 'not as it should be'}.`;
}
