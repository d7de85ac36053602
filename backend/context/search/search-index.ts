import { SCORES, type Candidate } from '../candidates.ts';
import type { SymbolIndex } from '../symbols/symbol-index.ts';
import { unitsOf } from '../tokens.ts';
import type { TextFile, Workspace } from '../workspace.ts';
import type { AskedWords } from './asked-words.ts';
import { rankFiles } from './rank-files.ts';
import { rateSegments } from './rate-segments.ts';

/*
 * Finds what a request is about: the best files first, then parts of them. The budget goes where a token has the highest chance to be
 * needed: the chance of the file times the chance of the part in it. docs/context.md has what each idea and constant brought.
 */

const MAX_FILES = 40;
/** How fast chances fall with the scores of files, and the share of all chances that goes by rank alone: a score may mislead. */
const SHARPNESS = 5;
const BY_RANK = 0.1;
/** The first part of a file is worth more: it says that the file is there. */
const FIRST_PART = 0.35;
/** What a header costs, in units of `tokens.ts`. */
const HEADER_UNITS = 60;

export interface SearchRequest {
  readonly index: SymbolIndex;
  readonly workspace: Workspace;
  readonly words: AskedWords;
  /** Files that belong to what was asked for, with the reason: they need none of the words. */
  readonly near: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

export interface SearchResult {
  /** In the order in which they are added while there is room. */
  readonly candidates: readonly Candidate[];
  /** Found files that may not be sent. */
  readonly refused: readonly { path: string; reason: string }[];
}

/** @throws the signal's reason when it aborts */
export async function searchIndex({ index, workspace, words, near, signal }: SearchRequest): Promise<SearchResult> {
  const { files, ...ranking } = rankFiles(index, words, new Set(near.keys()));
  const best = files.slice(0, MAX_FILES).filter(({ score }) => score > 0);
  const likelihoods = best.map(({ score }) => (score / (best[0]?.score ?? 1)) ** SHARPNESS);
  const total = likelihoods.reduce((sum, one) => sum + one, 0);
  const refused: { path: string; reason: string }[] = [];
  const found: { candidate: Candidate; chancePerUnit: number }[] = [];
  const answers = await Promise.all(best.map(({ file }) => workspace.read(file.path)));
  for (const [rank, { file: { path: name, definitions } }] of best.entries()) {
    signal.throwIfAborted();
    const answer = answers[rank];
    if (!answer) continue;
    if ('refusal' in answer) {
      refused.push({ path: name, reason: answer.refusal.reason });
      continue;
    }
    const chance = (1 - BY_RANK) * (likelihoods[rank] ?? 0) / total + BY_RANK / 4 / (rank + 1);
    const why = near.get(name);
    found.push(...candidatesIn(answer.file, { chance, rated: rateSegments({ file: answer.file, definitions, vocabulary: index.vocabulary, ...ranking }), why }));
  }
  // Sorting is stable, so that equals keep the order of files and lines.
  found.sort((a, b) => b.chancePerUnit - a.chancePerUnit);
  return { candidates: found.map(({ candidate }) => candidate), refused };
}

function candidatesIn(
  file: TextFile, { chance, rated, why }: { chance: number; rated: ReturnType<typeof rateSegments>; why: string | undefined },
): { candidate: Candidate; chancePerUnit: number }[] {
  const first = rated.reduce((most, one, at) => (one.share > (rated[most]?.share ?? 0) ? at : most), 0);
  return rated.map(({ segment, share, reasons }, at) => {
    const cost = HEADER_UNITS + unitsOf(file.lines.slice(segment.start - 1, segment.end).join('\n'));
    const focus = { start: segment.start, end: segment.end };
    return {
      candidate: {
        file, focus, wish: focus, anchor: segment.start, score: SCORES.found * chance, reasons: why === undefined ? reasons : [why, ...reasons],
      },
      chancePerUnit: chance * (share + (at === first ? FIRST_PART : 0)) / cost,
    };
  });
}
