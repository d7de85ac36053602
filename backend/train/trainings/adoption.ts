import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { writeFolder } from '../../common/write-folder.ts';
import { isBundled } from '../../protocol/bundled-conductor.ts';
import type { Training } from '../../protocol/training.ts';
import type { WorkerConfig, WorkersFile } from '../../protocol/worker-config.ts';
import { isOutdated, OUTDATED, writeAdapterBase } from './adapter-base.ts';
import { learnedWith } from './frozen-outcomes.ts';
import { writeLearnedOutcomes } from './learned-outcomes.ts';
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
  /** Has the server of a served Conductor have the adapter of this worker ready; by default no Conductor is served. @throws with a sentence for people */
  readonly rollOut?: ((worker: WorkerConfig) => Promise<void>) | undefined;
  readonly loadWorkers: () => Promise<WorkersFile>;
}

/** Has the Conductor plan with what was trained, and takes that back. */
export class Adoption {
  readonly #options: AdoptionOptions;

  constructor(options: AdoptionOptions) {
    this.#options = options;
  }

  /**
   * Keeps the adapter that the Conductor had before. A server has the new one ready before anything is changed.
   * @throws TrainingRefusedError where it is not shown to be better, or the server does not take it
   */
  async adopt(trainingId: string): Promise<Training> {
    const { registry, baseOf } = this.#options;
    const training = registry.get(trainingId);
    if (training.learned === false) throw new TrainingRefusedError(training.message);
    if (training.learnsFrom === 'outcomes' && training.logged?.says !== 'better') {
      throw new TrainingRefusedError('Only what the newest outcomes show to be better can be adopted.');
    }
    if (training.state !== 'completed' || (!training.comparison && !training.logged)) {
      throw new TrainingRefusedError('Only what was compared on held-out tasks can be adopted: let the training run to its end.');
    }
    if (training.comparison && training.comparison.says !== 'better') {
      throw new TrainingRefusedError('Only what held-out tasks show to be better can be adopted.');
    }
    if (await isOutdated(training, baseOf)) throw new TrainingRefusedError(`What was trained cannot be adopted: ${OUTDATED}`);
    const target = this.#folder(trainingId);
    try {
      await writeFolder(target, async (staging) => {
        await cp(registry.folder(trainingId).version(training.step), staging, { recursive: true });
        const outcomes = await registry.folder(trainingId).outcomes();
        if (outcomes) await writeLearnedOutcomes(staging, learnedWith(outcomes));
        if (training.base !== undefined) await writeAdapterBase(staging, training.base);
        await rm(target, { recursive: true, force: true });
      });
    } catch (error) {
      throw isStorageProblem(error) ? notSaved(error) : error;
    }
    await this.#rollOut(training.conductor, target);
    const { changeWorkers, bundledConductor } = this.#options;
    let plannerBefore: string | undefined;
    await changeWorkers((file) => {
      plannerBefore = file.conductor;
      return withAdapter(file, training.conductor, target, bundledConductor);
    });
    for (const other of registry.list()) if (other.adopted && other.conductor === training.conductor) await registry.change(other.trainingId, { adopted: false });
    return await registry.change(trainingId, { adopted: true, plannerBefore: plannerBefore ?? null });
  }

  /**
   * Restores the adapter that the Conductor had when the training started, and who planned when it was adopted. A server has that adapter ready
   * before anything is changed.
   * @throws TrainingRefusedError
   */
  async goBack(trainingId: string): Promise<Training> {
    const { registry } = this.#options;
    const training = registry.get(trainingId);
    if (!training.adopted) throw new TrainingRefusedError(`What the training "${trainingId}" made is not what the Conductor plans with.`);
    await this.#rollOut(training.conductor, training.adapterBefore);
    const { changeWorkers, bundledConductor } = this.#options;
    await changeWorkers((file) => withoutAdapter(file, training, bundledConductor));
    const before = registry.list().find((other) => this.#folder(other.trainingId) === training.adapterBefore);
    if (before) await registry.change(before.trainingId, { adopted: true });
    return await registry.change(trainingId, { adopted: false });
  }

  /** Removes the adapter of a training that was removed, unless another training can go back to it. */
  async forget(trainingId: string): Promise<void> {
    const adapter = this.#folder(trainingId);
    if (!this.#options.registry.list().some(({ adapterBefore }) => adapterBefore === adapter)) await rm(adapter, { recursive: true, force: true });
  }

  /** @throws TrainingRefusedError where a server does not take the adapter; the Conductor then plans as before */
  async #rollOut(id: string, adapter: string | undefined): Promise<void> {
    const { rollOut, loadWorkers } = this.#options;
    const worker = (await loadWorkers()).workers.find((one) => one.id === id);
    if (!rollOut || !worker || adapter === undefined) return;
    try {
      await rollOut({ ...worker, adapter });
    } catch (error) {
      throw new TrainingRefusedError(`Nothing was changed, and "${id}" plans as before. ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #folder(trainingId: string): string {
    return path.join(this.#options.adapters, trainingId);
  }
}

/** The trained model plans from now on. The bundled one is in workers.json only while it has an adapter. */
function withAdapter(file: WorkersFile, id: string, adapter: string, bundled: WorkerConfig | undefined): WorkersFile {
  const isMissing = bundled?.id === id && !file.workers.some((worker) => worker.id === id);
  const workers = isMissing ? [...file.workers, bundled] : file.workers;
  return { ...file, conductor: id, workers: workers.map((worker) => (worker.id === id ? { ...worker, adapter } : worker)) };
}

/** The Conductor with the adapter before the training. The bundled model without an adapter leaves workers.json. */
function withoutAdapter(
  file: WorkersFile, { conductor: id, adapterBefore, plannerBefore = id }: Training, bundled: WorkerConfig | undefined,
): WorkersFile {
  const isNeedless = (worker: WorkerConfig): boolean => worker.id === id && adapterBefore === undefined && isBundled(worker, bundled);
  const workers = file.workers.filter((worker) => !isNeedless(worker)).map((worker) => {
    if (worker.id !== id) return worker;
    const { adapter: _before, ...others } = worker;
    return adapterBefore === undefined ? others : { ...others, adapter: adapterBefore };
  });
  const { conductor, ...rest } = file;
  const planner = conductor === id ? plannerBefore : conductor;
  // The planner before may have been removed since.
  const isThere = planner === bundled?.id || workers.some((worker) => worker.id === planner);
  return { ...rest, ...(planner !== undefined && planner !== null && isThere && { conductor: planner }), workers };
}
