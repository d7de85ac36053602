export type TokenizerErrorKind =
  /** The folder has no tokenizer. */
  | 'missing'
  /** The operating system could not read the file. */
  | 'unreadable'
  | 'too-large'
  /** The content does not match the format. */
  | 'malformed'
  /** Valid, but of a kind that Conductor does not support. */
  | 'unsupported'
  /** The model is not a chat model, or its template is missing. */
  | 'no-chat-template'
  /** The chat template fails, rejects the messages or exceeds its allowance. */
  | 'chat-template';

export interface TokenizerErrorData {
  readonly kind: TokenizerErrorKind;
  readonly file: string;
  /** One sentence that says what is wrong and what to do. */
  readonly message: string;
  readonly cause?: unknown;
}

/** The tokenizer or the chat template cannot be used. */
export class TokenizerError extends Error {
  override readonly name: string = 'TokenizerError';
  readonly kind: TokenizerErrorKind;
  readonly file: string;

  constructor({ kind, file, message, cause }: TokenizerErrorData) {
    super(message, { cause });
    this.kind = kind;
    this.file = file;
  }
}

/** The folder has no tokenizer. The model can still run on token ids. */
export class TokenizerMissingError extends TokenizerError {
  override readonly name = 'TokenizerMissingError';

  constructor(file: string) {
    const message = `${file} does not exist, and without it only token ids can be used with this model, no text: download the model again.`;
    super({ kind: 'missing', file, message });
  }
}

const LONGEST_QUOTE = 200;

/** An untrusted text for use in a message: on one line and truncated. */
export function quoted(text: string): string {
  const cut = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
  return JSON.stringify(cut);
}
