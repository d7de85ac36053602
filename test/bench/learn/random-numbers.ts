import type { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import { seededUniforms } from '../../../backend/lm/checkpoint/seeded-uniforms.ts';

/** Draws of distributions, from one seed. */
export class Draws {
  readonly #uniform: () => number;

  constructor(random: KeyedRandom, draw: string) {
    this.#uniform = seededUniforms(Math.floor(random.unit(draw) * 2 ** 32));
  }

  unit(): number {
    return this.#uniform();
  }

  /** Box and Muller's method. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(this.#uniform())) * Math.cos(2 * Math.PI * this.#uniform());
  }

  beta(a: number, b: number): number {
    const [x, y] = [this.#gamma(a), this.#gamma(b)];
    return x / (x + y);
  }

  /** G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", 2000. */
  #gamma(shape: number): number {
    if (shape < 1) return this.#gamma(shape + 1) * this.#uniform() ** (1 / shape);
    const d = shape - 1 / 3;
    for (;;) {
      const x = this.normal();
      const v = (1 + x / Math.sqrt(9 * d)) ** 3;
      if (v > 0 && Math.log(this.#uniform()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v;
    }
  }
}
