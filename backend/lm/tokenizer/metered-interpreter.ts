import { Environment, Interpreter } from '@huggingface/jinja';

/** The number of characters that cost as much as one value. */
const CHARACTERS_PER_VALUE = 16;

type RuntimeValue = ReturnType<Interpreter['evaluate']>;
type Statement = Parameters<Interpreter['evaluate']>[0];

export class AllowanceSpentSignal extends Error {
  override readonly name = 'AllowanceSpentSignal';
}

/**
 * A Jinja interpreter that counts the size of every value towards an allowance. `evaluate` calls itself for each part of a
 * program, including loops and macros, so that it sees all work.
 */
export class MeteredInterpreter extends Interpreter {
  #allowance: number;

  constructor(environment: Environment, allowance: number) {
    super(environment);
    this.#allowance = allowance;
  }

  /** @throws AllowanceSpentSignal */
  override evaluate(statement: Statement, environment: Environment): RuntimeValue {
    const value = this.#strip(statement, environment) ?? super.evaluate(statement, environment);
    this.#allowance -= costOf(value, this.#allowance);
    if (this.#allowance < 0) throw new AllowanceSpentSignal();
    return value;
  }

  /**
   * Implements `text.lstrip('\n')` and similar calls. The library (0.5.11) ignores the argument and strips all white space,
   * including the indentation of an answer that begins with code.
   */
  #strip(statement: Statement, environment: Environment): RuntimeValue | undefined {
    const call = asStripCall(statement);
    if (call === undefined) return undefined;
    const [text, characters] = [call.object, call.argument].map((part) => this.evaluate(part, environment).value);
    if (typeof text !== 'string' || typeof characters !== 'string') return undefined;
    return new Environment().set('stripped', stripCharacters(text, characters, call.method));
  }
}

type StripMethod = 'strip' | 'lstrip' | 'rstrip';

interface StripCall {
  readonly object: Statement;
  readonly method: StripMethod;
  readonly argument: Statement;
}

/** A method call in the library's syntax tree (its `ast.ts`), whose types it does not export. */
interface CallExpression {
  readonly args: readonly NonNullable<Statement>[];
  readonly callee: NonNullable<Statement> & {
    readonly object: Statement;
    readonly property: { readonly value: unknown };
    readonly computed: boolean;
  };
}

function asStripCall(statement: Statement): StripCall | undefined {
  if (statement?.type !== 'CallExpression') return undefined;
  const { callee, args: [argument, ...others] } = statement as NonNullable<Statement> & CallExpression;
  if (callee.type !== 'MemberExpression' || callee.computed || argument === undefined || others.length > 0) return undefined;
  const method = (['strip', 'lstrip', 'rstrip'] as const).find((name) => name === callee.property.value);
  return method && { object: callee.object, method, argument };
}

function stripCharacters(text: string, characters: string, method: StripMethod): string {
  const strippable = new Set(characters);
  const kept = [...text];
  let start = 0;
  let end = kept.length;
  if (method !== 'rstrip') while (start < end && strippable.has(kept[start]!)) start++;
  if (method !== 'lstrip') while (end > start && strippable.has(kept[end - 1]!)) end--;
  return kept.slice(start, end).join('');
}

/**
 * The size of a value if it were written out: an item that occurs twice counts twice.
 * @param limit counting stops soon after it, so that it always terminates
 */
function costOf(value: RuntimeValue, limit: number): number {
  let cost = 0;
  // The interpreter has values that its types do not allow, such as undefined for the first item of an empty list.
  const open: (RuntimeValue | undefined)[] = [value];
  while (open.length > 0 && cost <= limit) {
    cost++;
    const content: unknown = open.pop()?.value;
    if (typeof content === 'string') cost += content.length / CHARACTERS_PER_VALUE;
    else if (content instanceof Map) for (const item of (content as ReadonlyMap<string, RuntimeValue>).values()) open.push(item);
    else if (Array.isArray(content)) for (const item of content as readonly RuntimeValue[]) open.push(item);
  }
  return cost;
}
