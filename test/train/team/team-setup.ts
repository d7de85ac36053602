import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Journal } from '../../../backend/journal/journal.ts';
import { readGeometry } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { openTokenizer } from '../../../backend/lm/tokenizer/tokenizer.ts';
import { teamKeys } from '../../../backend/protocol/client/team-keys.ts';
import { isTrainingOver } from '../../../backend/protocol/training-facts.ts';
import { type Training, trainingConfigSchema } from '../../../backend/protocol/training.ts';
import { workersFileSchema } from '../../../backend/protocol/worker-config.ts';
import { TrainingManager } from '../../../backend/train/trainings/training-manager.ts';
import { WorkerCaller } from '../../../backend/workers/call-worker.ts';
import { delay } from '../../../backend/workers/limits/delay.ts';
import { loadPrices } from '../../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../../backend/workers/limits/provider-limits.ts';
import { type ScriptedAnswer, type ScriptedRequest, ScriptedServer } from '../../support/scripted-server.ts';
import { unequalAnswer, unequalWorkers } from '../../support/unequal-workers.ts';
import { adapterArchive } from '../remote/adapter-archive.ts';
import { SimulatedTinker } from '../remote/simulated-tinker.ts';
import { writeSmallQwen3 } from '../remote/small-qwen3.ts';

/*
 * Machines of a team in one process, each with a home, a project, a journal and workers of its own, against one simulated training server. The server writes a plan
 * for the right worker or for the wrong one, as the seed says, so that groups have something to teach.
 */

const planFor = (worker: number): string => `model_id = [${worker}]\nsubtasks = ["Solve the user question."]\naccess_list = [[]]`;

/** A simulated server for the small model, which is written into `model` (absolute). */
export async function startTinker(model: string): Promise<SimulatedTinker> {
  await writeSmallQwen3(model);
  const tokenizer = await openTokenizer(model);
  const plans = [0, 1].map((worker) => [...tokenizer.encode(planFor(worker), { specialTokens: 'plain' }), tokenizer.stopTokenIds[0]!]);
  return await SimulatedTinker.start({ speaks: 'protobuf', places: 8, tokens: ({ seed }) => plans[seed % 2]!, archive: await adapterArchive(await readGeometry(model), path.join(path.dirname(model), 'adapter')) });
}

export interface MachineOptions {
  /** Absolute, as all paths. */
  readonly folder: string;
  readonly model: string;
  readonly keys?: Readonly<Record<string, string>>;
}

/** One machine, whose backend can end and begin again. */
export class Machine {
  readonly home: string;
  readonly workspace: string;
  /** What its workers say. */
  script: (request: ScriptedRequest) => ScriptedAnswer = unequalAnswer;
  readonly #workers: ScriptedServer;
  readonly #options: MachineOptions;
  #manager: TrainingManager | undefined;
  #journal: Journal | undefined;

  private constructor(options: MachineOptions, workers: ScriptedServer) {
    this.#options = options;
    this.#workers = workers;
    this.home = path.join(options.folder, 'home');
    this.workspace = path.join(options.folder, 'project');
  }

  static async start(options: MachineOptions): Promise<Machine> {
    const machine: Machine = new Machine(options, await ScriptedServer.start((request) => machine.script(request)));
    await Promise.all([machine.home, machine.workspace].map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
    const tasks = Array.from({ length: 6 }, (_, index) => JSON.stringify({ id: `t${index}`, question: `What is ${index}?`, grader: { kind: 'exact', answer: String(index) } }));
    await writeFile(path.join(machine.workspace, 'conductor.tasks.jsonl'), tasks.join('\n'));
    await machine.begin();
    return machine;
  }

  get manager(): TrainingManager {
    if (!this.#manager) throw new Error('This machine is off.');
    return this.#manager;
  }

  get journal(): Journal {
    if (!this.#journal) throw new Error('This machine is off.');
    return this.#journal;
  }

  async begin(): Promise<void> {
    const { model, keys = {} } = this.#options;
    const journal = Journal.open(path.join(this.home, 'journal.sqlite'));
    const prices = await loadPrices();
    const none = (): Promise<never> => Promise.reject(new Error('no project'));
    const workers = workersFileSchema.parse({
      version: 1, conductor: 'small', workers: [{ id: 'small', provider: 'local', model: 'small', promptProfile: 'mini', enabled: false }, ...unequalWorkers(this.#workers.baseUrl)],
    });
    this.#journal = journal;
    this.#manager = new TrainingManager({
      trainings: path.join(this.home, 'trainings'), adapters: path.join(this.home, 'adapters'),
      parts: {
        journal, prices, delay, now: Date.now, teamKeys: teamKeys(this.home),
        caller: new WorkerCaller({ limits: new ProviderLimits(), prices }),
        verifier: { verify: none, onBase: none, notices: none, testBase: none, tryTests: none }, gatherContext: none,
        sandboxAvailability: async () => ({ available: true }), findTestCommands: async () => [], runnerOf: async () => 'exit-code',
        modelFolder: async () => model, openModel: () => Promise.reject(new Error('no model runs here')),
        weightsTraining: () => Promise.reject(new Error('no model runs here')),
        graderTools: { programs: { run: () => Promise.reject(new Error('no program')) }, comparer: { same: () => Promise.reject(new Error('no mathematics')) } },
      },
      clients: { secret: async (name) => keys[name] ?? null, confirm: async () => undefined, model: none, changed: () => new Promise(() => {}) },
      loadWorkers: async () => workers, changeWorkers: none, priced: (worker) => worker, log: () => {},
    });
    await this.#manager.open();
  }

  /** Its backend ends in the middle of whatever it does. */
  async end(): Promise<void> {
    await this.#manager?.close();
    this.#journal?.close();
    [this.#manager, this.#journal] = [undefined, undefined];
  }

  async close(): Promise<void> {
    await this.end();
    await this.#workers.close();
  }

  /** How often its workers were asked. */
  get asked(): number {
    return this.#workers.requests.length;
  }

  /** The training when this is so. */
  async until(id: string, isSo: (training: Training) => boolean): Promise<Training> {
    const there = Promise.withResolvers<Training>();
    const look = (training: Training): void => {
      if (training.trainingId === id && isSo(training)) there.resolve(training);
    };
    const stop = this.manager.listen(look);
    look(this.manager.get(id));
    return await there.promise.finally(stop);
  }

  async over(id: string): Promise<Training> {
    await this.until(id, ({ state }) => isTrainingOver(state) || state === 'paused');
    while (this.manager.active > 0) await new Promise(setImmediate);
    return this.manager.get(id);
  }
}

/** Settings of a training of two groups of four plans a step. */
export const settings = (url: string, more: Readonly<Record<string, unknown>> = {}) => trainingConfigSchema.parse({
  engine: { kind: 'remote', url, model: 'small' }, tasks: { project: false, heldOut: 0.4 }, steps: 2, tasksPerStep: 2, groupSize: 4, maxTokens: 64,
  carriedOut: 16_384, evaluation: { samples: 1, onTheWay: 0 }, ...more,
});
