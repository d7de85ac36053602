import { ARCHITECTURES } from './architectures.ts';

export type CheckpointErrorKind =
  /** A file that a model's folder must have. */
  | 'missing-file'
  /** The file system refused. */
  | 'unreadable'
  /** A name or a link that leads out of the model's folder. */
  | 'unsafe-path'
  /** Not the format that the file's name promises. */
  | 'malformed'
  | 'truncated'
  | 'unsupported-type'
  | 'missing-tensor'
  | 'unexpected-tensor'
  | 'wrong-shape'
  /** A weight that is NaN or infinite. */
  | 'not-finite';

export interface CheckpointErrorData {
  readonly kind: CheckpointErrorKind;
  readonly file: string;
  readonly tensor?: string | undefined;
  /** One sentence that says what is wrong and what to do. */
  readonly message: string;
  readonly cause?: unknown;
}

/** A model's files that cannot be used as they are. */
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

/** A model whose files are in order, but which Conductor does not run. */
export class UnsupportedModelError extends Error {
  override readonly name = 'UnsupportedModelError';
  /** `config.json` or `generation_config.json`. */
  readonly file: string;
  /** The field that says so, such as `rope_parameters.rope_type`. */
  readonly field: string;

  constructor(file: string, field: string, problem: string) {
    super(`${file}: ${field} ${problem}; choose a dense ${FAMILIES} model in its plain form.`);
    this.file = file;
    this.field = field;
  }
}

const LONGEST_QUOTE = 120;

/** A text or value of a file, as a sentence may show it: on one line, and short whatever it was. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(typeof value === 'string' ? value.slice(0, LONGEST_QUOTE) : value) ?? 'undefined';
  return text.length > LONGEST_QUOTE + 2 ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}

/** Whether it is the operating system that refused, and with which code, such as `ENOENT`. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}

/** A refusal of the operating system, as a CheckpointError; any other error as it is. */
export function explainSystemError(file: string, error: unknown): unknown {
  const code = systemErrorCode(error);
  if (code === undefined) return error;
  const message = `${file} could not be read (${code}): check the file and its permissions.`;
  return new CheckpointError({ kind: 'unreadable', file, message, cause: error });
}
