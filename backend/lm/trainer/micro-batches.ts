import type { PromptedSequences } from '../decoder/continued-rows.ts';

interface Row {
  readonly row: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** In tokens, including padding. */
export interface MicroBatchSizes {
  /** The maximum number of tokens in one run of the model. A run of a single row may exceed it. */
  readonly most: number;
  /** The fixed cost of a run, in tokens. */
  readonly perRun: number;
}

/**
 * Divides a batch into runs of the model, as lists of row indices. Rows with the same prompt are in runs of their own, where the prompt is
 * computed once. The remaining rows, whose prompts are all different, form other runs. Rows are padded to the longest in their run, so the
 * division minimises the total cost. The longest rows come first, so that a batch that does not fit in memory fails early.
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

/** Splits a list into consecutive parts, one for each run, with the lowest total cost (dynamic programming from the end). */
function cheapestParts(rows: readonly Row[], prompts: 'shared' | 'own', { most, perRun }: MicroBatchSizes): Row[][] {
  /** For each start: the lowest cost of the rows from there on, and the end of their first part. */
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
