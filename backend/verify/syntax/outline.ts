import type { Language } from './language.ts';
import { nodesIn, partsOf, tokensOf } from './nodes.ts';
import { withTree, type Node } from './parse.ts';

export type ItemKind = 'function' | 'type' | 'variable' | 'import' | 'package' | 'comment' | 'statement';

/** A part of a file or of a type's body, in plain data: nodes of a syntax tree do not outlive it. Indices count UTF-16 units. */
export interface Item {
  readonly kind: ItemKind;
  /** What it defines; a method of Go has its type's name before it ("Parser.Next"). Empty where nothing is defined. */
  readonly name: string;
  /** With decorators, `export` and modifiers. */
  readonly start: number;
  readonly end: number;
  /** Where the comments and attributes begin that stand directly above it. */
  readonly leadStart: number;
  /** The body of a function or type, with its braces. */
  readonly body?: { readonly start: number; readonly end: number } | undefined;
  /** The words before the body, joined: what tells overloads from one another. */
  readonly header: string;
  /** All words, joined, without comments and layout. */
  readonly words: string;
  /** Of a type, an implementation, a module or an object. */
  readonly members?: readonly Item[] | undefined;
  /** Of a call whose last argument is a function, as a suite of tests has one: the parts of its body. */
  readonly inside?: readonly Item[] | undefined;
}

export interface Outline {
  readonly hasError: boolean;
  readonly items: readonly Item[];
}

const FUNCTIONS = new Set([
  'function_definition', 'function_declaration', 'generator_function_declaration', 'method_definition', 'method_declaration',
  'constructor_declaration', 'compact_constructor_declaration', 'function_item', 'function_signature_item', 'function_signature',
  'abstract_method_signature', 'method_signature', 'macro_definition', 'method', 'singleton_method',
]);
const TYPES = new Set([
  'class_definition', 'class_declaration', 'abstract_class_declaration', 'interface_declaration', 'enum_declaration', 'record_declaration',
  'annotation_type_declaration', 'trait_item', 'impl_item', 'mod_item', 'internal_module', 'module', 'type_alias_declaration', 'struct_item',
  'trait_declaration', 'enum_item', 'union_item', 'type_item', 'type_declaration', 'type_alias_statement', 'associated_type',
]);
/** Whose bodies have members that can be told by their names. */
const BODIES = new Set([
  'block', 'class_body', 'interface_body', 'enum_body', 'annotation_type_body', 'declaration_list', 'statement_block', 'object_type', 'object', 'body_statement',
]);
const VARIABLES = new Set([
  'lexical_declaration', 'variable_declaration', 'field_definition', 'public_field_definition', 'field_declaration', 'const_item',
  'static_item', 'const_declaration', 'property_declaration', 'var_declaration', 'assignment', 'assignment_expression', 'pair', 'property_signature',
]);
const IMPORTS = new Set(['import_statement', 'import_from_statement', 'future_import_statement', 'import_declaration', 'use_declaration', 'namespace_use_declaration']);
const PACKAGES = new Set(['package_clause', 'package_declaration', 'namespace_definition']);
const FUNCTION_VALUES = new Set(['arrow_function', 'function_expression', 'function', 'generator_function', 'class', 'lambda']);
/** Nodes that stand before the definition they belong to. */
const LEADS = new Set(['attribute_item', 'decorator']);

/** The parts of a text by its syntax. Undefined if it is too long or too hard to parse. */
export function outlineOf(text: string, language: Language): Promise<Outline | undefined> {
  // Some grammars want a line end after the last line.
  return withTree(text.endsWith('\n') ? text : `${text}\n`, language, (root) => ({
    hasError: root.hasError || (language === 'python' && hasEmptyBlock(root)),
    items: itemsOf(root, text),
  }));
}

/** Python's grammar takes a body that is not indented for an empty one and the lines of the module that follow it. */
function hasEmptyBlock(root: Node): boolean {
  for (const node of nodesIn(root)) if (node.type === 'block' && partsOf(node).length === 0) return true;
  return false;
}

function itemsOf(parent: Node, text: string): Item[] {
  const items: Item[] = [];
  /** The start of the comments and attributes above the next item. */
  let lead: { start: number; end: number; decorator: number | undefined } | undefined;
  for (const child of flattened(parent)) {
    const [start, end] = [child.startIndex, Math.min(child.endIndex, text.length)];
    const touches = lead !== undefined && !/\n[ \t]*\r?\n/.test(text.slice(lead.end, start));
    if (isComment(child) || LEADS.has(child.type)) {
      const decorator = child.type === 'decorator' ? start : undefined;
      lead = lead && touches
        ? { start: lead.start, end, decorator: lead.decorator ?? decorator }
        // A comment behind something on its line belongs to that.
        : { start, end, decorator };
      if (isComment(child)) items.push({ ...NAMELESS, kind: 'comment', start, end, leadStart: start, words: text.slice(start, end) });
      continue;
    }
    const item = itemOf(child, text);
    const ownLead = lead && touches && startsLine(text, lead.start) ? lead : undefined;
    items.push({ ...item, start: ownLead?.decorator ?? item.start, leadStart: ownLead?.start ?? item.start });
    lead = undefined;
  }
  return items;
}

/** The children of a body; those of Java's enums lie one level deeper. */
function* flattened(parent: Node): Generator<Node> {
  for (const child of parent.namedChildren) {
    // PHP's first sign.
    if (!child || child.type === 'php_tag') continue;
    if (child.type === 'enum_body_declarations') yield* flattened(child);
    else yield child;
  }
}

const isComment = ({ type }: Node): boolean => type === 'comment' || type === 'line_comment' || type === 'block_comment';
const startsLine = (text: string, at: number): boolean => /^\s*$/.test(text.slice(text.lastIndexOf('\n', at - 1) + 1, at));
const NAMELESS = { name: '', header: '', words: '' } as const;

function itemOf(node: Node, text: string): Item {
  const inner = unwrapped(node);
  const [start, end] = [node.startIndex, Math.min(trimmedEnd(node, text), text.length)];
  const words = tokensOf(node).join(' ');
  const common = { start, end, leadStart: start, words };
  if (IMPORTS.has(inner.type) || isRequire(inner) || isRubyRequire(inner)) return { ...common, kind: 'import', name: '', header: words };
  if (PACKAGES.has(inner.type)) return { ...common, kind: 'package', name: '', header: words };
  const isType = TYPES.has(inner.type) || isRubyClass(inner);
  if (isType || FUNCTIONS.has(inner.type)) {
    const bodyNode = inner.childForFieldName('body');
    const body = bodyNode ? { start: bodyNode.startIndex, end: Math.min(bodyNode.endIndex, text.length) } : undefined;
    return {
      ...common,
      kind: isType ? 'type' : 'function',
      name: nameOf(inner) ?? (node.type === 'export_statement' ? 'default' : ''),
      body,
      header: headerOf(node, bodyNode),
      members: isType && bodyNode && BODIES.has(bodyNode.type) ? itemsOf(bodyNode, text) : undefined,
    };
  }
  if (VARIABLES.has(inner.type)) {
    const value = valueOf(inner);
    const isFunction = value !== null && (FUNCTION_VALUES.has(value.type) || wrapsFunction(value));
    const object = value?.type === 'object' || value?.type === 'class' ? value : null;
    const objectBody = object?.type === 'class' ? object.childForFieldName('body') : object;
    return {
      ...common,
      kind: isFunction && !object ? 'function' : object?.type === 'class' ? 'type' : 'variable',
      name: nameOf(inner) ?? '',
      body: objectBody ? { start: objectBody.startIndex, end: objectBody.endIndex } : bodyRange(value),
      header: headerOf(node, objectBody ?? value?.childForFieldName('body') ?? value),
      members: objectBody ? itemsOf(objectBody, text) : undefined,
    };
  }
  if (node.type === 'export_statement' && node.childForFieldName('value'))
    return { ...common, kind: 'variable', name: 'default', header: 'export default' };
  const callback = callbackBodyOf(inner);
  return { ...common, kind: 'statement', name: '', header: '', inside: callback ? itemsOf(callback, text) : undefined };
}

/** JavaScript's grammar has a `class`, too, which is a value. */
const isRubyClass = (node: Node): boolean => node.type === 'class' && /^(?:body_statement|superclass)$/.test(node.lastNamedChild?.type ?? '');

function callbackBodyOf(statement: Node): Node | undefined {
  const call = statement.type === 'expression_statement' ? statement.namedChildren[0] : undefined;
  const last = call?.type === 'call_expression' ? call.childForFieldName('arguments')?.namedChildren.at(-1) : undefined;
  const body = last && FUNCTION_VALUES.has(last.type) ? last.childForFieldName('body') : null;
  return body?.type === 'statement_block' ? body : undefined;
}

const bodyRange = (value: Node | null): Item['body'] => {
  const body = value?.childForFieldName('body');
  return body ? { start: body.startIndex, end: body.endIndex } : undefined;
};

/** Python's blocks and some statements end with the blank lines behind them. */
function trimmedEnd(node: Node, text: string): number {
  return node.startIndex + text.slice(node.startIndex, node.endIndex).trimEnd().length;
}

function unwrapped(node: Node): Node {
  let inner = node;
  for (let depth = 0; depth < 4; depth += 1) {
    const next =
      inner.type === 'export_statement' ? inner.childForFieldName('declaration')
      : inner.type === 'decorated_definition' ? inner.childForFieldName('definition')
      : inner.type === 'ambient_declaration' || inner.type === 'expression_statement' ? (inner.namedChildren.find((child) => child && !isComment(child)) ?? null)
      : null;
    if (!next) return inner;
    if (inner.type === 'expression_statement' && !VARIABLES.has(next.type) && !TYPES.has(next.type)) return inner;
    inner = next;
  }
  return inner;
}

function nameOf(node: Node): string | undefined {
  switch (node.type) {
    case 'impl_item': {
      const [trait, type] = ['trait', 'type'].map((field) => node.childForFieldName(field)?.text.replaceAll(/\s+/g, ''));
      return `impl ${trait === undefined ? '' : `${trait} for `}${type ?? ''}`;
    }
    case 'method_declaration': {
      const receiver = node.childForFieldName('receiver')?.text;
      const owner = receiver === undefined ? undefined : /(\w+)\s*(?:\[[^\]]*\])?\s*\)$/.exec(receiver)?.[1];
      return `${owner === undefined ? '' : `${owner}.`}${node.childForFieldName('name')?.text ?? ''}`;
    }
    case 'assignment':
    case 'assignment_expression':
      return node.childForFieldName('left')?.text.replaceAll(/\s+/g, '');
    case 'pair':
      return node.childForFieldName('key')?.text;
    case 'compact_constructor_declaration':
    default: {
      const own = node.childForFieldName('name') ?? node.childForFieldName('property');
      if (own) return own.text;
      const names = node.namedChildren.flatMap((child) => (child && /(_spec|declarator|_alias|property_element)$/.test(child.type) ? specNames(child) : []));
      return names.length > 0 ? names.join(',') : undefined;
    }
  }
}

const specNames = (spec: Node): string[] => spec.childrenForFieldName('name').flatMap((name) => (name?.isNamed ? [name.text] : []));

/** The value of a declaration of one name. */
function valueOf(node: Node): Node | null {
  const direct = node.childForFieldName('value') ?? node.childForFieldName('right');
  if (direct) return direct;
  const declarators = node.namedChildren.filter((child) => child?.type.endsWith('declarator'));
  return declarators.length === 1 ? (declarators[0]?.childForFieldName('value') ?? null) : null;
}

/** `memo(() => …)`, `debounce(function () { … })`. */
function wrapsFunction(value: Node): boolean {
  const given = value.type === 'call_expression' ? value.childForFieldName('arguments') : null;
  return given?.namedChildren.some((child) => child !== null && FUNCTION_VALUES.has(child.type)) ?? false;
}

function isRequire(node: Node): boolean {
  if (node.type !== 'lexical_declaration' && node.type !== 'variable_declaration') return false;
  return /^(?:const|let|var)\s+[^=]{1,2000}=\s*require\s*\([^)]*\)[\w.]*\s*;?$/.test(node.text.slice(0, 4_000));
}

const isRubyRequire = (node: Node): boolean => node.type === 'call' && /^require(?:_relative)?[ (]\s*["'][^"']*["']\)?$/.test(node.text);

/** The words of a node before its body. */
function headerOf(node: Node, body: Node | null): string {
  if (!body) return tokensOf(node).join(' ');
  const words: string[] = [];
  const open = [node];
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.isExtra || next.startIndex >= body.startIndex) continue;
    if (next.childCount === 0) words.push(next.text);
    for (let index = next.childCount - 1; index >= 0; index -= 1) {
      const child = next.child(index);
      if (child) open.push(child);
    }
  }
  return words.join(' ');
}

/** The last part of a name: what a method is called without its type. */
export const simpleName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** All items with the names of what they are in, such as "Parser.next". Parts of functions are no items. */
export function* namedItems(items: readonly Item[], within = ''): Generator<{ readonly path: string; readonly item: Item }> {
  for (const item of items) {
    if (item.name === '') continue;
    const path = within === '' ? item.name : `${within}.${item.name}`;
    yield { path, item };
    if (item.members) yield* namedItems(item.members, path);
  }
}
