import { type SamplingInputs, sampleToken } from '../../../backend/lm/decoder/sampling.ts';
import { Graph } from '../../../backend/lm/graph/graph.ts';
import { bools, float32s, int64s, Session } from '../../../backend/lm/graph/session.ts';

export interface SamplingRow {
  readonly logits: readonly number[];
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly draw: number;
  /** All tokens where absent. */
  readonly allowed?: readonly boolean[] | undefined;
}

export interface Drawn {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
}

/** The sampling of the decoder in a graph of its own, over a vocabulary of one size; to be closed. */
export class Sampler {
  readonly #session: Session;
  readonly #vocabulary: number;

  private constructor(session: Session, vocabulary: number) {
    this.#session = session;
    this.#vocabulary = vocabulary;
  }

  static async open(vocabulary: number): Promise<Sampler> {
    const g = new Graph();
    const inputs: SamplingInputs = {
      temperature: g.input('temperature', 'float32', ['rows', 1]),
      topP: g.input('topP', 'float32', ['rows', 1]),
      topK: g.input('topK', 'int64', ['rows', 1]),
      restricted: g.input('restricted', 'bool', []),
      draw: g.input('draw', 'float32', ['rows', 1]),
      allowed: g.input('allowed', 'bool', ['rows', vocabulary]),
    };
    const outputs = { ...sampleToken(g, g.input('logits', 'float32', ['rows', vocabulary]), 'rows', vocabulary, inputs) };
    return new Sampler(await Session.open(g, outputs, { device: 'cpu', threads: 1 }), vocabulary);
  }

  async draw(rows: readonly SamplingRow[]): Promise<Drawn> {
    const [count, size] = [rows.length, this.#vocabulary];
    const { token, logprob } = await this.#session.run({
      logits: float32s([count, size], rows.flatMap(({ logits }) => logits)),
      temperature: float32s([count, 1], rows.map((row) => row.temperature)),
      topP: float32s([count, 1], rows.map((row) => row.topP)),
      topK: int64s([count, 1], rows.map((row) => row.topK)),
      restricted: bools([], [rows.some(({ topP, topK }) => topP < 1 || topK > 0) ? 1 : 0]),
      draw: float32s([count, 1], rows.map((row) => row.draw)),
      allowed: bools([count, size], rows.flatMap(({ allowed }) => (allowed ? allowed.map(Number) : new Array<number>(size).fill(1)))),
    }, ['token', 'logprob']);
    return { tokens: Array.from(token.data as BigInt64Array, Number), logprobs: Array.from(logprob.data as Float32Array) };
  }

  async close(): Promise<void> {
    await this.#session.close();
  }
}

/** log softmax(logits / temperature), in float64. */
export function logSoftmax(logits: readonly number[], temperature: number): number[] {
  const scaled = logits.map((logit) => Math.fround(logit) / Math.fround(temperature));
  const most = scaled.reduce((a, b) => Math.max(a, b));
  const total = Math.log(scaled.reduce((sum, value) => sum + Math.exp(value - most), 0)) + most;
  return scaled.map((value) => value - total);
}

/**
 * The distribution that a row asks for, worked out from its definition: softmax of what is allowed; the topK likeliest; of these, as far
 * as their probabilities say so, all whose betters have less than topP together. Of equals the lower id is the better.
 */
export function distributionOf({ logits, temperature, topP, topK, allowed }: Omit<SamplingRow, 'draw'>): number[] {
  const open = logits.map((_, token) => token).filter((token) => allowed?.[token] ?? true);
  const logprobs = logSoftmax(open.map((token) => logits[token] as number), temperature);
  const ranked = open.map((token, index) => ({ token, share: Math.exp(logprobs[index] as number) }))
    .sort((left, right) => right.share - left.share || left.token - right.token)
    .slice(0, topK === 0 ? open.length : topK);
  const total = sumOf(ranked.map(({ share }) => share));
  let better = 0;
  const nucleus = ranked.filter(({ share }) => {
    const isIn = topP === 1 || better === 0 || better / total < topP;
    better += share;
    return isIn;
  });
  const kept = sumOf(nucleus.map(({ share }) => share));
  const distribution = new Array<number>(logits.length).fill(0);
  for (const { token, share } of nucleus) distribution[token] = share / kept;
  return distribution;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
