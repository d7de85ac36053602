import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Adapter } from '../../../backend/lm/adapter/read-adapter.ts';
import type { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import { GOLDEN_MODELS, type ModelFigures, readFigures, type VariantFigures } from '../../golden/golden.ts';
import { goldenAdapter, greedy, openModel, request, worstDifference } from './tiny-model.ts';

/** What the product promises; 1.4e-5 was the largest difference when this was written. */
const TOLERANCE = 2e-4;

const sessions = GOLDEN_MODELS.flatMap((model) =>
  [true, false].flatMap((adapters) => [true, false].map((repackWeights) => ({ model, adapters, repackWeights }))));

describe.each(sessions)('$model, adapters: $adapters, repackWeights: $repackWeights', ({ model, adapters, repackWeights }) => {
  let session: DecoderSession;
  let figures: ModelFigures;
  let variants: { readonly adapter: Adapter | undefined; readonly said: VariantFigures }[];
  beforeAll(async () => {
    figures = await readFigures(model);
    session = await openModel(model, { adapters, repackWeights });
    variants = [{ adapter: undefined, said: figures.base }];
    for (const [name, said] of adapters ? Object.entries(figures.adapters) : []) {
      variants.push({ adapter: await goldenAdapter(model, name), said });
    }
  });
  afterAll(() => session.close());

  it('scores as PyTorch does, each sequence alone and all in one batch', async () => {
    const { sequences, promptLengths } = figures;
    for (const { adapter, said: { completionLogprobs } } of variants) {
      const together = await session.score({ sequences, promptLengths, adapter });
      const alone: number[][] = [];
      for (const [index, sequence] of sequences.entries()) {
        alone.push(...(await session.score({ sequences: [sequence], promptLengths: [promptLengths[index] as number], adapter })));
      }
      expect(worstDifference(together, completionLogprobs)).toBeLessThan(TOLERANCE);
      expect(worstDifference(alone, completionLogprobs)).toBeLessThan(TOLERANCE);
    }
  });

  it('writes the greedy tokens of PyTorch, each prompt alone and all in one batch', async () => {
    const { prompts, newTokens: maxTokens } = figures;
    for (const { adapter, said: { greedy: { tokens } } } of variants) {
      const together = await session.generate(request({ prompts, maxTokens, adapter, ...greedy }));
      expect(together).toMatchObject(tokens.map((row) => ({ tokens: row, finishReason: 'length' })));
      for (const [index, prompt] of prompts.entries()) {
        const [alone] = await session.generate(request({ prompts: [prompt], maxTokens, adapter, ...greedy, chunkTokens: 5 }));
        expect(alone?.tokens).toEqual(tokens[index]);
      }
    }
  });

  it('ends each row with its own stop token', async () => {
    const { prompts, newTokens: maxTokens } = figures;
    for (const { adapter, said: { greedy: { stopped } } } of variants) {
      for (const chunkTokens of [1, 7, maxTokens]) {
        const { stopTokenIds } = stopped;
        const rows = await session.generate(request({ prompts, maxTokens, adapter, stopTokenIds, chunkTokens, ...greedy }));
        expect(rows.map(({ tokens }) => tokens)).toEqual(stopped.tokens);
        const reasons = stopped.tokens.map((row) => (stopTokenIds.includes(row.at(-1) as number) ? 'stop' : 'length'));
        expect(rows.map(({ finishReason }) => finishReason)).toEqual(reasons);
        rows.forEach(({ tokens, logprobs }) => expect(logprobs).toHaveLength(tokens.length));
      }
    }
  });

  it('says of the tokens it draws what scoring them says', async () => {
    const { prompts } = figures;
    for (const { adapter } of variants) {
      for (const temperature of [0.6, 1.3]) {
        const rows = await session.generate(request({ prompts, maxTokens: 20, adapter, temperature }));
        const sequences = rows.map(({ tokens }, row) => [...(prompts[row] as readonly number[]), ...tokens]);
        const scores = await session.score({ sequences, promptLengths: prompts.map(({ length }) => length), temperature, adapter });
        expect(worstDifference(rows.map(({ logprobs }) => logprobs), scores)).toBeLessThan(TOLERANCE);
      }
    }
  });
});

/** On x64, onnxruntime computes float16 in float32 and rounds. On ARM it computes in float16, as a GPU does: the largest differences seen are 0.076 and 0.03. */
const FLOAT16_TOLERANCE = process.arch === 'arm64' ? 0.1 : 0.06;

/** As a GPU computes quantised weights. */
describe.each(GOLDEN_MODELS)('%s in float16', (model) => {
  it('scores nearly as PyTorch does in float32, and goes on from chunk to chunk as in one', async () => {
    const { sequences, promptLengths, prompts, newTokens: maxTokens, base } = await readFigures(model);
    const session = await openModel(model, { compute: 'float16' });
    expect(worstDifference(await session.score({ sequences, promptLengths }), base.completionLogprobs)).toBeLessThan(FLOAT16_TOLERANCE);
    const [inOne, inChunks] = [maxTokens, 5].map((chunkTokens) => session.generate(request({ prompts, maxTokens, chunkTokens, ...greedy })));
    expect((await inChunks)?.map(({ tokens }) => tokens)).toEqual((await inOne)?.map(({ tokens }) => tokens));
    await session.close();
  });
});

describe.each(GOLDEN_MODELS)('adapters of %s', (model) => {
  it('are switched from request to request in one session, and leave nothing behind', async () => {
    const { sequences, promptLengths, prompts, base, adapters } = await readFigures(model);
    const [session, plain] = [await openModel(model, { adapters: true }), await openModel(model)];
    const named: { readonly adapter: Adapter | undefined; readonly said: VariantFigures }[] = [];
    for (const [name, said] of Object.entries(adapters)) named.push({ adapter: await goldenAdapter(model, name), said });
    const withoutAny = await plain.score({ sequences, promptLengths });
    const freeText = await plain.generate(request({ prompts, maxTokens: 20 }));
    for (const { adapter, said } of [{ adapter: undefined, said: base }, ...named, ...named.toReversed()]) {
      expect(worstDifference(await session.score({ sequences, promptLengths, adapter }), said.completionLogprobs)).toBeLessThan(TOLERANCE);
      // To the last bit what a session says that was opened without adapters.
      expect(await session.score({ sequences, promptLengths })).toEqual(withoutAny);
      expect(await session.generate(request({ prompts, maxTokens: 20 }))).toEqual(freeText);
    }
    await Promise.all([session.close(), plain.close()]);
  });
});
