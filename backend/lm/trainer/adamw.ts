export interface AdamWOptions {
  /** Decay rates of the first and second moment of the gradients. */
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Decoupled from the gradient; 0 turns it off. */
  readonly weightDecay: number;
}

/** The defaults of PyTorch, except for the weight decay, which is 0 as in the Trainer of transformers 5.18. */
export const ADAMW_DEFAULTS: AdamWOptions = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0 };

/** The moments of one tensor. */
export interface Moments {
  readonly mean: Float32Array;
  readonly square: Float32Array;
}

/** AdamW (Loshchilov and Hutter, arXiv 1711.05101) in float32, with the formulas of `torch.optim.AdamW`. */
export class AdamW {
  readonly options: AdamWOptions;
  readonly moments: Map<string, Moments>;
  /** Steps taken. */
  steps: number;

  constructor(options: AdamWOptions, state: { readonly moments: ReadonlyMap<string, Moments>; readonly steps: number } = { moments: new Map(), steps: 0 }) {
    this.options = options;
    this.moments = new Map(state.moments);
    this.steps = state.steps;
  }

  /** Updates the parameters in place. Parameters without a gradient do not change. */
  step(parameters: ReadonlyMap<string, Float32Array>, gradients: ReadonlyMap<string, Float32Array>, learningRate: number): void {
    const { beta1, beta2, epsilon, weightDecay } = this.options;
    this.steps += 1;
    const stepSize = learningRate / (1 - beta1 ** this.steps);
    const squareCorrection = Math.sqrt(1 - beta2 ** this.steps);
    const kept = 1 - learningRate * weightDecay;
    for (const [name, parameter] of parameters) {
      const gradient = gradients.get(name);
      if (!gradient) continue;
      const { mean, square } = this.#momentsOf(name, parameter.length);
      for (let index = 0; index < parameter.length; index += 1) {
        const g = gradient[index] as number;
        const m = Math.fround((mean[index] as number) + (g - (mean[index] as number)) * (1 - beta1));
        const v = Math.fround((square[index] as number) * beta2 + g * g * (1 - beta2));
        mean[index] = m;
        square[index] = v;
        parameter[index] = (parameter[index] as number) * kept - (stepSize * m) / (Math.sqrt(v) / squareCorrection + epsilon);
      }
    }
  }

  #momentsOf(name: string, length: number): Moments {
    const known = this.moments.get(name);
    if (known) return known;
    const moments = { mean: new Float32Array(length), square: new Float32Array(length) };
    this.moments.set(name, moments);
    return moments;
  }
}

/** The global Euclidean norm of the gradients. */
export function gradientNorm(gradients: ReadonlyMap<string, Float32Array>): number {
  let sum = 0;
  for (const values of gradients.values()) for (let index = 0; index < values.length; index += 1) sum += (values[index] as number) ** 2;
  return Math.sqrt(sum);
}

/** Scales gradients in place to a norm of at most `limit`, like `torch.nn.utils.clip_grad_norm_`. Returns the norm before clipping. */
export function clipGradients(gradients: ReadonlyMap<string, Float32Array>, limit: number): number {
  const norm = gradientNorm(gradients);
  const scale = limit / (norm + 1e-6);
  if (scale >= 1) return norm;
  for (const values of gradients.values()) for (let index = 0; index < values.length; index += 1) values[index] = (values[index] as number) * scale;
  return norm;
}
