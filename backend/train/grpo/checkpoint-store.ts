import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { bytesIn } from '../../common/bytes-in.ts';
import { writeFolder } from '../../common/write-folder.ts';
import { STEP_ROLES } from '../../protocol/step-role.ts';
import type { JudgedPlan } from '../../records/plan-value.ts';
import type { StepMetrics } from './grpo-step.ts';

/** Where a training stands. */
export interface TrainingCheckpoint {
  /** Steps done. */
  readonly step: number;
  /** One entry per step. */
  readonly metrics: readonly StepMetrics[];
  /** What the critic had learned from, newest first. */
  readonly judged: readonly JudgedPlan[];
  /** Groups of other machines that were learned from, by name, as long as they could be handed in again. */
  readonly counted: readonly string[];
  /** The folder (absolute) with the engine's state. */
  readonly engineState: string;
}

interface SavedProgress {
  readonly metrics: readonly StepMetrics[];
  readonly judged?: readonly JudgedPlan[] | undefined;
  readonly counted?: readonly string[] | undefined;
}

/** The checkpoint cannot be read, or belongs to another configuration. */
export class OtherConfigurationError extends Error {
  override readonly name = 'OtherConfigurationError';
}

const judgedPlanSchema = z.object({
  project: z.string().optional(),
  kind: z.string(),
  steps: z.array(z.object({ role: z.enum(STEP_ROLES), worker: z.string() })).readonly(),
  isRight: z.boolean(),
}) satisfies z.ZodType<JudgedPlan>;

const checkpointSchema = z.object({
  format: z.literal(1),
  step: z.int().min(0),
  configuration: z.string(),
  metrics: z.array(z.record(z.string(), z.number())),
  judged: z.array(judgedPlanSchema).readonly().default([]),
  counted: z.array(z.string()).readonly().default([]),
});

/** Name of the folder that holds one adapter per version, or the trained model where all weights are trained. */
export const VERSIONS = 'versions';

const NAME = /^step-(\d{6})$/;
/** Name of a checkpoint, and of the version that is sampled from after it. */
export const stepName = (step: number): string => `step-${String(step).padStart(6, '0')}`;

/**
 * The folder (absolute) of one training. `checkpoints/`: each is written whole or not at all, and the newest one counts. `versions/`: the
 * adapters that were sampled from. `configuration` identifies the training's settings; a checkpoint of others is refused.
 */
export class CheckpointStore {
  readonly folder: string;
  readonly versions: string;
  readonly #checkpoints: string;
  readonly #configuration: string;
  readonly #kept: number;

  constructor(folder: string, { configuration, kept = 2 }: { readonly configuration: string; readonly kept?: number }) {
    this.folder = folder;
    this.versions = path.join(folder, VERSIONS);
    this.#checkpoints = path.join(folder, 'checkpoints');
    this.#configuration = configuration;
    this.#kept = kept;
  }

  versionName(step: number): string {
    return stepName(step);
  }

  /** Of a version that is sampled from between this many steps done and the next alone. */
  betweenName(step: number, update: number): string {
    return `${stepName(step)}-${update + 1}`;
  }

  /**
   * The newest checkpoint; undefined before the first. Removes what was written after it, since those steps are repeated.
   * @throws OtherConfigurationError
   */
  async resume(): Promise<TrainingCheckpoint | undefined> {
    await Promise.all([this.versions, this.#checkpoints].map((folder) => mkdir(folder, { recursive: true })));
    const newest = (await this.#steps()).at(-1);
    const found = newest === undefined ? undefined : await this.#read(newest);
    await this.#clear(this.versions, (step) => step > (newest ?? -1));
    await this.#clear(this.#checkpoints, () => false);
    return found;
  }

  /** `saveEngine` writes the engine's state into the given folder. */
  async save(step: number, { metrics, judged = [], counted = [] }: SavedProgress, saveEngine: (folder: string) => Promise<void>): Promise<void> {
    await writeFolder(path.join(this.#checkpoints, stepName(step)), async (staging) => {
      await saveEngine(path.join(staging, 'engine'));
      const checkpoint = { format: 1, step, configuration: this.#configuration, metrics, ...(judged.length > 0 && { judged }), ...(counted.length > 0 && { counted }) };
      await writeFile(path.join(staging, 'checkpoint.json'), JSON.stringify(checkpoint));
    });
    const steps = await this.#steps();
    const oldest = steps.slice(0, -this.#kept);
    for (const old of oldest) await rm(path.join(this.#checkpoints, stepName(old)), { recursive: true, force: true });
    // Versions between steps are sampled from no more.
    await this.#clear(this.versions, () => false);
  }

  /** The size of all checkpoints and versions, and of what was half written. */
  async bytes(): Promise<number> {
    return (await bytesIn(this.versions)) + (await bytesIn(this.#checkpoints));
  }

  /** Removes all checkpoints, where nothing is to go on from them. The versions stay. */
  forget(): Promise<void> {
    return rm(this.#checkpoints, { recursive: true, force: true });
  }

  async #read(step: number): Promise<TrainingCheckpoint> {
    const folder = path.join(this.#checkpoints, stepName(step));
    const text = await readFile(path.join(folder, 'checkpoint.json'), 'utf8').catch(() => '');
    const found = checkpointSchema.safeParse(parsed(text)).data;
    if (!found) throw new OtherConfigurationError(`The checkpoint ${folder} cannot be read: remove it to go on from the previous one.`);
    if (found.configuration !== this.#configuration) {
      throw new OtherConfigurationError(`The training in ${this.folder} was started with another configuration: use that one, or another folder.`);
    }
    return { step: found.step, metrics: found.metrics, judged: found.judged, counted: found.counted, engineState: path.join(folder, 'engine') };
  }

  /** The steps of all checkpoints, ascending. */
  async #steps(): Promise<number[]> {
    const names = await readdir(this.#checkpoints);
    return names.flatMap((name) => NAME.exec(name)?.[1] ?? []).map(Number).sort((a, b) => a - b);
  }

  /** Removes partial writes and the unwanted steps. */
  async #clear(folder: string, isUnwanted: (step: number) => boolean): Promise<void> {
    for (const name of await readdir(folder)) {
      const step = NAME.exec(name)?.[1];
      if (step === undefined || isUnwanted(Number(step))) await rm(path.join(folder, name), { recursive: true, force: true });
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
