/*
 * Judges profiles of macOS' sandbox-exec, in the language that Apple calls SBPL. Apple does not document it. What is known comes from those
 * who use it (sandbox-runtime's and Chromium's profiles, "Apple's Sandbox Guide" of 2011): the last rule that matches holds; a rule names
 * operations, of which `file-write*` stands for all that begin so; filters of one rule are alternatives. Whether a rule for one operation is
 * stronger than a later one for a group of them is told differently, so both are tried: see `Reading`.
 */

export type Expression = string | readonly Expression[];

/** `last`: of all rules that match, the last one holds. `specific`: first those that name the operation itself, then those of groups. */
export type Reading = 'last' | 'specific';

/** What is asked about. */
export interface Attempt {
  readonly operation: string;
  readonly path?: string;
  readonly type?: 'REGULAR-FILE' | 'DIRECTORY' | 'SYMLINK' | 'CHARACTER-DEVICE' | 'FIFO' | 'SOCKET';
  /** Of a service or setting. */
  readonly name?: string;
  /** Of a signal, or of a look into a process. */
  readonly target?: 'same-sandbox' | 'others';
  /** Such as 127.0.0.1:80. */
  readonly address?: string;
  readonly domain?: string;
}

interface Rule {
  readonly allows: boolean;
  readonly operations: readonly string[];
  readonly filters: readonly (readonly Expression[])[];
}

export class Profile {
  readonly #rules: readonly Rule[];

  /** @throws an Error if the text is no profile, or has something that is not known */
  constructor(text: string) {
    const [version, ...rules] = parse(text);
    if (JSON.stringify(version) !== '["version","1"]') throw new Error('A profile begins with (version 1).');
    this.#rules = rules.map(ruleOf);
    const [first] = this.#rules;
    if (first?.operations[0] !== 'default') throw new Error('The first rule says what holds by default.');
  }

  allows(attempt: Attempt, reading: Reading): boolean {
    const matching = this.#rules.map((rule, index) => ({ rule, index })).filter(({ rule }) => rule.filters.length === 0 || rule.filters.some((filter) => matches(filter, attempt)));
    const naming = matching.flatMap(({ rule, index }) => rule.operations.filter((name) => includes(name, attempt.operation)).map((name) => ({ rule, index, name })));
    // The default is the weakest in both readings. The longer a group's name, the fewer operations it has.
    const rank = ({ name, index }: { name: string; index: number }): [number, number] => [name === 'default' ? 0 : reading === 'last' ? 1 : name === attempt.operation ? 1_000 : name.length, index];
    const strongest = naming.map((found) => ({ found, of: rank(found) })).sort((one, other) => one.of[0] - other.of[0] || one.of[1] - other.of[1]).at(-1);
    return strongest?.found.rule.allows ?? false;
  }
}

const includes = (named: string, operation: string): boolean =>
  named === 'default' || named === operation || (named.endsWith('*') && operation.startsWith(named.slice(0, -1)));

function ruleOf(expression: Expression): Rule {
  const [action, ...rest] = expression as readonly Expression[];
  if (action !== 'allow' && action !== 'deny') throw new Error(`A rule allows or denies: ${JSON.stringify(expression)}`);
  const operations = rest.filter((part): part is string => typeof part === 'string');
  // A modifier, as (with message "…"), says what else is done.
  const filters = rest.filter((part): part is readonly Expression[] => typeof part !== 'string' && part[0] !== 'with');
  for (const filter of filters) matches(filter, { operation: '' });
  return { allows: action === 'allow', operations, filters };
}

function matches([kind, ...values]: readonly Expression[], attempt: Attempt): boolean {
  const [value = ''] = values as readonly string[];
  const text = typeof value === 'string' ? value.replace(/^"/, '') : '';
  const inner = values as readonly (readonly Expression[])[];
  switch (kind) {
    case 'literal': return attempt.path === text;
    case 'subpath': return attempt.path === text || (attempt.path?.startsWith(`${text.replace(/\/$/, '')}/`) ?? false);
    case 'vnode-type': return attempt.type === value;
    case 'target': return attempt.target === value;
    case 'global-name': case 'sysctl-name': case 'iokit-registry-entry-class': case 'iokit-user-client-class': return attempt.name === text;
    case 'sysctl-name-prefix': case 'global-name-prefix': return attempt.name?.startsWith(text) ?? false;
    case 'socket-domain': return attempt.domain === value;
    case 'socket-protocol': return false;
    case 'require-all': return inner.every((filter) => matches(filter, attempt));
    case 'require-any': return inner.some((filter) => matches(filter, attempt));
    case 'require-not': return !inner.some((filter) => matches(filter, attempt));
    default: throw new Error(`The filter ${String(kind)} is not known.`);
  }
}

/** The expressions of a text. Strings keep the quote in front, so that they differ from names. @throws an Error */
export function parse(text: string): readonly Expression[] {
  const tokens = text.matchAll(/;[^\n]*|\s+|([()])|#?"((?:[^"\\]|\\.)*)"|([^\s()"';]+)|(.)/g);
  const stack: Expression[][] = [[]];
  for (const [, bracket, quoted, name, other] of tokens) {
    if (other !== undefined) throw new Error(`Not a part of an expression: ${other}`);
    if (bracket === '(') stack.push([]);
    else if (bracket === ')') {
      const done = stack.pop();
      if (!done || stack.length === 0) throw new Error('A bracket is closed that was not opened.');
      stack.at(-1)?.push(done);
    } else if (quoted !== undefined) stack.at(-1)?.push(`"${quoted.replaceAll(/\\(.)/g, '$1')}`);
    else if (name !== undefined) stack.at(-1)?.push(name);
  }
  if (stack.length !== 1) throw new Error('A bracket is not closed.');
  return stack[0] ?? [];
}
