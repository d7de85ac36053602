import type { TextFile } from '../context/workspace.ts';
import { wordsIn } from './words.ts';

/*
 * Parts of open files that look like what is being written. Copilot's prompts choose them in the same way: windows of lines, compared by the
 * Jaccard index of their words (https://thakkarparth007.github.io/copilot-explorer/posts/copilot-internals). Tabby and llama.vscode compare
 * what was edited or opened last by that index, too.
 */

export interface SimilarWindow {
  readonly path: string;
  readonly text: string;
  readonly score: number;
}

/** Lines of a window, and of what is above the cursor. */
const WINDOW = 20;
const STEP = 5;
/** Below, what two texts share are words that any two have. */
const LEAST = 0.2;
/** Longer files are compared as far as this. */
const MAX_LINES = 3_000;

/** The most similar window of each file, the most similar first. @param above the lines above the cursor's */
export function similarWindows(above: readonly string[], files: readonly TextFile[]): SimilarWindow[] {
  const wanted = new Set(above.slice(-WINDOW).flatMap(wordsIn));
  if (wanted.size === 0) return [];
  return files.flatMap((file) => mostSimilar(file, wanted) ?? []).sort((a, b) => b.score - a.score);
}

function mostSimilar(file: TextFile, wanted: ReadonlySet<string>): SimilarWindow | undefined {
  const words = wordsOf(file);
  let best = { score: 0, start: 0 };
  const counts = new Map<string, number>();
  let shared = 0;
  const count = (line: readonly string[], by: 1 | -1): void => {
    for (const word of line) {
      const before = counts.get(word) ?? 0;
      if (before + by === 0) counts.delete(word);
      else counts.set(word, before + by);
      if (wanted.has(word) && (before === 0 || before + by === 0)) shared += by;
    }
  };
  for (let end = 0; end < words.length; end += 1) {
    count(words[end] ?? [], 1);
    if (end >= WINDOW) count(words[end - WINDOW] ?? [], -1);
    const start = Math.max(0, end - WINDOW + 1);
    if (start % STEP !== 0 && end !== words.length - 1) continue;
    const score = shared / (wanted.size + counts.size - shared);
    if (score > best.score) best = { score, start };
  }
  if (best.score < LEAST) return undefined;
  const text = file.lines.slice(best.start, best.start + WINDOW).join('\n');
  return { path: file.path, text, score: best.score };
}

/** The words of each line; read once for a text, because every line that is typed asks again. */
const known = new WeakMap<readonly string[], readonly (readonly string[])[]>();

function wordsOf({ lines }: TextFile): readonly (readonly string[])[] {
  const words = known.get(lines) ?? lines.slice(0, MAX_LINES).map((line) => [...new Set(wordsIn(line))]);
  known.set(lines, words);
  return words;
}
