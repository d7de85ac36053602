import type { PromptedSequences } from '../decoder/continued-rows.ts';

interface Row {
  readonly row: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/**
 * Which rows of a batch, by their numbers, go through the model together: at most `tokens` of them when padded, or a single row. Rows of one
 * prompt stay among themselves, so that it is computed once for all of them; those that share theirs with nobody keep each other company. The
 * longest come first: what does not fit into memory fails at once.
 */
export function microBatches({ sequences, promptLengths }: PromptedSequences, tokens: number): number[][] {
  const byPrompt = new Map<string, Row[]>();
  sequences.forEach((sequence, row) => {
    const prompt = sequence.slice(0, promptLengths[row]);
    const key = prompt.join();
    const found = { row, promptTokens: prompt.length, completionTokens: sequence.length - prompt.length };
    byPrompt.set(key, [...(byPrompt.get(key) ?? []), found]);
  });
  const groups = [...byPrompt.values()];
  const parts = [
    ...groups.filter(({ length }) => length > 1).flatMap((rows) => batches(rows.sort(longerCompletion), (batch) => paddedTokens(batch, 'shared'), tokens)),
    ...batches(groups.filter(({ length }) => length === 1).flat().sort(longer), (batch) => paddedTokens(batch, 'own'), tokens),
  ];
  return parts.sort(([a], [b]) => longer(a!, b!)).map((rows) => rows.map(({ row }) => row));
}

const longer = (a: Row, b: Row): number => b.promptTokens + b.completionTokens - a.promptTokens - a.completionTokens || a.row - b.row;
const longerCompletion = (a: Row, b: Row): number => b.completionTokens - a.completionTokens || a.row - b.row;

function paddedTokens(rows: readonly Row[], prompts: 'shared' | 'own'): number {
  const promptTokens = Math.max(...rows.map((row) => row.promptTokens));
  const completionTokens = Math.max(...rows.map((row) => row.completionTokens));
  return promptTokens * (prompts === 'shared' ? 1 : rows.length) + completionTokens * rows.length;
}

/** Parts of a list, one after another: each of at most `most` by `sizeOf`, or a single item. */
function batches<T>(items: readonly T[], sizeOf: (batch: readonly T[]) => number, most: number): T[][] {
  const parts: T[][] = [];
  for (const item of items) {
    const last = parts.at(-1);
    if (last && sizeOf([...last, item]) <= most) last.push(item);
    else parts.push([item]);
  }
  return parts;
}
