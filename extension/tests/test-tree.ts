import type { TestChange } from '../../backend/protocol/verdict.ts';
import { partsOf } from '../../backend/protocol/verdict-facts.ts';

/** A file, a suite or a test. A test may have children. */
export interface TestNode {
  readonly name: string;
  /** The result, if a test has exactly this name. */
  readonly test?: TestChange | undefined;
  readonly children: readonly TestNode[];
}

interface GrowingNode {
  readonly name: string;
  test?: TestChange;
  readonly children: Map<string, GrowingNode>;
}

/** The project's own code writes the reports. Deeper trees would break the tree view. */
const MAX_DEPTH = 16;

/** Builds a tree from the parts of test ids (file, suites, name), in order of first appearance. */
export function testTree(tests: readonly TestChange[]): readonly TestNode[] {
  const root: GrowingNode = { name: '', children: new Map() };
  for (const test of tests) {
    const parts = partsOf(test.id);
    const path = parts.length > MAX_DEPTH ? [...parts.slice(0, MAX_DEPTH - 1), parts.slice(MAX_DEPTH - 1).join(' ')] : parts;
    let node = root;
    for (const name of path) {
      const child = node.children.get(name) ?? { name, children: new Map() };
      node.children.set(name, child);
      node = child;
    }
    node.test = test;
  }
  return childrenOf(root);
}

const childrenOf = ({ children }: GrowingNode): TestNode[] =>
  [...children.values()].map((child) => ({ name: child.name, test: child.test, children: childrenOf(child) }));
