import type { ComputeType } from '../device/devices.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import { add, minimum } from '../graph/ops/arithmetic.ts';
import { range } from '../graph/ops/indexing.ts';
import { concat, slice, sliceRest } from '../graph/ops/pieces.ts';
import { expand, reshape } from '../graph/ops/shape.ts';
import { continuationAttention, type Continuations, lengthMask, type promptAttention } from './attention.ts';
import type { Decoder, Pass, Projected } from './decoder.ts';

/*
 * Prompts and their completions. A prompt goes through the decoder once for all its completions. All tokens are in one row: first those of
 * all prompts, then those of all completions, including padding.
 */

/** The program that uses the inputs. Each has its own inputs and sizes. */
export type Use = 'scored' | 'trained';

export interface ContinuedPrompts {
  readonly use: Use;
  /** int64[prompts, prompt length], padded on the right, and the lengths int64[prompts]. */
  readonly prompts: Tensor;
  readonly promptLengths: Tensor;
  /** int32[]: the longest prompt, see `PromptRows.total`. */
  readonly longestPrompt: Tensor;
  /** int64[prompts, samples, length], padded on the right. */
  readonly completions: Tensor;
}

export function continuedPrompts(root: Graph, use: Use): ContinuedPrompts {
  const { prompts, samples, promptLength, length } = sizesOf(use);
  return {
    use,
    prompts: root.input(`${use} prompts`, 'int64', [prompts, promptLength]),
    promptLengths: root.input(`${use} promptLengths`, 'int64', [prompts]),
    longestPrompt: root.input(`${use} longestPrompt`, 'int32', []),
    completions: root.input(`${use} completions`, 'int64', [prompts, samples, length]),
  };
}

const sizesOf = (use: Use) => ({
  prompts: `${use} prompts`, samples: `${use} samples`, rows: `${use} rows`, promptLength: `${use} prompt length`, length: `${use} length`,
  promptTokens: `${use} prompt tokens`, completionTokens: `${use} completion tokens`, tokens: `${use} tokens`,
});

/** All tokens as one row, int64[tokens], and the pass over them; `attention` is that of the prompts. */
export function passOver(g: Graph, decoder: Decoder, { use, ...inputs }: ContinuedPrompts): {
  readonly ids: Tensor; readonly pass: (attention: typeof promptAttention) => Pass;
} {
  const sizes = sizesOf(use);
  const { prompts, samples, rows, promptLength, length, promptTokens, completionTokens, tokens } = sizes;
  const ids = concat(g, [reshape(g, inputs.prompts, [promptTokens]), reshape(g, inputs.completions, [completionTokens])], 0, tokens);
  const places = reshape(g, range(g, length), [1, 1, length]);
  // The padding of a short completion after a long prompt could exceed the context. Its results are not used.
  const last = g.scalar('int64', (decoder.rotation.cosine.shape[0] as number) - 1);
  const behind = add(g, reshape(g, inputs.promptLengths, [prompts, 1, 1]), places);
  const positions = expand(g, minimum(g, behind, last), [prompts, samples, length]);
  const continuations: Continuations = {
    prompts, samples, rows, promptLength, length,
    promptMask: lengthMask(g, inputs.promptLengths, { batch: prompts, length: promptLength }, decoder.rotation.cosine.element as ComputeType),
    positions: reshape(g, positions, [rows, length]),
  };
  return {
    ids,
    pass: (attention) => ({ tokens, form: 'stored', attend: (b, projected) => attend(b, decoder, projected, attention, continuations, { ...sizes, total: inputs.longestPrompt }) }),
  };
}

/** Prompts attend to themselves; completions also attend to their prompts. */
function attend(
  g: Graph, decoder: Decoder, projected: Projected, attention: typeof promptAttention, continuations: Continuations, sizes: ReturnType<typeof sizesOf> & { readonly total: Tensor },
): Tensor {
  const { attentionHeads, headSize } = decoder.config;
  const { prompts, promptLength, promptTokens, completionTokens, tokens, total } = sizes;
  const part = (cut: (x: Tensor) => Tensor): Projected => ({ ...projected, query: cut(projected.query), key: cut(projected.key), value: cut(projected.value) });
  const ofPrompts = part((x) => slice(g, x, 0, 0, promptTokens));
  const ofCompletions = part((x) => sliceRest(g, x, 0, g.size(promptTokens), completionTokens));
  const { output, cache } = attention(g, decoder, ofPrompts, { batch: prompts, length: promptLength, total });
  const flat = (x: Tensor, size: string): Tensor => reshape(g, x, [size, attentionHeads, headSize]);
  const continued = continuationAttention(g, decoder, ofCompletions, cache, continuations);
  return concat(g, [flat(output, promptTokens), flat(continued, completionTokens)], 0, tokens);
}
