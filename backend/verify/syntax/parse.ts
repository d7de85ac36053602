import type { Node } from '@vscode/tree-sitter-wasm';
import type { Language } from './language.ts';
import { SyntaxRuntime } from './runtime.ts';

export type { Node } from '@vscode/tree-sitter-wasm';

/** Longer texts are not parsed. */
export const MAX_CHARACTERS = 512 * 1024;

/** Parsing is synchronous. Only a text made for that takes longer; then parsing stops. */
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
  if (text.length > MAX_CHARACTERS) return undefined;
  const starting = currentRuntime();
  const runtime = await starting;
  const grammar = await runtime.grammar(language);
  try {
    const parser = new runtime.library.Parser();
    parser.setLanguage(grammar);
    const deadline = performance.now() + MAX_PARSE_MS;
    const tree = parser.parse(text, null, { progressCallback: () => performance.now() > deadline });
    try {
      return tree ? use(tree.rootNode) : undefined;
    } finally {
      tree?.delete();
      parser.delete();
    }
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    if (current === starting) current = undefined;
    return undefined;
  }
}
