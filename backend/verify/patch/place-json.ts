import { findNodeAtOffset, getNodePath, getNodeValue, modify, applyEdits, parseTree, type JSONPath, type Node, type ParseError } from 'jsonc-parser';
import { isDeepStrictEqual } from 'node:util';
import { listed } from '../../common/listed.ts';
import { isMark } from './elisions.ts';
import { indentUnit } from './indentation.ts';
import { NoSinglePlace } from './no-single-place.ts';

/*
 * A block of JSON for a file of JSON. Names of members tell their places: those that are given are set, and those that are not given stay where a
 * comment says that something was left out.
 */

export const isJson = (path: string): boolean => /\.(?:json|jsonc|json5)$/i.test(path);

/**
 * The file with the block's members in it. Undefined if one of them is no JSON, or the block names no member of the file's outermost object.
 * @param block with marks for what it leaves out
 * @throws NoSinglePlace
 */
export function placeJson(block: string, file: string): string | undefined {
  const text = asObject(block);
  const [own, theirs] = [objectIn(text), objectIn(file)];
  if (!own || !theirs) return undefined;
  const gaps = gapsOf(text, own);
  const isFragment = text !== block;
  if (isFragment) gaps.add(own);
  if (isFragment && !membersOf(own).some(({ name }) => membersOf(theirs).some((member) => member.name === name))) return undefined;
  const unit = indentUnit(file.split('\n'));
  const formattingOptions = { insertSpaces: unit !== '\t', tabSize: unit === '\t' ? 4 : unit.length, eol: '\n' };
  let result = file;
  for (const { path, value } of changesOf(own, theirs, gaps)) result = applyEdits(result, modify(result, path, value, { formattingOptions }));
  return result;
}

/** Members without the object around them are read as one that leaves out the others. */
function asObject(block: string): string {
  const plain = block.replaceAll(/\/\/[^\n]*\uE000[^\n]*/g, '').trim();
  return plain.startsWith('"') ? `{\n${block}\n}` : block;
}

function objectIn(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const node = parseTree(text, errors, { allowTrailingComma: true });
  // Models leave out the comma before a gap.
  const isWrong = errors.some(({ error }) => error !== COMMA_EXPECTED);
  return isWrong || node?.type !== 'object' ? undefined : node;
}
const COMMA_EXPECTED = 6;

/** The objects and lists that leave something out. */
function gapsOf(text: string, root: Node): Set<Node> {
  const gaps = new Set<Node>();
  let offset = 0;
  for (const line of text.split('\n')) {
    const at = offset + line.search(/\/[/*]/);
    if (isMark(line)) gaps.add(containerAt(root, at));
    offset += line.length + 1;
  }
  return gaps;
}

function containerAt(root: Node, offset: number): Node {
  let node = findNodeAtOffset(root, offset, true) ?? root;
  while (node.parent && node.type !== 'object' && node.type !== 'array') node = node.parent;
  return node;
}

interface Member {
  readonly name: string;
  readonly value: Node;
}

const membersOf = ({ children = [] }: Node): Member[] =>
  children.flatMap(({ children: [name, value] = [] }) => (name && value ? [{ name: String(name.value), value }] : []));

interface Change {
  readonly path: JSONPath;
  readonly value: unknown;
}

function changesOf(own: Node, theirs: Node, gaps: ReadonlySet<Node>): Change[] {
  const path = getNodePath(theirs);
  if (own.type === 'object' && theirs.type === 'object') return changesOfMembers(own, theirs, gaps);
  if (!holdsGap(own, gaps)) return isDeepStrictEqual(getNodeValue(own), getNodeValue(theirs)) ? [] : [{ path, value: getNodeValue(own) }];
  throw new NoSinglePlace(`it leaves out parts of a list, ${path.length > 0 ? JSON.stringify(path.join('.')) : 'the outermost one'}`);
}

function changesOfMembers(own: Node, theirs: Node, gaps: ReadonlySet<Node>): Change[] {
  const [given, known] = [membersOf(own), new Map(membersOf(theirs).map(({ name, value }) => [name, value]))];
  const path = getNodePath(theirs);
  const missing = [...known.keys()].filter((name) => !given.some((member) => member.name === name));
  if (missing.length > 0 && !gaps.has(own))
    throw new NoSinglePlace(`it lacks ${listed(missing)} of ${path.length > 0 ? JSON.stringify(path.join('.')) : 'the file'}, and does not say whether that is to be deleted`);
  return given.flatMap(({ name, value }) => {
    const there = known.get(name);
    if (there) return changesOf(value, there, gaps);
    if (holdsGap(value, gaps)) throw new NoSinglePlace(`it leaves out parts of ${JSON.stringify(name)}, which the file does not have`);
    return [{ path: [...path, name], value: getNodeValue(value) }];
  });
}

const holdsGap = (node: Node, gaps: ReadonlySet<Node>): boolean => gaps.has(node) || (node.children ?? []).some((child) => holdsGap(child, gaps));
