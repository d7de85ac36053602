import { Environment, parse, tokenize } from '@huggingface/jinja';
import { TokenizerError, quoted } from './errors.ts';
import { AllowanceSpentSignal, MeteredInterpreter } from './metered-interpreter.ts';

/*
 * A chat template is an untrusted Jinja program. It can read only its variables, because the interpreter has no access to files,
 * the network or JavaScript. It could still use up time and memory with nested loops or a list that doubles itself. Therefore
 * every value that the interpreter computes counts by its size towards a limited allowance.
 */

/** The values that a template may compute for any input. Known models need a few hundred for each message. */
const ALLOWANCE = 500_000;
/** Additional values for each character of the messages, because templates read messages repeatedly. */
const ALLOWANCE_PER_CHARACTER = 64;
const LONGEST_RANGE = 100_000;

/** The variables of a template, as plain data. */
export type TemplateVariables = Readonly<Record<string, unknown>>;

export class ChatTemplate {
  readonly #file: string;
  readonly #source: string;
  #program: ReturnType<typeof parse> | undefined;

  /** @param file the file of the template, for error messages */
  constructor(file: string, source: string) {
    this.#file = file;
    this.#source = source;
  }

  get source(): string {
    return this.#source;
  }

  /**
   * @param inputLength the number of characters of the messages, with which the allowance grows
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
      // The Jinja options of transformers for chat templates.
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

/** Python's `range` with a limited length. */
function boundedRange(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!(length <= LONGEST_RANGE)) throw new AllowanceSpentSignal();
  return Array.from({ length }, (_, at) => start + at * step);
}
