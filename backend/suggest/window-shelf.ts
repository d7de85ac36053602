import { tokensOf } from '../context/tokens.ts';
import type { SimilarWindow } from './similar-windows.ts';

const MOST = 3;
/** How much more similar another window must be to take the place of one that is shown. */
const MARGIN = 0.1;
/** What a window that stays loses with every line, so that none stays for ever. */
const FADING = 0.97;

/** The similar windows that are shown with one file. Like definitions, they stay as long as nothing clearly better comes. */
export class WindowShelf {
  #shown: readonly SimilarWindow[] = [];

  /** @param found the best of each file. @param isThere whether a file still has a text */
  update(found: readonly SimilarWindow[], { tokens, isThere }: { tokens: number; isThere: (window: SimilarWindow) => boolean }): readonly SimilarWindow[] {
    const best = new Map(found.map((window) => [window.path, window]));
    const kept = this.#shown
      .filter((window) => isThere(window) && (best.get(window.path)?.score ?? 0) <= window.score + MARGIN)
      .map((window) => ({ ...window, score: window.score * FADING }));
    const paths = new Set(kept.map(({ path }) => path));
    const ranked = [...kept.map((window) => ({ window, score: window.score + MARGIN })),
      ...found.filter(({ path }) => !paths.has(path)).map((window) => ({ window, score: window.score }))]
      .sort((a, b) => b.score - a.score);
    const chosen = new Set<SimilarWindow>();
    let left = tokens;
    for (const { window } of ranked) {
      const cost = tokensOf(`${window.path}\n${window.text}`) + 8;
      if (chosen.size === MOST || cost > left) continue;
      left -= cost;
      chosen.add(window);
    }
    this.#shown = [...kept, ...found].filter((window) => chosen.has(window));
    return this.#shown;
  }
}
