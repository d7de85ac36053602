import { getSystemErrorMap } from 'node:util';
import { callNumbers, type Call } from '../call-numbers.ts';
import { SandboxLineError } from '../walled-line.ts';
import { PROGRAM, SCRATCH, STEP } from './step-machine.ts';

/** A place among the steps. Steps may lead there before it is put down. */
export interface Place {
  step?: number;
}

/** Leads nowhere: the program ends with the status of the process that it has waited for. */
export const END: Place = {};

/** An argument of one step that another one fills in. */
export interface Slot {
  address?: number;
}

/** A text stands for its address. */
export type Argument = number | string | Slot;

/** What comes after a step. Where nothing is said, that is the next step, and after a failure the end. */
export interface Then {
  readonly failed?: Place;
  /** As in a new process. */
  readonly zero?: Place;
  readonly positive?: Place;
  /** Takes the result. */
  readonly result?: Slot;
}

interface Step {
  readonly call: Call;
  readonly values: readonly (number | Slot)[];
  readonly then: Then & { readonly failed: Place };
}

const WORD = 8;
const HEADER_BYTES = 3 * WORD;
const STANDARD_ERROR = 2;

/** The steps of a program for the step machine, and the data that they point to. */
export class StepList {
  readonly #numbers: Readonly<Record<Call, number>>;
  readonly #steps: Step[] = [];
  readonly #data: Uint8Array[] = [];
  readonly #texts = new Map<string, number>();
  readonly #failures = new Map<string, Place>();
  readonly #exit: Place = {};
  readonly #error: Slot = {};
  #end = PROGRAM + HEADER_BYTES;
  #failure = this.#exit;
  /** The address of the environment of the program, for execve. */
  readonly environment: Slot = {};

  /** @throws SandboxLineError */
  constructor(architecture: NodeJS.Architecture) {
    const found = callNumbers(architecture);
    if (!found) throw new SandboxLineError(`There is no sandbox for processors of type ${architecture} yet.`);
    this.#numbers = found.calls;
  }

  add(call: Call, values: readonly Argument[], then: Then = {}): void {
    this.#steps.push({ call, values: values.map((value) => (typeof value === 'string' ? this.text(value) : value)), then: { failed: this.#failure, ...then } });
  }

  /** The next step comes to this place. */
  put(place: Place): void {
    place.step = this.#steps.length;
  }

  /** Where one of the next steps fails, the program says that this could not be done, and ends with 256 less the error's number. */
  doing(what: string): void {
    this.#failure = this.#failures.get(what) ?? {};
    this.#failures.set(what, this.#failure);
  }

  /** The address of a text that ends with a zero. */
  text(text: string): number {
    const address = this.#texts.get(text) ?? this.bytes(Buffer.from(`${text}\0`));
    this.#texts.set(text, address);
    return address;
  }

  /** The address of these words, each of which is a number or the address of a text. */
  words(values: readonly (number | string)[]): number {
    const words = Buffer.alloc(values.length * WORD);
    values.forEach((value, index) => writeWord(words, index * WORD, typeof value === 'string' ? this.text(value) : value));
    return this.bytes(words);
  }

  bytes(content: Uint8Array): number {
    const address = this.#end;
    // The kernel expects numbers at multiples of their size.
    const padded = Buffer.alloc(Math.ceil(content.length / WORD) * WORD);
    padded.set(content);
    this.#data.push(padded);
    this.#end += padded.length;
    return address;
  }

  /** What the machine reads. To be called once. @throws SandboxLineError if there is more than it has room for */
  program(): Uint8Array {
    this.#addFailures();
    const first = this.#end;
    const addressOf = (step: number): number => first + step * STEP.words * WORD;
    this.#steps.forEach(({ values }, step) => {
      values.forEach((value, index) => {
        if (typeof value !== 'number') value.address = addressOf(step) + (STEP.arguments + index) * WORD;
      });
    });
    const steps = Buffer.alloc(this.#steps.length * STEP.words * WORD);
    this.#steps.forEach(({ call, values, then }, step) => {
      const set = (word: number, value: number): void => writeWord(steps, (step * STEP.words + word) * WORD, value);
      const follow = (place: Place): number => (place.step === undefined ? 0 : addressOf(place.step));
      const next: Place = { step: step + 1 };
      set(0, this.#numbers[call]);
      values.forEach((value, index) => set(STEP.arguments + index, typeof value === 'number' ? value : 0));
      set(STEP.result, (then.result ?? this.#error).address ?? SCRATCH);
      set(STEP.negative, follow(then.failed));
      set(STEP.zero, follow(then.zero ?? next));
      set(STEP.positive, follow(then.positive ?? next));
    });
    const header = Buffer.alloc(HEADER_BYTES);
    writeWord(header, 0, first);
    writeWord(header, WORD, this.environment.address ?? SCRATCH);
    const program = Buffer.concat([header, ...this.#data, steps]);
    writeWord(program, 2 * WORD, PROGRAM + program.length);
    if (PROGRAM + program.length > SCRATCH) throw new SandboxLineError('The sandbox cannot show so many folders.');
    return program;
  }

  #addFailures(): void {
    const outcome: Place = {};
    const say = (text: string, after: Place): void => this.add('write', [STANDARD_ERROR, text, Buffer.byteLength(text)], { failed: after, zero: after, positive: after, result: {} });
    for (const [what, place] of this.#failures) {
      this.put(place);
      say(what, outcome);
    }
    this.put(outcome);
    say(FAILED, this.#exit);
    this.put(this.#exit);
    this.add('exit_group', [this.#error]);
  }
}

const FAILED = ' failed\n';

/** What a program has said that ended with this code, with the reason if a step of it has failed. */
export function withReason(said: string, exitCode: number | null): string {
  const reason = getSystemErrorMap().get((exitCode ?? 0) - 256)?.[1];
  return reason !== undefined && said.endsWith(FAILED) ? `${said.trimEnd()}: ${reason}` : said;
}

function writeWord(buffer: Buffer, at: number, value: number): void {
  buffer.writeBigInt64LE(BigInt(value), at);
}
