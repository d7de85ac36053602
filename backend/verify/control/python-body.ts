import { editedPart, insertion, replacement, type Edit } from '../syntax/edits.ts';
import { beforeInLine, lineEnd, nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { HelperCopies } from './helper-copies.ts';
import { alteredAssertion, alteredRaises, callOf, expectsErrors } from './python-assertions.ts';
import { PythonExpressions } from './python-expressions.ts';
import type { SourceFile } from './source-test.ts';

/** A test that expects assertions to fail, or compares with a value that equals anything, is not certain to fail when altered. */
const EXPECTS_FAILURES = /\bsuppress\s*\(|\bAssertionError\b|\bfailureException\b|\bANY\b/;

const isScope = ({ type }: Node): boolean => /^(?:function_definition|lambda|class_definition)$/.test(type);

/** Finds a helper function of the file by the name and receiver of its call. Helpers may contain a test's assertions. */
export type FindHelper = (name: string, owner: string, from: Node) => Node | undefined;

/** Alters functions of one file as described in `alter-expectations.ts`. */
export class PythonBodies {
  readonly #source: SourceFile;
  readonly #findHelper: FindHelper;
  readonly #expressions: PythonExpressions;
  readonly #copies = new HelperCopies();

  constructor(source: SourceFile, findHelper: FindHelper) {
    this.#source = source;
    this.#findHelper = findHelper;
    this.#expressions = new PythonExpressions(source.text);
  }

  /** Edits of a function and of the helpers that it calls. Undefined if it has no assertion or is not certain to fail. */
  alter(definition: Node): readonly Edit[] | undefined {
    const body = definition.childForFieldName('body');
    const [first, second] = body ? partsOf(body) : [];
    if (!body || !first || body.hasError || !this.#startsLine(first) || EXPECTS_FAILURES.test(body.text)) return undefined;
    const own = [...nodesIn(body, isScope)];
    if (own.some(({ type }) => type === 'yield')) return undefined;

    const { held } = this.#source;
    const isText = first.type === 'expression_statement' && partsOf(first)[0]?.type === 'string';
    const start = isText ? second : first;
    if (!start || !this.#startsLine(start)) return undefined;
    const edits: Edit[] = [insertion(start.startIndex, `${held} = []\n${this.#indentOf(start)}`)];
    const tried = this.#alteredStatements(body);
    if (tried.length === 0) return undefined;
    edits.push(...tried);
    for (const { type, startIndex } of own)
      if (type === 'return_statement') edits.push(insertion(startIndex, `assert ${held}, "altered"; `));
    // A `with` at the end may swallow the failure. Therefore the check inside it first counts an assertion as held and then fails.
    for (const block of lastBlocks(body).reverse()) {
      const failure = block === body ? `assert ${held}, "altered"` : `assert ${held} or ${held}.append(1), "altered"`;
      const [firstIn, last] = [partsOf(block)[0] ?? first, partsOf(block).at(-1) ?? first];
      edits.push(insertion(lineEnd(this.#source.text, last.endIndex), `\n${this.#indentOf(firstIn)}${failure}`));
    }
    return edits;
  }

  #alteredStatements(body: Node): readonly Edit[] {
    const edits: Edit[] = [];
    const raising = (node: Node): boolean => node.type === 'with_statement' && alteredRaises(node) !== undefined;
    for (const node of nodesIn(body, raising)) edits.push(...(this.#tried(node) ?? []));
    return edits;
  }

  /** Tries the altered assertion of a statement, and counts it if it holds. */
  #tried(node: Node): readonly Edit[] | undefined {
    if (!this.#startsLine(node) || !this.#endsLine(node)) return undefined;
    const altered = alteredAssertion(node, this.#expressions) ?? this.#helperCall(node);
    const isBlock = altered === undefined;
    const edits = altered ?? alteredRaises(node);
    if (!edits || (isBlock && !this.#canMoveIn(node))) return undefined;
    const indent = this.#indentOf(node);
    const before = isBlock ? `try:\n${indent} ` : 'try: ';
    const after = `\n${indent}except BaseException: pass\n${indent}else: ${this.#source.held}.append(1)`;
    return [
      insertion(node.startIndex, before),
      ...edits,
      ...(isBlock ? this.#movedIn(node) : []),
      insertion(lineEnd(this.#source.text, node.endIndex), after),
    ];
  }

  /** Indents the lines of a block, except the first, by one more space. */
  #movedIn({ startIndex, endIndex }: Node): readonly Edit[] {
    const { text } = this.#source;
    const indent = beforeInLine(text, startIndex);
    const edits: Edit[] = [];
    for (let at = text.indexOf('\n', startIndex) + 1; at > 0 && at < endIndex; at = text.indexOf('\n', at) + 1)
      if (text.startsWith(indent, at)) edits.push(insertion(at + indent.length, ' '));
    return edits;
  }

  /** False if the block has a multi-line string, or if later code uses the name of the expected error. */
  #canMoveIn(node: Node): boolean {
    for (const { type, startPosition, endPosition } of nodesIn(node))
      if (type === 'string' && startPosition.row !== endPosition.row) return false;
    const names = [...nodesIn(node)].filter(({ type }) => type === 'as_pattern_target').map(({ text }) => text);
    let scope: Node | null = node;
    while (scope && !isScope(scope)) scope = scope.parent;
    const rest = scope ? this.#source.text.slice(node.endIndex, scope.endIndex) : '';
    return names.every((name) => !rest.includes(name));
  }

  /** Calls the altered copy of a helper instead. The copy returns only if one of its assertions held. */
  #helperCall(statement: Node): readonly Edit[] | undefined {
    const [node] = statement.type === 'expression_statement' ? partsOf(statement) : [];
    const call = node && callOf(node.type === 'await' ? (partsOf(node)[0] ?? node) : node);
    const helper = call && this.#findHelper(call.name, call.owner, statement);
    const copy = helper && this.#copies.of(helper, (found) => this.#copy(found));
    if (!call || !copy) return undefined;
    const start = call.node.startIndex + call.owner.length;
    return [{ start, end: start + call.name.length, text: this.#nameOf(call.name) }, ...copy];
  }

  #copy(helper: Node): readonly Edit[] | undefined {
    const name = helper.childForFieldName('name');
    const whole = helper.parent?.type === 'decorated_definition' ? helper.parent : helper;
    if (!name || !this.#startsLine(whole) || !this.#endsLine(whole)) return undefined;
    const edits = this.alter(helper);
    if (!edits) return undefined;
    const { text } = this.#source;
    const endIndex = lineEnd(text, whole.endIndex);
    const copy = editedPart(text, { startIndex: whole.startIndex, endIndex }, [...edits, replacement(name, this.#nameOf(name.text))]);
    return copy && [insertion(endIndex, `\n\n${this.#indentOf(whole)}${copy.part}`), ...copy.outside];
  }

  /** Does not begin with `test`, which would make it a test, nor with two underscores, which Python mangles. */
  #nameOf(helper: string): string {
    return `${this.#source.held}_${helper}`;
  }

  #indentOf(node: Node): string {
    return /^[ \t]*/.exec(beforeInLine(this.#source.text, node.startIndex))?.[0] ?? '';
  }

  #startsLine(node: Node): boolean {
    return /^[ \t]*$/.test(beforeInLine(this.#source.text, node.startIndex));
  }

  #endsLine(node: Node): boolean {
    const { text } = this.#source;
    return /^[ \t]*(?:#.*)?$/.test(text.slice(node.endIndex, lineEnd(text, node.endIndex)));
  }
}

/** The body of a function, and the bodies of the nested `with` statements at its end. */
function lastBlocks(body: Node): Node[] {
  const blocks = [body];
  for (const block of blocks) {
    const last = partsOf(block).at(-1);
    const inner = last?.type === 'with_statement' && !expectsErrors(last) ? last.childForFieldName('body') : undefined;
    if (inner && inner.startPosition.row !== last?.startPosition.row) blocks.push(inner);
  }
  return blocks;
}
