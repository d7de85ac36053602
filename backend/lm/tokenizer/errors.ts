export type TokenizerErrorKind =
  /** The folder has no tokenizer at all. */
  | 'missing'
  /** The file system refused. */
  | 'unreadable'
  | 'too-large'
  /** Not the format that the file's name promises. */
  | 'malformed'
  /** In order, but of a kind that Conductor does not read. */
  | 'unsupported'
  /** The model was not made for conversations, or its template is lost. */
  | 'no-chat-template'
  /** The model's chat template is wrong, refuses these messages, or asks for too much work. */
  | 'chat-template';

export interface TokenizerErrorData {
  readonly kind: TokenizerErrorKind;
  readonly file: string;
  /** One sentence that says what is wrong and what to do. */
  readonly message: string;
  readonly cause?: unknown;
}

/** A model's tokenizer or chat template that cannot be used as it is. */
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

/** A folder without a tokenizer: its model can still be run where only token ids are used. */
export class TokenizerMissingError extends TokenizerError {
  override readonly name = 'TokenizerMissingError';

  constructor(file: string) {
    const message = `${file} does not exist, and without it only token ids can be used with this model, no text: download the model again.`;
    super({ kind: 'missing', file, message });
  }
}

const LONGEST_QUOTE = 200;

/** A text from a file of strangers, as a sentence may show it: on one line, and short. */
export function quoted(text: string): string {
  const cut = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
  return JSON.stringify(cut);
}
