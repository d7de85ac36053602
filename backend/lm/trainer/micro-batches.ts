import type { PromptedSequences } from '../decoder/continued-rows.ts';

interface Row {
  readonly row: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** In tokens, padding counted. */
export interface MicroBatchSizes {
  /** The most tokens in one run of the model; a single row may have more. */
  readonly most: number;
  /** What a run costs beside its tokens, however few those are. */
  readonly perRun: number;
}

/**
 * Which rows of a batch, by their numbers, go through the model together. Rows of one prompt stay among themselves, so that it is computed once
 * for all of them; those that share it with no other sequence are grouped together. Rows of a run are padded to its longest, so they are divided in
 * the way that costs least. The longest come first: what does not fit into memory fails at once.
 */
export function microBatches({ sequences, promptLengths }: PromptedSequences, sizes: MicroBatchSizes): number[][] {
  const byPrompt = new Map<string, Row[]>();
  sequences.forEach((sequence, row) => {
    const prompt = sequence.slice(0, promptLengths[row]);
    const key = prompt.join();
    const found = { row, promptTokens: prompt.length, completionTokens: sequence.length - prompt.length };
    byPrompt.set(key, [...(byPrompt.get(key) ?? []), found]);
  });
  const groups = [...byPrompt.values()];
  const parts = [
    ...groups.filter(({ length }) => length > 1).flatMap((rows) => cheapestParts(rows.sort(longerCompletion), 'shared', sizes)),
    ...cheapestParts(groups.filter(({ length }) => length === 1).flat().sort(longer), 'own', sizes),
  ];
  return parts.sort(([a], [b]) => longer(a!, b!)).map((rows) => rows.map(({ row }) => row));
}

const longer = (a: Row, b: Row): number => b.promptTokens + b.completionTokens - a.promptTokens - a.completionTokens || a.row - b.row;
const longerCompletion = (a: Row, b: Row): number => b.completionTokens - a.completionTokens || a.row - b.row;

/** Parts of a list, one after another, whose runs together have the fewest tokens. */
function cheapestParts(rows: readonly Row[], prompts: 'shared' | 'own', { most, perRun }: MicroBatchSizes): Row[][] {
  /** Of the rows from each on: what they cost, and where their first part ends. */
  const cheapest: { cost: number; end: number }[] = [];
  cheapest[rows.length] = { cost: 0, end: rows.length };
  for (let start = rows.length - 1; start >= 0; start -= 1) {
    let [prompt, completion, found] = [0, 0, { cost: Number.POSITIVE_INFINITY, end: start }];
    for (let end = start + 1; end <= rows.length; end += 1) {
      const { promptTokens, completionTokens } = rows[end - 1]!;
      prompt = Math.max(prompt, promptTokens);
      completion = Math.max(completion, completionTokens);
      const tokens = prompt * (prompts === 'shared' ? 1 : end - start) + completion * (end - start);
      if (tokens > most && end > start + 1) break;
      const cost = perRun + tokens + cheapest[end]!.cost;
      if (cost <= found.cost) found = { cost, end };
    }
    cheapest[start] = found;
  }
  const parts: Row[][] = [];
  for (let start = 0; start < rows.length; start = cheapest[start]!.end) parts.push(rows.slice(start, cheapest[start]!.end));
  return parts;
}
