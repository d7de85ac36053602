/** The geometry of a Qwen2 or Qwen3 decoder, dense: everything the graph needs to know beside the weights. */
export interface DecoderConfig {
  readonly architecture: 'qwen2' | 'qwen3';
  readonly vocabularySize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layers: number;
  readonly attentionHeads: number;
  readonly keyValueHeads: number;
  readonly headSize: number;
  readonly rmsNormEpsilon: number;
  readonly ropeTheta: number;
  readonly maximumPositions: number;
  /** The output layer is the embedding table, transposed. */
  readonly tiedEmbeddings: boolean;
  /** q, k and v have a bias; o never has. */
  readonly attentionBias: boolean;
  /** Each head of q and k goes through an RMS norm before the rotation. */
  readonly queryKeyNorm: boolean;
  /** Any of these ends a text. */
  readonly stopTokenIds: readonly number[];
}
