import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import type { z } from 'zod';

const MAX_BYTES = 1_048_576;

/** A configuration file is not valid. The message names the path, the location and the problem. */
export class ConfigFileError extends Error {
  override readonly name = 'ConfigFileError';
  readonly path: string;

  constructor(path: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.path = path;
  }
}

/**
 * Reads and validates a JSON configuration file.
 * @returns `undefined` if the file does not exist.
 * @throws ConfigFileError
 */
export async function readJsonFile<T extends z.ZodType>(path: string, schema: T): Promise<z.output<T> | undefined> {
  const text = await readConfigText(path);
  return text === undefined ? undefined : parseConfig(path, text, schema);
}

/** @returns `undefined` if the file does not exist. @throws ConfigFileError */
export async function readConfigText(path: string): Promise<string | undefined> {
  try {
    return readText(path);
  } catch (error) {
    if (error instanceof ConfigFileError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (code === 'ENOENT') return undefined;
    throw new ConfigFileError(path, `${path} could not be read (${code}): check the file and its permissions.`, error);
  }
}

/** @throws ConfigFileError */
export function parseConfig<T extends z.ZodType>(path: string, text: string, schema: T): z.output<T> {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    const message = `${path} is not valid JSON${placeOf(error, text)}: correct it, or move it away to start with an empty one.`;
    throw new ConfigFileError(path, message, error);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ConfigFileError(path, `${path}: ${describeIssue(parsed.error)}.`, parsed.error);
}

/** At once: for a file of some kilobytes, each wait for another thread would take longer than the reading. */
function readText(path: string): string {
  // Non-blocking: opening a pipe could wait forever for the other end.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new ConfigFileError(path, `${path} is no regular file: move it away to start with an empty one.`);
    if (found.size > MAX_BYTES) throw new ConfigFileError(path, `${path} is larger than 1 MiB and was not read: is it the right file?`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** The first issue with its location, such as `workers[1].baseUrl: baseUrl must use https`. */
export function describeIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  if (!issue) return 'the content is not as expected';
  const place = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('').replace(/^\./, '');
  return place === '' ? issue.message : `${place}: ${issue.message}`;
}

/** V8 reports the offset of a syntax error only in the message. */
function placeOf(error: unknown, text: string): string {
  const offset = error instanceof SyntaxError ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return offset === undefined ? '' : ` (line ${text.slice(0, Number(offset)).split('\n').length})`;
}
