import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { writeFolder } from '../../common/write-folder.ts';
import { isBundled } from '../../protocol/bundled-conductor.ts';
import type { Training } from '../../protocol/training.ts';
import type { WorkerConfig, WorkersFile } from '../../protocol/worker-config.ts';
import { isOutdated, OUTDATED, writeAdapterBase } from './adapter-base.ts';
import { isStorageProblem, notSaved } from './storage-problem.ts';
import { TrainingRefusedError } from './training-error.ts';
import type { TrainingRunParts } from './training-parts.ts';
import type { TrainingRegistry } from './training-registry.ts';

export interface AdoptionOptions {
  readonly registry: TrainingRegistry;
  /** The folder (absolute) that holds the adopted adapters. */
  readonly adapters: string;
  readonly changeWorkers: (change: (file: WorkersFile) => WorkersFile) => Promise<unknown>;
  readonly bundledConductor?: WorkerConfig | undefined;
  readonly baseOf: TrainingRunParts['baseOf'];
}

/** Has the Conductor plan with what was trained, and takes that back. */
export class Adoption {
  readonly #options: AdoptionOptions;

  constructor(options: AdoptionOptions) {
    this.#options = options;
  }

  /** Keeps the adapter that the Conductor had before. @throws TrainingRefusedError where there is no comparison */
  async adopt(trainingId: string): Promise<Training> {
    const { registry, baseOf } = this.#options;
    const training = registry.get(trainingId);
    if (training.state !== 'completed' || !training.comparison) {
      throw new TrainingRefusedError('Only what was compared on held-out tasks can be adopted: let the training run to its end.');
    }
    if (await isOutdated(training, baseOf)) throw new TrainingRefusedError(`What was trained cannot be adopted: ${OUTDATED}`);
    const target = this.#folder(trainingId);
    try {
      await writeFolder(target, async (staging) => {
        await cp(registry.folder(trainingId).version(training.step), staging, { recursive: true });
        if (training.base !== undefined) await writeAdapterBase(staging, training.base);
        await rm(target, { recursive: true, force: true });
      });
    } catch (error) {
      throw isStorageProblem(error) ? notSaved(error) : error;
    }
    await this.#plansWith(training.conductor, target);
    for (const other of registry.list()) if (other.adopted && other.conductor === training.conductor) await registry.change(other.trainingId, { adopted: false });
    return await registry.change(trainingId, { adopted: true });
  }

  /** Restores the adapter that the Conductor had when the training started. @throws TrainingRefusedError */
  async goBack(trainingId: string): Promise<Training> {
    const { registry } = this.#options;
    const training = registry.get(trainingId);
    if (!training.adopted) throw new TrainingRefusedError(`What the training "${trainingId}" made is not what the Conductor plans with.`);
    await this.#plansWith(training.conductor, training.adapterBefore);
    const before = registry.list().find((other) => this.#folder(other.trainingId) === training.adapterBefore);
    if (before) await registry.change(before.trainingId, { adopted: true });
    return await registry.change(trainingId, { adopted: false });
  }

  /** Removes the adapter of a training that was removed, unless another training can go back to it. */
  async forget(trainingId: string): Promise<void> {
    const adapter = this.#folder(trainingId);
    if (!this.#options.registry.list().some(({ adapterBefore }) => adapterBefore === adapter)) await rm(adapter, { recursive: true, force: true });
  }

  #folder(trainingId: string): string {
    return path.join(this.#options.adapters, trainingId);
  }

  async #plansWith(conductor: string, adapter: string | undefined): Promise<void> {
    const { changeWorkers, bundledConductor } = this.#options;
    await changeWorkers((file) => withAdapter(file, conductor, adapter, bundledConductor));
  }
}

/** The bundled Conductor is in workers.json only while it has an adapter. */
function withAdapter(file: WorkersFile, id: string, adapter: string | undefined, bundled: WorkerConfig | undefined): WorkersFile {
  const isMissing = bundled?.id === id && !file.workers.some((worker) => worker.id === id);
  const known = isMissing ? [...file.workers, bundled] : file.workers;
  const isNeedless = (worker: WorkerConfig): boolean => worker.id === id && adapter === undefined && isBundled(worker, bundled);
  const { conductor, ...rest } = file;
  const planner = known.some((worker) => isNeedless(worker) && worker.id === conductor) ? undefined : isMissing ? id : conductor;
  return {
    ...rest,
    ...(planner !== undefined && { conductor: planner }),
    workers: known.filter((worker) => !isNeedless(worker)).map((worker) => {
      if (worker.id !== id) return worker;
      const { adapter: _before, ...others } = worker;
      return adapter === undefined ? others : { ...others, adapter };
    }),
  };
}
