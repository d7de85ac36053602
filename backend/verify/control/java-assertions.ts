import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';

/** An error and a class that the code under test is unlikely to use. */
const OTHER_ERROR = 'java.util.zip.DataFormatException.class';
const OTHER_CLASS = 'java.util.zip.CRC32.class';

/** Equal to nothing else. */
const fresh = ({ text }: Node): string => `(Object) new Object[] { ${text} }`;
/** Null; the values are still evaluated. */
const nothing = (...nodes: readonly Node[]): string =>
  `(Object) (new Object[] { ${nodes.map(({ text }) => text).join(', ')} }.length == 0 ? "" : null)`;

/** A test class whose `equals` always returns true. An altered value would still be equal to its objects. */
const DEFINES_SUCH = /\bboolean\s+equals\s*\([^)]*\)\s*\{\s*return\s+true\s*;/;

const isText = (node: Node | undefined): boolean => node?.type === 'string_literal' || node?.type === 'lambda_expression';

/** JUnit 4 has the message first (`assertEquals("message", 1, a)`), JUnit 5 last. */
export function withoutMessage(given: readonly Node[], count: number, hasMessageFirst: boolean): readonly Node[] | undefined {
  if (given.length === count) return given;
  if (hasMessageFirst) return given[0]?.type === 'string_literal' ? given.slice(1) : undefined;
  return given.length === count + 1 ? given : undefined;
}

/** Edits of an assertion statement. Undefined if it is no assertion or is not certain to fail afterwards. */
export function alteredStatement(statement: Node, file: string): readonly Edit[] | undefined {
  const [call] = statement.type === 'expression_statement' ? partsOf(statement) : [];
  const [name, list] = [call?.childForFieldName('name'), call?.childForFieldName('arguments')];
  if (call?.type !== 'method_invocation' || !name || !list || call.hasError) return undefined;
  const given = partsOf(list);
  const object = call.childForFieldName('object');
  if (object && !/^(?:\w+\.)*(?:Assert\w*|TestCase|MatcherAssert|this)$/.test(object.text)) return alteredChain(call, name, given, file);
  return ofAssert(name.text, given, file);
}

function ofAssert(name: string, all: readonly Node[], file: string): readonly Edit[] | undefined {
  const count = ['assertTrue', 'assertFalse', 'assertNull', 'assertNotNull'].includes(name) ? 1 : 2;
  const given = withoutMessage(all, count, /\borg\.junit\.(?:Assert|\*)|\bjunit\.framework\b/.test(file));
  const [first, second, third] = given ?? [];
  if (!first || (count === 2 && !second)) return undefined;
  switch (name) {
    case 'assertTrue':
    case 'assertFalse':
      return /^(?:lambda_expression|method_reference)$/.test(first.type) ? undefined : [replacement(first, `!(${first.text})`)];
    case 'assertNull':
      return [replacement(first, fresh(first))];
    case 'assertNotNull':
      return [replacement(first, nothing(first))];
    case 'assertEquals':
    case 'assertSame':
      // JUnit calls `equals` of the expected value.
      return second && (alteredLiteral(first) !== undefined || !DEFINES_SUCH.test(file)) ? alteredPair(first, second, third) : undefined;
    case 'assertNotEquals':
      return second && !third ? [{ start: first.startIndex, end: second.endIndex, text: `(Object) null, ${nothing(first, second)}` }] : undefined;
    case 'assertThrows':
    case 'assertThrowsExactly':
      return first.type === 'class_literal' ? [replacement(first, OTHER_ERROR)] : undefined;
    case 'assertInstanceOf':
      return first.type === 'class_literal' ? [replacement(first, OTHER_CLASS)] : undefined;
    case 'assertThat':
      return second && !third && !isText(first) ? [replacement(second, `org.hamcrest.CoreMatchers.not(${second.text})`)] : undefined;
    default:
      return undefined;
  }
}

/** `rest`: a message or a tolerance. */
function alteredPair(first: Node, second: Node, rest: Node | undefined): readonly Edit[] | undefined {
  for (const side of [first, second]) {
    const altered = alteredLiteral(side);
    if (altered !== undefined) return [replacement(side, altered)];
  }
  if (rest && isNumber(rest)) return [replacement(second, 'Double.NaN')];
  if (rest && !isText(rest)) return undefined;
  return [replacement(first, `(Object) (${first.text})`), replacement(second, fresh(second))];
}

/** Assertions of AssertJ and Truth, and their opposites. */
const OPPOSITES: ReadonlyMap<string, string> = new Map([
  ...[['isTrue', 'isFalse'], ['isFalse', 'isTrue'], ['isNull', 'isNotNull'], ['isNotNull', 'isNull'], ['isEmpty', 'isNotEmpty']],
  ...[['isNotEmpty', 'isEmpty'], ['isSameAs', 'isNotSameAs'], ['isNotSameAs', 'isSameAs'], ['isNotEqualTo', 'isEqualTo']],
] as [string, string][]);

/** For `assertThat(a).isEqualTo(b)`. */
function alteredChain(call: Node, name: Node, [argument, ...others]: readonly Node[], file: string): readonly Edit[] | undefined {
  let root: Node | null = call;
  for (let links = 0; root?.childForFieldName('object') && links < 100; links += 1) root = root.childForFieldName('object');
  if (!/^(?:assertThat|expectThat)$/.test(root?.childForFieldName('name')?.text ?? root?.text ?? '') || others.length > 0) return undefined;
  const opposite = OPPOSITES.get(name.text);
  if (opposite !== undefined) return [replacement(name, opposite)];
  if (!argument) return undefined;
  switch (name.text) {
    case 'isEqualTo':
      return DEFINES_SUCH.test(file) ? undefined : [replacement(argument, alteredLiteral(argument) ?? fresh(argument))];
    case 'hasSize':
      return [insertion(argument.startIndex, '1000003 + ')];
    case 'contains':
    case 'startsWith':
    case 'endsWith':
    case 'hasMessage':
    case 'hasMessageContaining': {
      const altered = argument.type === 'string_literal' ? alteredLiteral(argument) : undefined;
      return altered === undefined ? undefined : [replacement(argument, altered)];
    }
    default:
      return undefined;
  }
}

const isNumber = ({ type, text }: Node): boolean =>
  /^(?:decimal_integer|hex_integer|decimal_floating_point)_literal$/.test(type) || (type === 'unary_expression' && /^-\s*[\d.]+[LlFfDd]?$/.test(text));

/** Another value of the same type as this literal. */
function alteredLiteral(node: Node): string | undefined {
  if (isNumber(node)) return `(-(${node.text}) - 1000003)`;
  switch (node.type) {
    case 'true':
      return 'false';
    case 'false':
      return 'true';
    case 'null_literal':
      return '"~altered"';
    case 'character_literal':
      return `(char) (${node.text} + 1)`;
    case 'string_literal': {
      const quote = node.text.endsWith('"""') ? 3 : 1;
      return `${node.text.slice(0, -quote)}~altered${node.text.slice(-quote)}`;
    }
    default:
      return undefined;
  }
}
