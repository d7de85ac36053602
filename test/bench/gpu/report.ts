import { MODELS, type ModelName, sizeOf, tensorsOf } from './models.ts';
import type { Profiled } from './requests.ts';

export type Precision = 'bf16' | '4-bit';

export interface Case {
  readonly prompts: number;
  readonly samples: number;
}

export function caseName({ prompts, samples }: Case): string {
  const read = prompts === 1 ? '1 prompt' : `${prompts} prompts`;
  return samples === 1 ? read : `${samples} samples of ${read}`;
}

export interface Sizes {
  readonly promptTokens: number;
  readonly newTokens: number;
}

/** The best of the rounds. */
export interface Measured {
  readonly model: ModelName;
  readonly precision: Precision;
  readonly which: Case;
  readonly side: string;
  /** A step gives every row a token; the time of one new token is that of reading the prompts and of a step. */
  readonly stepSeconds: number;
  readonly prefillSeconds: number;
  /** What a step would take if reading memory were all of it. */
  readonly limitSeconds?: number | undefined;
  /** Handed to the runtime and back, for each token that was made. */
  readonly bytesPerToken?: number | undefined;
  readonly heldBytes?: number | undefined;
  readonly failure?: string | undefined;
}

/** What two ways of going on after a chunk cost. */
export interface Continuing {
  readonly model: ModelName;
  readonly precision: Precision;
  readonly which: Case;
  /** Handing the cache out and in again, and reading prompt and answer again, each for one chunk. */
  readonly carrySeconds: number;
  readonly againSeconds: number;
}

export interface Inside {
  readonly model: ModelName;
  readonly precision: Precision;
  readonly profile: Profiled;
}

/**
 * Bytes that a step cannot but read: every weight once (of the embedding table only rows, unless it is the output layer too), each prompt's
 * cache once for all its samples, and every row's own, halfway through the new tokens. In 4 bits a block of 32 codes has a scale of 16 bits,
 * and the output layer has 8-bit codes.
 */
export function stepBytes(model: ModelName, precision: Precision, { prompts, samples }: Case, { promptTokens, newTokens }: Sizes): number {
  const { hidden_size, num_attention_heads, num_key_value_heads, num_hidden_layers, tie_word_embeddings } = MODELS[model];
  const weights = tensorsOf(model).reduce((sum, { name, shape }) => {
    if (name === 'model.embed_tokens.weight' && !tie_word_embeddings) return sum;
    const isHead = name === 'lm_head.weight' || name === 'model.embed_tokens.weight';
    const bytes = precision === 'bf16' || shape.length === 1 ? 2 : (isHead ? 1 : 1 / 2) + 2 / 32;
    return sum + bytes * sizeOf(shape);
  }, 0);
  const perToken = 2 * 2 * num_hidden_layers * num_key_value_heads * (hidden_size / num_attention_heads);
  return weights + perToken * (prompts * promptTokens + prompts * samples * (newTokens / 2));
}

const HEADS = [
  'model', 'weights', 'batch', 'side', 'prefill tokens/s', 'decode tokens/s', 'a step, ms', 'of the limit', 'ours is, decode',
  'bytes in and out a token', 'GB held',
];

/** Markdown. */
export function speedTable(measured: readonly Measured[], { promptTokens }: Sizes): string {
  const rows = measured.map((one) => {
    const { model, precision, which, side, stepSeconds, prefillSeconds, limitSeconds, bytesPerToken, heldBytes, failure } = one;
    const head = [model, precision, caseName(which), side];
    if (failure !== undefined) return [...head, failure];
    if (stepSeconds <= 0) return [...head, 'lost in the noise: take more new tokens or rounds'];
    const sameCase = (other: Measured): boolean => other.model === model && other.precision === precision && other.which === which;
    const ours = measured.find((other) => other.side === 'ours' && sameCase(other));
    const batch = which.prompts * which.samples;
    return [
      ...head,
      prefillSeconds > 0 ? ((which.prompts * promptTokens) / prefillSeconds).toFixed(0) : '',
      (batch / stepSeconds).toFixed(1),
      (1000 * stepSeconds).toFixed(2),
      limitSeconds === undefined ? '' : (limitSeconds / stepSeconds).toFixed(2),
      side === 'ours' || !ours || ours.stepSeconds <= 0 ? '' : `${(stepSeconds / ours.stepSeconds).toFixed(2)} ×`,
      bytesPerToken === undefined ? '' : bytesPerToken.toFixed(0),
      heldBytes === undefined ? '' : (heldBytes / 1e9).toFixed(1),
    ];
  });
  return markdown(HEADS, rows);
}

export function continuingTable(all: readonly Continuing[]): string {
  return markdown(
    ['model', 'weights', 'batch', 'cache carried through the host, ms a chunk', 'read again, ms a chunk'],
    all.map(({ model, precision, which, carrySeconds, againSeconds }) =>
      [model, precision, caseName(which), (1000 * carrySeconds).toFixed(1), (1000 * againSeconds).toFixed(1)]),
  );
}

export function insideTable(all: readonly Inside[]): string {
  return markdown(
    ['model', 'weights', 'nodes a step', 'on the host', 'copies', 'bytes copied', 'most time on the host\'s clock, µs a step'],
    all.map(({ model, precision, profile }) => {
      const longest = Object.entries(profile.byOperator).sort(([, a], [, b]) => b.microseconds - a.microseconds).slice(0, 8);
      return [
        model, precision, profile.nodesInStep, profile.onHostInStep, profile.copiesInStep, profile.copiedBytesInStep.toFixed(0),
        longest.map(([operator, { nodes, microseconds }]) => `${operator} ${microseconds.toFixed(0)} (${nodes})`).join(', '),
      ].map(String);
    }),
  );
}

function markdown(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
