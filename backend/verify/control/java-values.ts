import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredPart, alteredTextPart, longestPart, type Comparison } from './altered-parts.ts';
import { byValue, Draws, LiteralEdits, opposite, oppositesOf, type Alteration } from './alteration.ts';
import { pick, type Dice } from './dice.ts';
import { withoutMessage } from './java-assertions.ts';
import { otherNumber, otherText } from './likely-values.ts';
import { Mentions } from './mentions.ts';

/** Errors that nothing in a test is likely to throw. */
const OTHER_ERRORS = ['ArrayStoreException', 'NegativeArraySizeException', 'IllegalMonitorStateException', 'IllegalThreadStateException'];

/** Assertions of JUnit, and of AssertJ and Truth, with their opposites. */
const OPPOSITES = oppositesOf(['assertTrue assertFalse', 'assertNull assertNotNull', 'isTrue isFalse', 'isNull isNotNull', 'isEmpty isNotEmpty']);

const EXPECTS_FAILURES = /\bAssertion(?:Failed)?Error\b|\bThrowable\b|\bcatch\s*\(/;

const isScope = ({ type }: Node): boolean => /^(?:lambda_expression|class_body)$/.test(type);

/** Alters one assertion of a test, which every run of the test reaches, in its place. Nothing is added. */
export class JavaValues {
  readonly #dice: Dice;
  readonly #text: string;
  readonly #draws: Draws;
  readonly #made = new LiteralEdits();

  constructor(root: Node, dice: Dice) {
    this.#dice = dice;
    this.#text = root.text;
    this.#draws = new Draws(dice, new Mentions(root.text, [...nodesIn(root)].filter(isProse)));
  }

  /** Undefined if no assertion is certain to be reached, or none of them expects a value that is written out. */
  alter(body: Node): readonly Edit[] | undefined {
    if (body.hasError || EXPECTS_FAILURES.test(body.text)) return undefined;
    const all = [...reached(body)].flatMap((statement) => this.#ofStatement(statement, body) ?? []);
    return this.#draws.of(all);
  }

  #ofStatement(statement: Node, body: Node): Alteration | undefined {
    const [call] = statement.type === 'expression_statement' ? partsOf(statement) : [];
    const [name, list, object] = [call?.childForFieldName('name'), call?.childForFieldName('arguments'), call?.childForFieldName('object')];
    if (call?.type !== 'method_invocation' || !name || !list) return undefined;
    const given = partsOf(list);
    // The project's own equality may agree to everything, and so would the opposite.
    const other = /\bequals\(/i.test(call.text) ? undefined : OPPOSITES.get(name.text);
    if (object?.type === 'method_invocation') {
      if (object.childForFieldName('object') || object.childForFieldName('name')?.text !== 'assertThat') return undefined;
      if (other !== undefined) return opposite(replacement(name, other));
      const isContained = /^(?:contains|startsWith|endsWith|hasMessageContaining)$/.test(name.text) && given[0]?.type === 'string_literal';
      return given[0] && given.length === 1 && (isContained || /^(?:isEqualTo|hasSize|hasMessage)$/.test(name.text))
        ? byValue(this.#value(given[0], body, { isContained })) : undefined;
    }
    if (object && !/^(?:\w+\.)*(?:Assert\w*|TestCase)$/.test(object.text)) return undefined;
    if (other !== undefined) return /^(?:lambda_expression|method_reference)$/.test(given[0]?.type ?? '') ? undefined : opposite(replacement(name, object ? other : this.#imported(name.text, other)));
    if (/^assertThrows(?:Exactly)?$/.test(name.text) && given[0]?.type === 'class_literal') {
      const error = pick(OTHER_ERRORS.filter((each) => !given[0]?.text.includes(each)), this.#dice);
      return byValue(error === undefined ? undefined : [replacement(given[0], `${error}.class`)]);
    }
    if (!/^assert(?:Equals|ArrayEquals|IterableEquals)$/.test(name.text)) return undefined;
    const [first, second, third] = withoutMessage(given, 2, /\borg\.junit\.(?:Assert|\*)|\bjunit\.framework\b/.test(this.#text)) ?? [];
    if (!first || !second) return undefined;
    const tolerance = third && Number(third.text.replace(/[fd]$/i, ''));
    const comparison = tolerance !== undefined && Number.isFinite(tolerance) ? { tolerance } : {};
    return byValue(this.#value(first, body, comparison) ?? this.#value(second, body, comparison));
  }

  /** How a method is called that stands beside an imported one in its class: the file may have imported that one alone. */
  #imported(name: string, other: string): string {
    const importOf = (imported: string): string | undefined => new RegExp(`^\\s*import\\s+static\\s+([\\w.]+)\\.${imported}\\s*;`, 'm').exec(this.#text)?.[1];
    const from = importOf(name);
    return from === undefined || importOf(other) === from || importOf(String.raw`\*`) === from ? other : `${from}.${other}`;
  }

  #value(node: Node, body: Node, comparison: Comparison): readonly Edit[] | undefined {
    const literal = node.type === 'identifier' ? assignedTo(node.text, body) : node;
    if (!literal) return undefined;
    return this.#made.of(literal, () => alteredLiteral(literal, this.#dice, comparison));
  }
}

/** Comments, and the texts of messages: first in JUnit 4, last in JUnit 5. */
function isProse(node: Node): boolean {
  if (/_comment$/.test(node.type)) return true;
  const list = node.type === 'string_literal' && node.parent?.type === 'argument_list' ? node.parent : null;
  const given = list ? partsOf(list) : [];
  return given.length > 2 && /^assert[A-Z]/.test(list?.parent?.childForFieldName('name')?.text ?? '') && (given[0]?.id === node.id || given.at(-1)?.id === node.id);
}

/** The statements of a body that run whenever it does. */
function* reached(body: Node): Generator<Node> {
  for (const statement of partsOf(body)) {
    yield statement;
    const leaves = [...nodesIn(statement, isScope)].some(({ type }) => /^(?:return|break|continue|throw|yield)_statement$/.test(type));
    if (leaves || /\bassume\w*\(/.test(statement.text)) return;
  }
}

/** The value of the only declaration of a local variable that is used once. */
function assignedTo(name: string, body: Node): Node | undefined {
  const uses = [...nodesIn(body)].filter(({ type, text }) => type === 'identifier' && text === name);
  const declarators = partsOf(body).filter(({ type }) => type === 'local_variable_declaration').flatMap((node) => partsOf(node));
  const declared = declarators.filter((node) => node.type === 'variable_declarator' && node.childForFieldName('name')?.text === name);
  return uses.length === 2 && declared.length === 1 ? (declared[0]?.childForFieldName('value') ?? undefined) : undefined;
}

/** Replaces a literal, or one literal in it, by another one of the same kind. Undefined if there is none in it. */
function alteredLiteral(node: Node, dice: Dice, comparison: Comparison): readonly Edit[] | undefined {
  const oneOf = (parts: readonly Node[]): readonly Edit[] | undefined => alteredPart(parts, dice, (part) => alteredLiteral(part, dice, comparison));
  switch (node.type) {
    case 'decimal_integer_literal':
    case 'decimal_floating_point_literal': {
      const [, digits = '', suffix = ''] = /^(.*?)([lfd]?)$/i.exec(node.text) ?? [];
      const other = otherNumber(digits, dice, comparison.tolerance);
      return other === undefined ? undefined : [replacement(node, other + suffix)];
    }
    case 'true':
    case 'false':
      return [replacement(node, node.type === 'true' ? 'false' : 'true')];
    case 'character_literal':
      return /^'[a-z\d]'$/i.test(node.text) ? [replacement(node, `'${otherText(node.text.charAt(1), dice)}'`)] : undefined;
    case 'string_literal': {
      const longest = longestPart(partsOf(node).filter(({ type }) => /fragment$/.test(type)));
      if (longest) return alteredTextPart(longest, dice, comparison);
      return comparison.isContained || node.text !== '""' ? undefined : [insertion(node.endIndex - 1, otherText('', dice))];
    }
    case 'unary_expression':
      return node.text.startsWith('-') ? oneOf(partsOf(node)) : undefined;
    case 'array_creation_expression':
      return oneOf([node.childForFieldName('value')].filter((value) => value !== null));
    case 'array_initializer':
      return oneOf(partsOf(node));
    case 'method_invocation': {
      const list = node.childForFieldName('arguments');
      return list && /^(?:List\.of|Arrays\.asList|ImmutableList\.of|Optional\.of)\(/.test(node.text) ? oneOf(partsOf(list)) : undefined;
    }
    default:
      return undefined;
  }
}
