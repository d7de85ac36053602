import { createHash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../common/replace-file.ts';
import type { SampledCompletion, SampleRequest, TrainEngine } from '../engines/engine.ts';

type Sampler = Pick<TrainEngine, 'sample' | 'hasRoom'>;

const completionsSchema: z.ZodType<SampledCompletion[]> = z.array(z.object({
  promptTokens: z.array(z.int()), tokens: z.array(z.int()), logprobs: z.array(z.number()), text: z.string(), finishReason: z.enum(['stop', 'length']),
}));

/**
 * Plans of one version, kept in a folder (absolute) until they are judged. A server need not write the same again for the same seed, and plans that are carried out
 * in part go on only as they were.
 */
export class KeptSamples implements Sampler {
  readonly #engine: Sampler;
  readonly #folder: string;

  constructor(engine: Sampler, folder: string) {
    this.#engine = engine;
    this.#folder = folder;
  }

  hasRoom(...asked: Parameters<Sampler['hasRoom']>): Promise<boolean> {
    return this.#engine.hasRoom(...asked);
  }

  async sample(request: SampleRequest): Promise<readonly SampledCompletion[]> {
    const { signal: _signal, ...asked } = request;
    const file = path.join(this.#folder, `${createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 32)}.json`);
    const known = await readFile(file, 'utf8').catch(() => undefined);
    if (known !== undefined) return completionsSchema.parse(JSON.parse(known));
    const samples = await this.#engine.sample(request);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await replaceFile(file, JSON.stringify(samples));
    return samples;
  }

  forget(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}
