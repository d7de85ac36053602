import { ARCHITECTURES } from './architectures.ts';

export type CheckpointErrorKind =
  /** A required file of a model's folder does not exist. */
  | 'missing-file'
  /** The operating system could not read the file. */
  | 'unreadable'
  /** A name or a link points outside the model's folder. */
  | 'unsafe-path'
  /** The content does not match the format. */
  | 'malformed'
  | 'truncated'
  | 'unsupported-type'
  | 'missing-tensor'
  | 'unexpected-tensor'
  | 'wrong-shape'
  /** A weight is NaN or infinite. */
  | 'not-finite';

export interface CheckpointErrorData {
  readonly kind: CheckpointErrorKind;
  readonly file: string;
  readonly tensor?: string | undefined;
  /** One sentence that says what is wrong and what to do. */
  readonly message: string;
  readonly cause?: unknown;
}

/** A model's files are missing, damaged or unsafe. */
export class CheckpointError extends Error {
  override readonly name = 'CheckpointError';
  readonly kind: CheckpointErrorKind;
  readonly file: string;
  readonly tensor: string | undefined;

  constructor({ kind, file, tensor, message, cause }: CheckpointErrorData) {
    super(message, { cause });
    this.kind = kind;
    this.file = file;
    this.tensor = tensor;
  }
}

const FAMILIES = Object.values(ARCHITECTURES).flatMap(({ families }) => families).join(', ').replace(/, (?=[^,]*$)/, ' or ');

/** The model's files are valid, but Conductor does not support the model. */
export class UnsupportedModelError extends Error {
  override readonly name = 'UnsupportedModelError';
  /** `config.json` or `generation_config.json`. */
  readonly file: string;
  /** The unsupported field, such as `rope_parameters.rope_type`. */
  readonly field: string;

  constructor(file: string, field: string, problem: string) {
    super(`${file}: ${field} ${problem}; choose a dense ${FAMILIES} model in its plain form.`);
    this.file = file;
    this.field = field;
  }
}

const LONGEST_QUOTE = 120;

/** A text or value from a file for use in a message: on one line and truncated. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(typeof value === 'string' ? value.slice(0, LONGEST_QUOTE) : value) ?? 'undefined';
  return text.length > LONGEST_QUOTE + 2 ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}

/** The code of an error of the operating system, such as `ENOENT`; undefined for other errors. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}

/** Turns an error of the operating system into a CheckpointError. Returns other errors unchanged. */
export function explainSystemError(file: string, error: unknown): unknown {
  const code = systemErrorCode(error);
  if (code === undefined) return error;
  const message = `${file} could not be read (${code}): check the file and its permissions.`;
  return new CheckpointError({ kind: 'unreadable', file, message, cause: error });
}
