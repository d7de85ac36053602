import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { byValue, Draws, mayStandIn, opposite, throughHelper, type Alteration } from './alteration.ts';
import { pick, type Dice } from './dice.ts';
import { callIn, isFailure, isMessageOfTest, oppositeField, statementsOf, type GoChecks } from './go-assertions.ts';
import { functionCalled, GoExpected, hasRounds, type GoHelper, type GoPlace } from './go-expected.ts';
import { libraryAssertion } from './go-libraries.ts';
import type { GoComparison } from './go-literals.ts';
import { Mentions } from './mentions.ts';

/** Nesting of helpers that call helpers. */
const MAX_DEPTH = 5;

const FLIPPED: Readonly<Record<string, string>> = { '!=': '==', '==': '!=', '<': '>=', '>=': '<', '>': '<=', '<=': '>' };

/** Functions that compare two values, with the language's means only. */
const PLAIN_EQUAL = /^(?:reflect\.DeepEqual|(?:bytes|slices|maps)\.Equal|strings\.EqualFold)$/;
const CONTAINS = /^(?:strings|bytes)\.(?:Contains|HasPrefix|HasSuffix)$|^slices\.Contains$/;
/** Functions and methods with which a project compares values. */
const OWN_EQUAL = /(?:^|\.)(?:Is|Are|Deep)?(?:Equals?|Eq|Same)(?:To)?$/i;

/** testify's assertions with an expected value: the index of the argument that holds it, not counting the test. */
const EXPECTED: Readonly<Record<string, { readonly at: readonly number[]; readonly how?: GoComparison }>> = {
  Equal: { at: [0, 1] }, EqualValues: { at: [0, 1] }, Exactly: { at: [0, 1] }, ElementsMatch: { at: [0, 1] }, Len: { at: [1] }, EqualError: { at: [1] },
  Contains: { at: [1], how: { isContained: true } }, ErrorContains: { at: [1], how: { isContained: true } },
};

/**
 * Alters one assertion of a test, which every run of the test reaches, by another literal in the place of the one that is expected. Nothing
 * is added. Where nothing is expected by value, the condition is turned in its place.
 */
export class GoValues {
  readonly #checks: GoChecks;
  readonly #functions: ReadonlyMap<string, Node>;
  readonly #dice: Dice;
  readonly #values: GoExpected;
  readonly #draws: Draws;
  readonly #chosen = new Map<number, readonly Edit[] | undefined>();

  constructor(root: Node, functions: ReadonlyMap<string, Node>, checks: GoChecks, dice: Dice) {
    this.#checks = checks;
    this.#functions = functions;
    this.#dice = dice;
    this.#values = new GoExpected(dice);
    this.#draws = new Draws(dice, new Mentions(root.text, [...nodesIn(root)].filter(isProse)));
  }

  /** Undefined if no assertion is certain to be reached. */
  alter(body: Node): readonly Edit[] | undefined {
    if (!this.#chosen.has(body.startIndex)) this.#chosen.set(body.startIndex, this.#choose(body));
    return this.#chosen.get(body.startIndex);
  }

  #choose(body: Node): readonly Edit[] | undefined {
    return this.#draws.of(this.#alterations(body, undefined, 0));
  }

  #alterations(body: Node, helper: GoHelper | undefined, depth: number): readonly Alteration[] {
    // A panic that is expected leaves out the rest.
    if (body.hasError || /\brecover\(\)/.test(body.text)) return [];
    return [...this.#reached(body, helper)].flatMap((statement) => {
      const place = { statement, helper };
      const own = this.#ofIf(statement, place) ?? this.#ofTestify(statement, place) ?? this.#ofLibrary(statement, place);
      return own ? [own] : depth < MAX_DEPTH ? this.#ofHelper(place, depth) : [];
    });
  }

  /** The statements of a block that run whenever the block does. */
  *#reached(block: Node, helper: GoHelper | undefined): Generator<Node> {
    for (const statement of statementsOf(block)) {
      yield statement;
      const body = statement.type === 'block' ? statement : statement.type === 'for_statement' && hasRounds(statement, helper) ? statement.childForFieldName('body') : null;
      if (body) yield* this.#reached(body, helper);
      if (this.#mayLeave(statement)) return;
    }
  }

  /** Whether the statements after this one may be left out, other than by a failure. */
  #mayLeave(statement: Node): boolean {
    const isLeft = (node: Node): boolean => node.type === 'func_literal' || this.#fails(node.childForFieldName('consequence'));
    return [...nodesIn(statement, isLeft)].some((node) =>
      !isLeft(node) && (/^(?:return|break|continue|goto)_statement$/.test(node.type) || /\.Skip(?:f|Now)?\(|\bos\.Exit\(|\bGoexit\(/.test(node.type === 'call_expression' ? node.text : '')));
  }

  #fails(consequence: Node | null): boolean {
    return consequence !== null && statementsOf(consequence).some((inner) => isFailure(inner, this.#checks.tests));
  }

  #ofIf(statement: Node, place: GoPlace): Alteration | undefined {
    const condition = statement.type === 'if_statement' ? statement.childForFieldName('condition') : null;
    if (!condition || statement.childForFieldName('alternative') || !this.#fails(statement.childForFieldName('consequence'))) return undefined;
    return this.#condition(condition, place);
  }

  /** Makes a condition true with honest code that was false. */
  #condition(node: Node, place: GoPlace): Alteration | undefined {
    const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
    const operator = node.childForFieldName('operator');
    if (node.type === 'parenthesized_expression') return partsOf(node)[0] && this.#condition(partsOf(node)[0] as Node, place);
    if (node.type === 'unary_expression' && operator?.text === '!') {
      const operand = node.childForFieldName('operand');
      if (operand?.type === 'call_expression') return this.#asked(operand, place, opposite(replacement(operator, '')));
      return opposite(replacement(operator, ''));
    }
    if (node.type !== 'binary_expression' || !left || !right || !operator) return node.type === 'nil' ? undefined : opposite(insertion(node.startIndex, '!'));
    if (operator.text === '||' || operator.text === '&&') {
      const known = [left, right].map((side) => this.#condition(side, place)).filter((side) => side !== undefined);
      if (operator.text === '||') return pick(known.filter(({ isByValue }) => isByValue), this.#dice) ?? known[0];
      if (known.length < 2) return undefined;
      const edits = known.flatMap((side) => side.edits);
      // Only one of the two sides may have been false, so that one turned has to be enough.
      return known.every(({ isByValue }) => isByValue) && !mayStandIn(known, node.tree.rootNode.text) ? byValue(edits) : opposite(...edits, replacement(operator, '||'));
    }
    const diff = diffOf(left, place.statement);
    if (diff) return this.#equality(diff, place, { isOwn: true });
    const flipped = FLIPPED[operator.text];
    return (operator.text === '!=' ? this.#equality([right, left], place, {}) : undefined) ?? (flipped === undefined ? undefined : opposite(replacement(operator, flipped)));
  }

  /** For a call whose result must be true. Where the project compares, the opposite says nothing: its values may equal everything. */
  #asked(call: Node, place: GoPlace, turned: Alteration): Alteration | undefined {
    const [called, list] = [call.childForFieldName('function'), call.childForFieldName('arguments')];
    const given = list ? partsOf(list) : [];
    const name = called?.text ?? '';
    const [first, second] = given;
    if (CONTAINS.test(name) && second) return this.#equality([second], place, { isContained: true }) ?? turned;
    if (PLAIN_EQUAL.test(name) && first && second) return this.#equality([second, first], place, {}) ?? turned;
    if (name === 'errors.Is' || name === 'errors.As') return undefined;
    if (OWN_EQUAL.test(name)) return this.#equality(given.slice(0, 2).reverse(), place, { isOwn: true });
    return turned;
  }

  #equality(sides: readonly Node[], place: GoPlace, comparison: GoComparison): Alteration | undefined {
    for (const side of sides) {
      const edits = this.#values.ofLiteral(side, comparison);
      if (edits) return byValue(edits);
    }
    for (const side of sides) {
      const edits = this.#values.ofName(side, place, comparison);
      if (edits) return byValue(edits);
    }
    return undefined;
  }

  #ofTestify(statement: Node, place: GoPlace): Alteration | undefined {
    const call = callIn(statement);
    const selector = call?.childForFieldName('function');
    const [owner, field] = [selector?.childForFieldName('operand'), selector?.childForFieldName('field')];
    const list = call?.childForFieldName('arguments');
    if (!owner || !field || !list || !this.#checks.usesTestify || !this.#checks.owners.has(owner.text)) return undefined;
    const all = partsOf(list);
    if (all.some(({ type }) => type === 'variadic_argument')) return undefined;
    const given = all[0] !== undefined && this.#checks.tests.has(all[0].text) ? all.slice(1) : all;
    const name = field.text.replace(/f$/, '');
    const expected = Object.hasOwn(EXPECTED, name) ? EXPECTED[name] : undefined;
    const found = expected && this.#equality(expected.at.flatMap((index) => given[index] ?? []), place, expected.how ?? {});
    if (found) return found;
    if (name === 'InDelta' && given[0] && given[2]) return byValue(this.#values.ofLiteral(given[0], { tolerance: Number(given[2].text) || 0 }));
    const other = oppositeField(field.text);
    return other === undefined ? undefined : opposite(replacement(field, other));
  }

  #ofLibrary(statement: Node, place: GoPlace): Alteration | undefined {
    const found = libraryAssertion(statement, this.#checks);
    return found && (this.#equality(found.sides, place, found.comparison) ?? (found.opposite && opposite(...found.opposite)));
  }

  /** The assertions of a helper of the file, or of a function that the test assigns to a name, which are altered for all that call it. */
  #ofHelper(from: GoPlace, depth: number): readonly Alteration[] {
    const call = callIn(from.statement);
    const called = call?.childForFieldName('function');
    const definition = called?.type === 'identifier' ? functionCalled(called, this.#functions) : undefined;
    const [body, parameters, list] = [definition?.childForFieldName('body'), definition?.childForFieldName('parameters'), call?.childForFieldName('arguments')];
    if (!definition || !body || !parameters || !list) return [];
    const names = partsOf(parameters).flatMap((parameter) => partsOf(parameter).filter(({ type }) => type === 'identifier').map(({ text }) => text));
    const values = partsOf(list);
    const given = new Map(names.flatMap((name, index) => (values[index] ? [[name, values[index]] as const] : [])));
    return throughHelper(body, this.#alterations(body, { definition, given, from }, depth + 1));
  }
}

/** What `diff := cmp.Diff(want, got)` compares, for the name of the difference or its length. */
function diffOf(node: Node, statement: Node): readonly Node[] | undefined {
  const name = node.text.replace(/^len\((\w+)\)$/, '$1');
  if (!/^\w+$/.test(name)) return /\bDiff\(/.test(node.text) && node.type === 'call_expression' ? argumentsOf(node) : undefined;
  const scope = [statement.childForFieldName('initializer'), statement.previousNamedSibling];
  const declared = scope.find((at) => at?.type === 'short_var_declaration' && at.childForFieldName('left')?.text === name);
  const call = declared?.childForFieldName('right')?.namedChild(0);
  return call?.type === 'call_expression' && /\.Diff$/.test(call.childForFieldName('function')?.text ?? '') ? argumentsOf(call) : undefined;
}

function argumentsOf(call: Node): readonly Node[] {
  const list = call.childForFieldName('arguments');
  return list ? partsOf(list).slice(0, 2) : [];
}

/** Comments, and the texts of messages. */
function isProse(node: Node): boolean {
  if (node.type === 'comment') return true;
  const call = node.type.endsWith('string_literal') && node.parent?.type === 'argument_list' ? node.parent.parent : null;
  return call != null && isMessageOfTest(call);
}
