import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { writeFolder } from '../../common/write-folder.ts';
import { readTensor } from '../checkpoint/read-tensor.ts';
import { readSafetensorsHeader, storedTensor } from '../checkpoint/safetensors-file.ts';
import { type NamedTensor, writeSafetensors } from '../checkpoint/write-safetensors.ts';
import { AdamW, type AdamWOptions, clipGradients, gradientNorm, type Moments } from './adamw.ts';

export interface StepOptions {
  readonly learningRate: number;
  /** The maximum global norm of the gradients; larger gradients are scaled down. No limit by default. */
  readonly gradientClip?: number | undefined;
}

/** A saved training is damaged, or belongs to another model or adapter. */
export class TrainerStateError extends Error {
  override readonly name = 'TrainerStateError';
  readonly folder: string;

  constructor(folder: string, reason: string) {
    super(`The training saved in ${folder} cannot be resumed: ${reason}. Go back to an earlier checkpoint.`);
    this.folder = folder;
  }
}

const TENSORS = 'trainer.safetensors';
const STATE = 'trainer.json';
const PARTS = ['parameter', 'mean', 'square'] as const;

const stateSchema = z.object({
  format: z.literal(1),
  steps: z.int().min(0),
  optimizer: z.object({ beta1: z.number(), beta2: z.number(), epsilon: z.number(), weightDecay: z.number() }),
});

/**
 * Parameters and their optimizer. Gradients accumulate until a step uses them. `save` stores everything that the next step depends on, bit for bit.
 */
export class ParameterTrainer {
  /** Float32 values by tensor name. A step changes them in place. */
  readonly parameters: ReadonlyMap<string, Float32Array>;
  readonly #shapes: ReadonlyMap<string, readonly number[]>;
  readonly optimizer: AdamW;
  #gradients = new Map<string, Float32Array>();

  constructor(parameters: readonly NamedTensor[], optimizer: AdamWOptions | AdamW) {
    this.parameters = new Map(parameters.map(({ name, data }) => [name, data]));
    this.#shapes = new Map(parameters.map(({ name, shape }) => [name, shape]));
    this.optimizer = optimizer instanceof AdamW ? optimizer : new AdamW(optimizer);
  }

  /** Starts with these parameters, or with those in `resume`, a folder that `save` wrote. @throws the errors of `load` */
  static async begin(tensors: readonly NamedTensor[], optimizer: AdamWOptions, resume: string | undefined): Promise<ParameterTrainer> {
    if (resume === undefined) return new ParameterTrainer(tensors, optimizer);
    const saved = await ParameterTrainer.load(resume, tensors);
    // Copies into the same arrays, because the session uses them too.
    for (const { name, data } of tensors) data.set(saved.parameters.get(name) ?? data);
    return new ParameterTrainer(tensors, saved.optimizer);
  }

  /** The parameters as they are now. */
  get tensors(): NamedTensor[] {
    return [...this.parameters].map(([name, data]) => ({ name, shape: this.#shapes.get(name) as readonly number[], data }));
  }

  /** Writes the gradients of the next step as a safetensors file, and returns their norm. */
  async writeGradients(file: string): Promise<{ readonly gradientNorm: number }> {
    const shapeOf = (name: string): readonly number[] => this.#shapes.get(name) as readonly number[];
    await writeSafetensors(file, [...this.#gradients].map(([name, data]): NamedTensor => ({ name, shape: shapeOf(name), data })));
    return { gradientNorm: gradientNorm(this.#gradients) };
  }

  /** Steps taken. */
  get steps(): number {
    return this.optimizer.steps;
  }

  /** Adds gradients to those of the next step. @throws if one belongs to no parameter */
  accumulate(gradients: ReadonlyMap<string, Float32Array>): void {
    for (const [name, values] of gradients) {
      if (this.parameters.get(name)?.length !== values.length) throw new Error(`There is no parameter for the gradient ${name}.`);
      const sum = this.#gradients.get(name);
      // A loop: a function call for each of millions of numbers would take longer than the additions.
      if (sum) for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] as number) + (values[index] as number);
      else this.#gradients.set(name, values.slice());
    }
  }

  /** One step of the optimizer. Returns the norm of the gradients before clipping. */
  step({ learningRate, gradientClip = Number.POSITIVE_INFINITY }: StepOptions): { readonly gradientNorm: number } {
    const norm = clipGradients(this.#gradients, gradientClip);
    this.optimizer.step(this.parameters, this.#gradients, learningRate);
    this.#gradients = new Map();
    return { gradientNorm: norm };
  }

  /** Discards gradients that no step has used. */
  discard(): void {
    this.#gradients = new Map();
  }

  /** Writes a new folder (absolute), which appears complete or not at all. Call it only between steps: gradients are not saved. */
  async save(folder: string): Promise<void> {
    if (this.#gradients.size > 0) throw new Error('A training can only be saved between steps.');
    const { moments, options, steps } = this.optimizer;
    const tensors = [...this.parameters].flatMap(([name, data]): NamedTensor[] => {
      const shape = this.#shapes.get(name) as readonly number[];
      const { mean, square } = moments.get(name) ?? { mean: new Float32Array(data.length), square: new Float32Array(data.length) };
      return [data, mean, square].map((values, index) => ({ name: `${PARTS[index]}.${name}`, shape, data: values }));
    });
    await writeFolder(folder, async (staging) => {
      await writeSafetensors(path.join(staging, TENSORS), tensors);
      await writeFile(path.join(staging, STATE), JSON.stringify({ format: 1, steps, optimizer: options }));
    });
  }

  /**
   * The training saved in a folder, for parameters of these names and shapes.
   * @throws TrainerStateError, CheckpointError for damaged weights
   */
  static async load(folder: string, expected: readonly Pick<NamedTensor, 'name' | 'shape'>[]): Promise<ParameterTrainer> {
    const state = stateSchema.safeParse(await readJson(path.join(folder, STATE))).data;
    if (!state) throw new TrainerStateError(folder, `${STATE} is missing or damaged`);
    const { tensors } = await readSafetensorsHeader(path.join(folder, TENSORS));
    const listed = new Map(tensors.map((tensor) => [tensor.name, tensor]));
    const read = async (name: string, shape: readonly number[]): Promise<Float32Array> => {
      const tensor = listed.get(name);
      if (tensor?.shape.join() !== shape.join()) throw new TrainerStateError(folder, `${name} is missing or of another shape`);
      return await readTensor(storedTensor(tensor));
    };
    if (tensors.length !== expected.length * PARTS.length) throw new TrainerStateError(folder, 'it is of another model or other projections');
    const parameters: NamedTensor[] = [];
    const moments = new Map<string, Moments>();
    for (const { name, shape } of expected) {
      const [data, mean, square] = await Promise.all(PARTS.map((part) => read(`${part}.${name}`, shape)));
      parameters.push({ name, shape, data: data! });
      moments.set(name, { mean: mean!, square: square! });
    }
    return new ParameterTrainer(parameters, new AdamW(state.optimizer, { moments, steps: state.steps }));
  }
}

const readJson = (file: string): Promise<unknown> => readFile(file, 'utf8').then(JSON.parse).catch(() => undefined);
