/** How the rotation of a model is changed for texts longer than those it was first trained on. Names follow config.json's `rope_type`. */
export type RopeScaling =
  | { readonly type: 'linear'; readonly factor: number }
  | {
    readonly type: 'llama3'; readonly factor: number; readonly lowFrequencyFactor: number; readonly highFrequencyFactor: number;
    readonly originalPositions: number;
  }
  | {
    readonly type: 'yarn'; readonly factor: number; readonly fast: number; readonly slow: number; readonly originalPositions: number;
    /** Of the queries and the keys, each. */
    readonly magnitude: number;
  }
  | {
    readonly type: 'longrope';
    /** What the frequency of each pair is divided by, in texts of at most `originalPositions` tokens. */
    readonly factors: readonly number[]; readonly originalPositions: number; readonly magnitude: number;
  };

/**
 * The angle per position of each pair of the dimensions that are rotated, θ^(−2i/size), and as `scaling` changes it. In float32, like
 * transformers: at large positions float64 would differ from it by more than the rounding error of float32.
 */
export function rotaryFrequencies(size: number, theta: number, scaling?: RopeScaling): Float32Array {
  const powers = Float32Array.from({ length: size / 2 }, (_, pair) => theta ** ((2 * pair) / size));
  const plain = powers.map((power) => 1 / power);
  switch (scaling?.type) {
    case undefined: return plain;
    case 'linear': return plain.map((frequency) => frequency / scaling.factor);
    case 'llama3': return plain.map((frequency) => frequency * llama3Share(frequency, scaling));
    case 'yarn': return plain.map((frequency, pair) => frequency * yarnShare(pair, size, theta, scaling));
    // LongRoPE (arXiv 2402.13753).
    case 'longrope': return powers.map((power, pair) => 1 / Math.fround(Math.fround(scaling.factors[pair] as number) * power));
  }
}

/** The factor of the rotated queries and keys, each. */
export const rotaryMagnitude = (scaling?: RopeScaling): number => (scaling && 'magnitude' in scaling ? scaling.magnitude : 1);

type Scaling<Type> = Extract<RopeScaling, { readonly type: Type }>;

/** Low frequencies are divided by the factor, high ones stay, and between them it goes from the one to the other (arXiv 2407.21783, 3.4). */
function llama3Share(frequency: number, { factor, lowFrequencyFactor, highFrequencyFactor, originalPositions }: Scaling<'llama3'>): number {
  const turns = (originalPositions * frequency) / (2 * Math.PI);
  const smooth = clamp((turns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor));
  return (1 - smooth) / factor + smooth;
}

/** The same by the index of the pair instead of its frequency: "NTK by parts" (arXiv 2309.00071, 3.2). */
function yarnShare(pair: number, size: number, theta: number, { factor, fast, slow, originalPositions }: Scaling<'yarn'>): number {
  // The pair that turns this often within the original positions.
  const pairOf = (turns: number): number => (size * Math.log(originalPositions / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const low = Math.max(Math.floor(pairOf(fast)), 0);
  const high = Math.min(Math.ceil(pairOf(slow)), size - 1);
  const smooth = 1 - clamp((pair - low) / (high === low ? 0.001 : high - low));
  return (1 - smooth) / factor + smooth;
}

const clamp = (value: number): number => Math.min(1, Math.max(0, value));
