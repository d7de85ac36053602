import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { z } from 'zod';
import { redactText } from '../../common/secrets/secrets.ts';
import { ID_SEPARATOR, MAX_MESSAGE_CHARACTERS, MAX_NAME_CHARACTERS, MAX_REPORT_BYTES, NoReportError, ReportError, type TestResult } from './test-report.ts';

/** The text of a report, which untrusted code may have written or replaced by anything. Throws `ReportError`. */
export async function readReportFile(file: string, maxBytes = MAX_REPORT_BYTES): Promise<string> {
  try {
    // Neither a link, which could lead to a file of the user's, nor a pipe, which could keep us waiting.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const handle = await open(file, flags);
    try {
      const found = await handle.stat();
      if (!found.isFile()) throw new ReportError('The test runner left something else than a report.');
      if (found.size > maxBytes) throw new ReportError(`The report is larger than ${maxBytes / 1024 / 1024} MiB.`);
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof ReportError) throw error;
    throw new NoReportError();
  }
}

/** What a runner says of one test, before it has an id. */
export interface ReportedTest {
  readonly kind: TestResult['kind'];
  readonly status: TestResult['status'];
  /** File (relative to the copy where it is in there), suites and name; empty and repeated parts are left out. */
  readonly path: readonly (string | undefined)[];
  readonly message?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly isEmpty?: true;
  readonly hidesAll?: true;
}

/** The id of a test, unless another one has it already. */
export function idOf(parts: ReportedTest['path']): string {
  const named = parts.filter((part): part is string => part !== undefined && part !== '');
  return named.filter((part, index) => part !== named[index - 1]).map(toldName).join(ID_SEPARATOR);
}

/** Collects results under ids that are the same in every run: of two tests with one path the later gets a number. */
export class ResultCollector {
  readonly results: TestResult[] = [];
  readonly #copy: string;
  readonly #ids = new Set<string>();
  readonly #uses = new Map<string, number>();

  /** `copy`: the folder that the tests ran in. Its path is different in every run, so it is taken out of messages. */
  constructor(copy: string) {
    this.#copy = copy;
  }

  add({ kind, status, path: parts, message, durationMs, isEmpty, hidesAll }: ReportedTest): void {
    const name = idOf(parts);
    let id = name;
    let use = this.#uses.get(name) ?? 1;
    while (this.#ids.has(id)) id = `${name} (${(use += 1)})`;
    this.#uses.set(name, use);
    this.#ids.add(id);
    const said = message === undefined ? undefined : toldMessage(message.replaceAll(this.#copy + path.sep, ''));
    this.results.push({
      id,
      kind,
      status,
      ...(said !== undefined && said !== '' && { message: said }),
      ...(durationMs !== undefined && Number.isFinite(durationMs) && durationMs >= 0 && { durationMs }),
      ...(isEmpty && { isEmpty }),
      ...(hidesAll && { hidesAll }),
    });
  }
}

/** A message without lines that look like a secret, and cut. They go first, because a part of a key does not look like one. */
const toldMessage = (message: string): string => redactText(message.slice(0, 4 * MAX_MESSAGE_CHARACTERS)).slice(0, MAX_MESSAGE_CHARACTERS);

/** A part of an id. The values of a parameter stand in it, which may be secret; its name stays, since the test is found by it. */
function toldName(name: string): string {
  const [, before = '', values] = /^([^[\n]{1,500})\[(.*)\]$/s.exec(name) ?? [];
  const told = values === undefined ? redactText(name.slice(0, 4 * MAX_NAME_CHARACTERS)) : `${redactText(before)}[${redactText(values.slice(0, 4 * MAX_NAME_CHARACTERS))}]`;
  return told.slice(0, MAX_NAME_CHARACTERS);
}

/** A file's path relative to the copy, with forward slashes; as it is where it lies outside. */
export function relativeFile(file: string, copy: string): string {
  const relative = path.relative(copy, path.resolve(copy, file));
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative.split(path.sep).join('/');
}

/** The JSON values of a report's lines. Throws `ReportError` at a line that is none. */
export function* jsonLines(text: string): Generator<unknown> {
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    try {
      yield JSON.parse(line);
    } catch {
      throw unreadable(line);
    }
  }
}

/**
 * What a reporter of ours wrote, an event a line, without the end that it writes last. Throws `ReportError` at a line that is no event, and
 * after the last one where the end is missing: the runner was stopped, and what it did not come to is unknown.
 */
export function* reporterEvents<Event extends { readonly type: string }>(
  text: string,
  schema: z.ZodType<Event>,
): Generator<Exclude<Event, { readonly type: 'end' }>> {
  let hasEnd = false;
  for (const value of jsonLines(text)) {
    const { data: event } = schema.safeParse(value);
    if (event === undefined) throw unreadable(JSON.stringify(value));
    if (event.type === 'end') hasEnd = true;
    else yield event as Exclude<Event, { readonly type: 'end' }>;
  }
  if (!hasEnd) throw new ReportError('The report ends before the tests did.');
}

export const unreadable = (text: string): ReportError =>
  new ReportError(`The report has a part that cannot be read: ${redactText(text.slice(0, 8_000)).slice(0, 100)}`);
