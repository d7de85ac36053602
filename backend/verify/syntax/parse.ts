import type { Node } from '@vscode/tree-sitter-wasm';
import type { Language } from './language.ts';
import { SyntaxRuntime } from './runtime.ts';

export type { Node } from '@vscode/tree-sitter-wasm';

/** Longer texts are not parsed. */
export const MAX_CHARACTERS = 512 * 1024;

/** Parsing is synchronous; a text that takes longer, as only texts made for that do, is given up. */
const MAX_PARSE_MS = 1_500;

/** One for the process, since a runtime gives no memory back; the next one where text made for that has filled it. */
let current: Promise<SyntaxRuntime> | undefined;

/**
 * Hands the root of a text's syntax tree to `use`, and returns what that makes of it; undefined where the text is too long or too
 * hard to parse. The tree is gone afterwards, so nodes must not leave `use`. Indices of nodes are those of the text's UTF-16 units.
 * Text that does not follow the grammar has nodes with `hasError`.
 */
export async function withTree<Result>(text: string, language: Language, use: (root: Node) => Result): Promise<Result | undefined> {
  if (text.length > MAX_CHARACTERS) return undefined;
  current ??= SyntaxRuntime.start();
  const runtime = await current;
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
    current = undefined;
    return undefined;
  }
}
