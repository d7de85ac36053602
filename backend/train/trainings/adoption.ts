import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { writeFolder } from '../../common/write-folder.ts';
import { isBundled } from '../../protocol/bundled-conductor.ts';
import type { Training } from '../../protocol/training.ts';
import { isTrained, type WorkerConfig, type WorkersFile } from '../../protocol/worker-config.ts';
import { isOutdated, OUTDATED, writeAdapterBase } from './adapter-base.ts';
import { learnedWith } from './frozen-outcomes.ts';
import { writeLearnedOutcomes } from './learned-outcomes.ts';
import { isStorageProblem, notSaved } from './storage-problem.ts';
import { TrainingRefusedError } from './training-error.ts';
import type { TrainingRunParts } from './training-parts.ts';
import type { TrainingRegistry } from './training-registry.ts';

export interface AdoptionOptions {
  readonly registry: TrainingRegistry;
  /** The folder (absolute) that holds what was adopted: adapters, and models whose weights were trained. */
  readonly adapters: string;
  readonly changeWorkers: (change: (file: WorkersFile) => WorkersFile) => Promise<unknown>;
  readonly bundledConductor?: WorkerConfig | undefined;
  readonly baseOf: TrainingRunParts['baseOf'];
  /** Has the server of a served Conductor have the adapter of this worker ready; by default no Conductor is served. @throws with a sentence for people */
  readonly rollOut?: ((worker: WorkerConfig) => Promise<void>) | undefined;
  /** Has that server forget adapters (folders) that nobody plans with any more; by default nothing is done. Never rejects. */
  readonly withdraw?: ((worker: WorkerConfig, adapters: readonly string[]) => Promise<void>) | undefined;
  readonly loadWorkers: () => Promise<WorkersFile>;
}

/** What a Conductor plans with beside its model. */
type Learned = Pick<WorkerConfig, 'adapter' | 'weights'>;

/** Has the Conductor plan with what was trained, and takes that back. */
export class Adoption {
  readonly #options: AdoptionOptions;

  constructor(options: AdoptionOptions) {
    this.#options = options;
  }

  /**
   * Keeps what the Conductor had before. A server has the new one ready before anything is changed.
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
        if (training.base !== undefined && training.config.train !== 'weights') await writeAdapterBase(staging, training.base);
        await rm(target, { recursive: true, force: true });
      });
    } catch (error) {
      throw isStorageProblem(error) ? notSaved(error) : error;
    }
    const learned: Learned = training.config.train === 'weights' ? { weights: target } : { ...beforeOf(training), adapter: target };
    await this.#rollOut(training.conductor, learned.adapter);
    const { changeWorkers, bundledConductor } = this.#options;
    let plannerBefore: string | undefined;
    let adapterBefore: string | undefined;
    await changeWorkers((file) => {
      plannerBefore = file.conductor;
      adapterBefore = file.workers.find(({ id }) => id === training.conductor)?.adapter;
      return withLearned(file, training.conductor, learned, bundledConductor);
    });
    for (const other of registry.list()) if (other.adopted && other.conductor === training.conductor) await registry.change(other.trainingId, { adopted: false });
    await this.#withdraw(training.conductor, adapterBefore);
    return await registry.change(trainingId, { adopted: true, plannerBefore: plannerBefore ?? null });
  }

  /**
   * Restores the adapter or weights that the Conductor had when the training started, and who planned when it was adopted. A server has that adapter ready
   * before anything is changed.
   * @throws TrainingRefusedError
   */
  async goBack(trainingId: string): Promise<Training> {
    const { registry } = this.#options;
    const training = registry.get(trainingId);
    if (!training.adopted) throw new TrainingRefusedError(`What the training "${trainingId}" made is not what the Conductor plans with.`);
    await this.#rollOut(training.conductor, training.adapterBefore);
    const { changeWorkers, bundledConductor } = this.#options;
    await changeWorkers((file) => withoutLearned(file, training, bundledConductor));
    const { adapter, weights } = beforeOf(training);
    const before = registry.list().find((other) => this.#folder(other.trainingId) === (adapter ?? weights));
    if (before) await registry.change(before.trainingId, { adopted: true });
    await this.#withdraw(training.conductor, this.#folder(trainingId));
    return await registry.change(trainingId, { adopted: false });
  }

  /** Removes what was adopted of a training that was removed, unless another training can go back to it, or a worker has it, as weights below an adapter or after a crash. */
  async forget(trainingId: string): Promise<void> {
    const { registry, loadWorkers } = this.#options;
    const folder = this.#folder(trainingId);
    const isBefore = registry.list().some(({ adapterBefore, weightsBefore }) => adapterBefore === folder || weightsBefore === folder);
    const isUsed = (await loadWorkers()).workers.some(({ adapter, weights }) => adapter === folder || weights === folder);
    if (!isBefore && !isUsed) await rm(folder, { recursive: true, force: true });
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

  /**
   * What a served Conductor planned with earlier leaves its server, but for the one just before: runs under way go on with it, and a person may go back. A run that
   * began still earlier has the server load its own again.
   */
  async #withdraw(id: string, before: string | undefined): Promise<void> {
    const { withdraw, loadWorkers, registry } = this.#options;
    const { workers } = await loadWorkers();
    const worker = workers.find((one) => one.id === id);
    if (!withdraw || !worker) return;
    const kept = new Set([before, ...workers.map(({ adapter }) => adapter)]);
    const earlier = registry.list().filter(({ conductor }) => conductor === id).map(({ trainingId }) => this.#folder(trainingId));
    await withdraw(worker, earlier.filter((adapter) => !kept.has(adapter)));
  }

  #folder(trainingId: string): string {
    return path.join(this.#options.adapters, trainingId);
  }
}

const beforeOf = ({ adapterBefore, weightsBefore }: Pick<Training, 'adapterBefore' | 'weightsBefore'>): Learned => ({
  ...(adapterBefore !== undefined && { adapter: adapterBefore }),
  ...(weightsBefore !== undefined && { weights: weightsBefore }),
});

/** The worker with this in place of what it had learned. */
function learnedBy(worker: WorkerConfig, learned: Learned): WorkerConfig {
  const { adapter: _adapter, weights: _weights, ...others } = worker;
  return { ...others, ...learned };
}

/** The trained model plans from now on. The bundled one is in workers.json only while it has learned something. */
function withLearned(file: WorkersFile, id: string, learned: Learned, bundled: WorkerConfig | undefined): WorkersFile {
  const isMissing = bundled?.id === id && !file.workers.some((worker) => worker.id === id);
  const workers = isMissing ? [...file.workers, bundled] : file.workers;
  return { ...file, conductor: id, workers: workers.map((worker) => (worker.id === id ? learnedBy(worker, learned) : worker)) };
}

/** The Conductor with what it had before the training. The bundled model that had learned nothing leaves workers.json. */
function withoutLearned(file: WorkersFile, training: Training, bundled: WorkerConfig | undefined): WorkersFile {
  const { conductor: id, plannerBefore = id } = training;
  const before = beforeOf(training);
  const isNeedless = (worker: WorkerConfig): boolean => worker.id === id && !isTrained(before) && isBundled(worker, bundled);
  const workers = file.workers.filter((worker) => !isNeedless(worker)).map((worker) => (worker.id === id ? learnedBy(worker, before) : worker));
  const { conductor, ...rest } = file;
  const planner = conductor === id ? plannerBefore : conductor;
  // The planner before may have been removed since.
  const isThere = planner === bundled?.id || workers.some((worker) => worker.id === planner);
  return { ...rest, ...(planner !== undefined && planner !== null && isThere && { conductor: planner }), workers };
}
