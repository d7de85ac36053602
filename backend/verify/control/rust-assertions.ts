import { insertion, replacement, withEdits, type Edit } from '../syntax/edits.ts';
import { nodesIn } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';

/** The attributes of an item or a statement: `#[test]`. */
export function attributesOf(node: Node): readonly string[] {
  const found: string[] = [];
  for (let at = node.previousNamedSibling; at && (at.type === 'attribute_item' || at.isExtra); at = at.previousNamedSibling)
    if (at.type === 'attribute_item') found.push(at.text);
  return found;
}

export interface AlteredMacro {
  readonly name: string;
  /** True only if the assertion would still pass with the altered expected value. */
  readonly condition: string;
}

/** The altered form of an assertion macro; undefined for other macros. */
export function alteredMacro(macro: Node): AlteredMacro | undefined {
  const name = macro.childForFieldName('macro')?.text ?? '';
  const [first, second] = argumentsOf(macro);
  if (!first) return undefined;
  switch (name.split('::').at(-1)?.replace(/^debug_/, '')) {
    case 'assert':
      return { name, condition: `!(${first.text})` };
    case 'assert_eq': {
      if (!second) return undefined;
      const [onLeft, onRight] = [alteredValue(first), alteredValue(second)];
      if (onRight !== undefined) return { name, condition: `(${first.text}) == (${onRight})` };
      return { name, condition: onLeft === undefined ? `!((${first.text}) == (${second.text}))` : `(${onLeft}) == (${second.text})` };
    }
    case 'assert_ne':
      return second && { name, condition: `(${first.text}) == (${second.text})` };
    default:
      return undefined;
  }
}

export interface Argument {
  readonly nodes: readonly Node[];
  readonly startIndex: number;
  readonly endIndex: number;
  readonly text: string;
}

/** Splits a macro's tokens at commas. */
export function argumentsOf(macro: Node): readonly Argument[] {
  const tree = macro.namedChildren.find((child) => child?.type === 'token_tree');
  const tokens = (tree?.children ?? []).slice(1, -1).filter((child): child is Node => child !== null && !child.isExtra);
  const groups: Node[][] = [[]];
  // Commas within angle brackets do not separate arguments: `a::<B, C>()`, `<A as B<C, D>>::e()`.
  let angles = 0;
  for (const [index, token] of tokens.entries()) {
    const previous = tokens[index - 1]?.text;
    if (token.text === '<' && (angles > 0 || previous === '::' || previous === ',' || previous === undefined)) angles += 1;
    else if (angles > 0 && /^>+$/.test(token.text)) angles = Math.max(0, angles - token.text.length);
    if (token.text === ',' && angles === 0) groups.push([]);
    else groups.at(-1)?.push(token);
  }
  return groups.flatMap((nodes) => {
    const [first, last] = [nodes[0], nodes.at(-1)];
    if (!tree || !first || !last) return [];
    const text = tree.text.slice(first.startIndex - tree.startIndex, last.endIndex - tree.startIndex);
    return [{ nodes, startIndex: first.startIndex, endIndex: last.endIndex, text }];
  });
}

/** Standard types, which compare by their contents. */
const OF_THE_LANGUAGE = /^(?:Some|None|Ok|Err|Option|Result|String|Box|Rc|Arc|Vec|Cow|Borrowed|Owned)$/;
const HARMLESS = /^(?:to_string|to_owned|into|from|new|vec|true|false)$/;

/**
 * A literal value of one of the project's types with all its numbers and strings altered. The project defines how its types compare, and a
 * patch may make them always equal. An honest comparison may ignore some fields, but not all. Undefined for other values: the language's
 * own types cannot be made to equal everything.
 */
function alteredValue({ nodes, text, startIndex }: Argument): string | undefined {
  if (text.includes(';') || text.includes('?')) return undefined;
  const tokens = nodes.flatMap((node) => [...nodesIn(node)]);
  const edits = isOfProject(nodes) && isWrittenOut(nodes) ? tokens.flatMap((token) => alteredLiteral(token) ?? []) : [];
  if (edits.length === 0) return undefined;
  return withEdits(text, edits.map((edit) => ({ ...edit, start: edit.start - startIndex, end: edit.end - startIndex })));
}

const namesIn = (nodes: readonly Node[]): readonly Node[] =>
  nodes.flatMap((node) => [...nodesIn(node)]).filter(({ type }) => /^(?:type_|field_)?identifier$/.test(type));

/** Whether a value has a type of the project in it. */
export const isOfProject = (nodes: readonly Node[]): boolean => namesIn(nodes).some(({ text }) => /^[A-Z]/.test(text) && !OF_THE_LANGUAGE.test(text));

/** Whether a value consists of literals only, so that no code computes a part of it. */
export function isWrittenOut(nodes: readonly Node[]): boolean {
  const ofProject = isOfProject(nodes);
  return namesIn(nodes).every((name) =>
    /^[A-Z]/.test(name.text) || (HARMLESS.test(name.text) && !(ofProject && converts(name))) || name.nextSibling?.text === ':');
}

/** Whether a call converts a value of the project, by code of the project, which may not look at each literal: `Color::Blue { hue: 0 }.to_string()`, `<&str>::from(Color::Red(1))`. */
function converts(name: Node): boolean {
  const sign = name.previousSibling;
  const of = sign?.previousSibling;
  if (sign?.text === '.') return !of || !/_literal$/.test(of.type);
  if (sign?.text !== '::') return false;
  const given = name.nextSibling ?? name.parent?.nextSibling;
  const ofLanguage = OF_THE_LANGUAGE.test(of?.text ?? '');
  return !/^[A-Z]\w*$/.test(of?.text ?? '') || (name.text === 'from' && ofLanguage && given != null && isOfProject([given]));
}

/** The altered number stays within the range of the literal's type. */
function alteredLiteral(node: Node): readonly Edit[] | undefined {
  if (node.type === 'string_literal' && node.text.endsWith('"') && !node.text.startsWith('b')) return [insertion(node.endIndex - 1, '~altered')];
  const [, digits = '', suffix = ''] = /^(\d[\d_]{0,14})([iu](?:8|16|32|64|128|size))?$/.exec(node.text) ?? [];
  if (node.type !== 'integer_literal' || digits === '') return undefined;
  const value = Number(digits.replaceAll('_', ''));
  return [replacement(node, `${value === 0 ? 1 : value - 1}${suffix}`)];
}
