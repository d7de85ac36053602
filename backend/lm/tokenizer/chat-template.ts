import { Environment, parse, tokenize } from '@huggingface/jinja';
import { TokenizerError, quoted } from './errors.ts';
import { AllowanceSpentSignal, MeteredInterpreter } from './metered-interpreter.ts';

/*
 * A chat template is a Jinja program that came with a model from strangers. It can read nothing but what it is given, for the
 * interpreter has no files, no network and no way to JavaScript. It could still take all time and memory: one loop in another,
 * a list that doubles itself. So every value that the interpreter works out is paid for by its size, and the purse is bounded.
 */

/** Values a template may work out whatever its input; those of known models need a few hundred for each message. */
const ALLOWANCE = 500_000;
/** And for each character of the messages: templates look at a message again and again. */
const ALLOWANCE_PER_CHARACTER = 64;
const LONGEST_RANGE = 100_000;

/** Variables of a template, as plain data. */
export type TemplateVariables = Readonly<Record<string, unknown>>;

export class ChatTemplate {
  readonly #file: string;
  readonly #source: string;
  #program: ReturnType<typeof parse> | undefined;

  /** @param file where the template was found, for messages. */
  constructor(file: string, source: string) {
    this.#file = file;
    this.#source = source;
  }

  get source(): string {
    return this.#source;
  }

  /**
   * @param inputLength characters of the messages, by which the allowance grows.
   * @throws TokenizerError of kind `chat-template`
   */
  render(variables: TemplateVariables, inputLength: number): string {
    const environment = new Environment();
    const globals = {
      true: true, True: true, false: false, False: false, none: null, None: null, range: boundedRange,
      raise_exception: (message: unknown) => {
        throw new RefusalSignal(String(message));
      },
    };
    for (const [name, value] of Object.entries({ ...globals, ...variables })) environment.set(name, value);
    const interpreter = new MeteredInterpreter(environment, ALLOWANCE + ALLOWANCE_PER_CHARACTER * inputLength);
    try {
      // As transformers sets up Jinja for chat templates.
      this.#program ??= parse(tokenize(this.#source, { trim_blocks: true, lstrip_blocks: true }));
      return String(interpreter.run(this.#program).value);
    } catch (error) {
      throw new TokenizerError({ kind: 'chat-template', file: this.#file, message: `${this.#file}: ${explain(error)}`, cause: error });
    }
  }
}

/** Thrown by a template's own `raise_exception`. */
class RefusalSignal extends Error {
  override readonly name = 'RefusalSignal';
}

function explain(error: unknown): string {
  if (error instanceof RefusalSignal) {
    return `the model's chat template refuses these messages (${quoted(error.message)}): choose another model, or report it to the model's authors.`;
  }
  if (error instanceof AllowanceSpentSignal) {
    return 'the model\'s chat template asks for far more work than any known one and was stopped: choose another model.';
  }
  const reason = error instanceof Error ? error.message : String(error);
  return `the model's chat template does not work (${quoted(reason)}): download the model again or choose another one.`;
}

/** Python's `range`, for numbers of items that a template can have a use for. */
function boundedRange(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!(length <= LONGEST_RANGE)) throw new AllowanceSpentSignal();
  return Array.from({ length }, (_, at) => start + at * step);
}
