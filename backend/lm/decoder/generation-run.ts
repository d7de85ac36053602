import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { DEVICES } from '../device/devices.ts';
import { bools, type Feeds, type Session, type Values } from '../graph/session.ts';
import {
  carriedFeeds, carriedOutputs, drawFeeds, keptRows, paddedLength, prefixInputs, prefixOutputs, promptFeeds, samplingFeeds, startFeeds,
} from './generation-feeds.ts';
import { checkGenerationRequest, type GeneratedRow, type GenerationRequest } from './generation-request.ts';
import { requireNumber } from './not-a-number-error.ts';

/** @throws ModelRequestError; NotANumberError; the signal's reason when it is aborted, at the end of the current run. */
export async function generateRows(
  session: Session, config: DecoderConfig, contextLength: number, request: GenerationRequest, shared: Feeds,
): Promise<GeneratedRow[]> {
  checkGenerationRequest(request, config, contextLength);
  const { prompts, maxTokens, seeds, chunkTokens, signal, onTokens } = request;
  if (seeds.length === 0) return [];
  const length = paddedLength(Math.max(...prompts.map((prompt) => prompt.length - 1)));
  const standing: Feeds = { ...shared, ...promptFeeds(prompts, length) };
  let carried: Feeds = { ...startFeeds(request, config), ...(await readAhead(session, config, request, length, shared)) };
  const results = seeds.map((_, row): WrittenRow => ({ row, tokens: [], logprobs: [], stopped: false }));
  /** The rows of the next run, and the request reduced to them. */
  let open: readonly WrittenRow[] = results;
  let asked = request;
  let sampling = samplingFeeds(asked, config);
  const stops = new Set(request.stopTokenIds);

  for (let before = 0; before < maxTokens;) {
    signal?.throwIfAborted();
    const steps = Math.min(chunkTokens, maxTokens - before);
    const last = before + steps === maxTokens;
    const outputs = ['tokens', 'logprobs', ...(last ? [] : carriedOutputs(config, { prefixes: before === 0 }))];
    const chunk = await session.run({ ...standing, ...sampling, ...carried, ...drawFeeds(asked, before, steps) }, outputs);
    takeTokens(chunk.tokens as Values, chunk.logprobs as Values, open, { stops, onTokens });
    if (last || results.every(({ stopped }) => stopped)) break;
    carried = { ...carried, ...carriedFeeds(chunk) };
    // The graph needs the same number of rows for each prompt, so finished rows are dropped only with a single prompt.
    if (prompts.length === 1 && open.some(({ stopped }) => stopped)) {
      const places = placesToKeep(open);
      carried = keptRows(carried, places, config);
      open = places.map((place) => open[place] as WrittenRow);
      asked = { ...request, samples: open.length, seeds: open.map(({ row }) => seeds[row] as number) };
      sampling = samplingFeeds(asked, config);
    }
    before += steps;
    // Lets the process receive a cancel message.
    await nextTurn();
  }
  return results.map(({ tokens, logprobs, stopped }) => ({ tokens, logprobs, finishReason: stopped ? 'stop' : 'length' }));
}

/** Prefills the prompts' caches group by group, in runs that draw no token. Returns nothing if the first chunk can read all prompts. */
async function readAhead(
  session: Session, config: DecoderConfig, { prompts, signal, ...request }: GenerationRequest, length: number, shared: Feeds,
): Promise<Feeds> {
  const together = Math.max(1, Math.floor(DEVICES[session.device].runs.promptTokens / length));
  if (prompts.length <= together) return {};
  const groups: Feeds[] = [];
  for (let first = 0; first < prompts.length; first += together) {
    signal?.throwIfAborted();
    const some = prompts.slice(first, first + together);
    const group = { ...request, prompts: some, samples: 1, seeds: some.map(() => 0) };
    const feeds = { ...shared, ...samplingFeeds(group, config), ...promptFeeds(some, length), ...startFeeds(group, config), ...drawFeeds(group, 0, 0) };
    groups.push(carriedFeeds(await session.run(feeds, prefixOutputs(config))));
    await nextTurn();
  }
  const caches = prefixInputs(config).map((name) => [name, stacked(groups.map((group) => group[name] as Values))] as const);
  return { ...Object.fromEntries(caches), fresh: bools([], [0]) };
}

/** Joins tensors along their first axis. */
function stacked(parts: readonly Values[]): Values {
  const [first] = parts as readonly [Values];
  const arrays = parts.map(({ data }) => data as Float32Array);
  const data = new Float32Array(arrays.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of arrays) {
    data.set(part, offset);
    offset += part.length;
  }
  const rows = parts.reduce((count, { shape }) => count + (shape[0] as number), 0);
  return { ...first, shape: [rows, ...first.shape.slice(1)], data };
}

interface WrittenRow {
  readonly row: number;
  readonly tokens: number[];
  readonly logprobs: number[];
  stopped: boolean;
}

/** Keeps at least two rows: without repacked weights, a single row is multiplied by other kernels and rounds differently. */
function placesToKeep(rows: readonly WrittenRow[]): number[] {
  const going = rows.flatMap(({ stopped }, place) => (stopped ? [] : [place]));
  return going.length > 1 ? going : [...going, rows.findIndex(({ stopped }) => stopped)];
}

interface Taking {
  readonly stops: ReadonlySet<number>;
  readonly onTokens: GenerationRequest['onTokens'];
}

function takeTokens(tokens: Values, logprobs: Values, open: readonly WrittenRow[], { stops, onTokens }: Taking): void {
  const [steps = 0, rows = 0] = tokens.shape;
  open.forEach((result, place) => {
    const fresh: number[] = [];
    for (let step = 0; step < steps && !result.stopped; step += 1) {
      const token = Number((tokens.data as BigInt64Array)[step * rows + place]);
      fresh.push(token);
      result.logprobs.push(requireNumber((logprobs.data as Float32Array)[step * rows + place] as number));
      result.stopped = stops.has(token);
    }
    result.tokens.push(...fresh);
    if (fresh.length > 0) onTokens?.(result.row, fresh);
  });
}
