import type { Node } from './parse.ts';

/** The named children without comments. */
export const partsOf = (node: Node): readonly Node[] =>
  node.namedChildren.filter((child): child is Node => child !== null && !child.isExtra);

/**
 * A node and all below it, in the order of the text. Below a node for which `stopAt` is true nothing is visited. Without recursion:
 * a text may be nested deeper than a stack is.
 */
export function* nodesIn(node: Node, stopAt: (node: Node) => boolean = () => false): Generator<Node> {
  const open = [node];
  for (let next = open.pop(); next; next = open.pop()) {
    yield next;
    if (stopAt(next)) continue;
    for (let index = next.namedChildCount - 1; index >= 0; index -= 1) {
      const child = next.namedChild(index);
      if (child) open.push(child);
    }
  }
}

/** From the index of a line's first character to the given one. */
export const beforeInLine = (text: string, index: number): string => text.slice(text.lastIndexOf('\n', index - 1) + 1, index);

/** The index of the line break after the given one, or of the text's end. */
export function lineEnd(text: string, index: number): number {
  const end = text.indexOf('\n', index);
  const at = end < 0 ? text.length : end;
  return text[at - 1] === '\r' && at > index ? at - 1 : at;
}

/**
 * The words and signs of a node in their order, without comments, and texts as they are written: the same for two nodes that differ in
 * layout only.
 */
export function tokensOf(node: Node): readonly string[] {
  const tokens: string[] = [];
  const open = [node];
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.isExtra) continue;
    if (next.childCount === 0) tokens.push(next.text);
    for (let index = next.childCount - 1; index >= 0; index -= 1) {
      const child = next.child(index);
      if (child) open.push(child);
    }
  }
  return tokens;
}
