import type { Node } from '@vscode/tree-sitter-wasm';
import type { Language } from './language.ts';
import { SyntaxRuntime } from './runtime.ts';

export type { Node } from '@vscode/tree-sitter-wasm';

/** Longer texts are not parsed. */
export const MAX_CHARACTERS = 512 * 1024;

/** Parsing is synchronous. Only a text made for that takes longer; then parsing stops. Processor time: whatever else runs must not decide what is parsed. */
const MAX_PARSE_MS = 1_500;

/** A runtime never gives memory back, so the process has one. It is replaced when a text has filled its memory. */
let current: Promise<SyntaxRuntime> | undefined;

function currentRuntime(): Promise<SyntaxRuntime> {
  if (current) return current;
  const starting = SyntaxRuntime.start();
  current = starting;
  starting.catch(() => {
    if (current === starting) current = undefined;
  });
  return starting;
}

/**
 * Calls `use` with the root of a text's syntax tree, and returns its result. Undefined if the text is too long or too hard to parse.
 * The tree is deleted afterwards, so nodes must not leave `use`. Indices count UTF-16 units. Text that does not follow the grammar has
 * nodes with `hasError`.
 */
export async function withTree<Result>(text: string, language: Language, use: (root: Node) => Result): Promise<Result | undefined> {
  return await withTrees([text], language, ([root]) => (root ? use(root) : undefined));
}

/** As `withTree`, for several texts together. Undefined stands for a text that is too long or too hard to parse. */
export async function withTrees<Result>(
  texts: readonly string[], language: Language, use: (roots: readonly (Node | undefined)[]) => Result,
): Promise<Result | undefined> {
  const starting = currentRuntime();
  const runtime = await starting;
  const grammar = await runtime.grammar(language);
  try {
    const parser = new runtime.library.Parser();
    parser.setLanguage(grammar);
    const trees = texts.map((text) => {
      const before = process.threadCpuUsage();
      const isOver = (): boolean => process.threadCpuUsage(before).user > MAX_PARSE_MS * 1_000;
      return text.length > MAX_CHARACTERS ? null : parser.parse(text, null, { progressCallback: isOver });
    });
    try {
      return use(trees.map((tree) => tree?.rootNode));
    } finally {
      for (const tree of trees) tree?.delete();
      parser.delete();
    }
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    if (current === starting) current = undefined;
    return undefined;
  }
}
