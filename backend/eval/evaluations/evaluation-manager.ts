import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isFileSystemError } from '../../common/file-system-error.ts';
import { evaluationRequestSchema, type AskedEvaluation, type EvaluationBudget } from '../../protocol/evaluation-request.ts';
import type { EvaluationOffer, EvaluationSummary, EvaluationView, ListedSample, Sample, WholeSample } from '../../protocol/evaluations.ts';
import type { Simulation } from '../../protocol/simulation.ts';
import { UnusableProjectError } from '../../train/tasks/project-tasks.ts';
import { TaskFileError } from '../../verify/graders/tasks/task-file.ts';
import type { KeySource } from '../../workers/key-source.ts';
import { evaluationFolder, evaluationsFolder } from '../evaluation/evaluation-folder.ts';
import { isEvaluationHeld } from '../evaluation/evaluation-file.ts';
import { FILES } from '../evaluation/files.ts';
import { keepEvaluation, readKeptEvaluation, readQuestions, readSamples, samplesStamp, type KeptEvaluation } from '../evaluation/kept-evaluation.ts';
import { GoesOnLater, type EvaluationProgress } from '../evaluation/open-evaluation.ts';
import type { EvaluationRequest, OpenedEvaluation, WhilePreparing } from '../evaluation/request.ts';
import { EvaluationRequestError } from '../evaluation/request-error.ts';
import { simulationFor } from '../evaluation/simulation-for.ts';
import { removeEvaluation } from '../evaluation/remove-evaluation.ts';
import { listed, summaryOf, viewOf, whole, type Known } from './told.ts';

/** Keys for one evaluation. `patient`: it goes on after a restart, and waits for a client that has them. */
export type EvaluationKeys = (options: { readonly signal: AbortSignal; readonly patient: boolean; readonly onWaiting: (message: string | undefined) => void }) => KeySource;

export interface EvaluationManagerOptions {
  /** Conductor's own folder. */
  readonly home: string;
  readonly open: (request: EvaluationRequest, preparing: WhilePreparing & { readonly keys: KeySource }) => Promise<OpenedEvaluation>;
  readonly keys: EvaluationKeys;
  /** The simulation that runs. */
  readonly running: () => Simulation | undefined;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

export type EvaluationListener = (evaluation: EvaluationSummary) => void;
export type RemovalListener = (folder: string) => void;

/** What samples a client asks for. */
export interface SampleChoice {
  readonly contestant?: string | undefined;
  readonly verified?: boolean | undefined;
  readonly offset: number;
  readonly limit: number;
}

interface Active {
  kept: KeptEvaluation;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  progress: EvaluationProgress | undefined;
  waitsFor: string | undefined;
}

/** The shortest time between two messages. After each, a client reads the table again, and computing its intervals may take a small share of the time only. */
const TELL_EVERY_MS = 700;
const TIMES_A_READING = 15;

/** The evaluations of this process, and those that any process left in a folder. */
export class EvaluationManager {
  readonly #options: EvaluationManagerOptions;
  readonly #active = new Map<string, Active>();
  readonly #listeners = new Set<EvaluationListener>();
  readonly #removalListeners = new Set<RemovalListener>();
  readonly #removing = new Set<string>();
  readonly #toTell = new Map<string, NodeJS.Timeout>();
  /** The folder that was read last: a client that turns the pages of its samples asks for it again. */
  #read: { readonly folder: string; readonly stamp: string; readonly samples: readonly Sample[] } | undefined;
  #readingMs = 0;
  #isClosed = false;

  constructor(options: EvaluationManagerOptions) {
    this.#options = options;
  }

  get active(): number {
    return this.#active.size;
  }

  /** Called when an evaluation has changed. @returns a function that ends the subscription */
  listen(listener: EvaluationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  listenForRemovals(listener: RemovalListener): () => void {
    this.#removalListeners.add(listener);
    return () => this.#removalListeners.delete(listener);
  }

  /** Goes on with what an earlier backend had under way. */
  async goOn(): Promise<void> {
    for (const folder of await this.#folders()) {
      const kept = await readKeptEvaluation(folder);
      if (kept?.host !== 'backend' || kept.state !== 'running' || this.#active.has(folder) || isHeld(folder)) continue;
      this.#begin(folder, kept, true);
    }
  }

  /**
   * What an evaluation would cost; sends nothing. Tasks of a project are made for it, which takes minutes, and are kept.
   * @throws EvaluationRequestError, EvaluationFileError, and what reading or making tasks throws
   */
  async estimate(asked: AskedEvaluation, preparing: WhilePreparing): Promise<EvaluationOffer> {
    const request = this.#requestOf(asked);
    this.#refuseActive(request.folder);
    const keys = this.#options.keys({ signal: preparing.signal, patient: false, onWaiting: () => {} });
    const { evaluation, pool, tasks, close } = await this.#options.open(request, { ...preparing, keys }).catch((error: unknown) => {
      throw error instanceof TaskFileError || error instanceof UnusableProjectError || isFileSystemError(error) ? new EvaluationRequestError(error.message, { cause: error }) : error;
    });
    try {
      const { calls, usd, unpriced } = await evaluation.estimate(preparing.signal);
      const { spent } = evaluation;
      return {
        folder: request.folder, calls, usd, unpriced: [...unpriced], pool: [...pool], tasks: [...tasks], simulated: request.simulated,
        before: { calls: spent.calls, usd: spent.usd },
      };
    } finally {
      await close();
    }
  }

  /** Starts an evaluation, which goes on without a client. @throws EvaluationRequestError */
  start(asked: AskedEvaluation): { folder: string } {
    const { folder, simulation, ...request } = this.#requestOf(asked);
    this.#refuseActive(folder);
    this.#begin(folder, {
      version: 1, host: 'backend', startedAt: this.#options.now(), state: 'running',
      request: evaluationRequestSchema.parse(request), ...(simulation && { simulation }),
    }, false);
    return { folder };
  }

  /** Goes on with one that was stopped, that failed, or whose budget was spent. @throws EvaluationRequestError */
  async resume(folder: string, budget: EvaluationBudget | undefined): Promise<void> {
    this.#refuseActive(folder);
    const kept = await readKeptEvaluation(folder);
    if (!kept) throw noEvaluation(folder);
    refuseHeld(folder);
    this.#begin(folder, { ...kept, host: 'backend', state: 'running', request: { ...kept.request, ...(budget && { budget }) } }, false);
  }

  /** Resolves when it has ended. What was paid for is kept. */
  async stop(folder: string): Promise<void> {
    const active = this.#active.get(folder);
    active?.controller.abort(new Error('Stopped.'));
    await active?.ended;
  }

  /** Removes one that is not under way, with the answers that were paid for. @throws EvaluationRequestError, file system errors */
  async remove(folder: string): Promise<void> {
    this.#refuseActive(folder);
    this.#removing.add(folder);
    try {
      if (!(await readKeptEvaluation(folder))) throw noEvaluation(folder);
      refuseHeld(folder);
      await removeEvaluation(folder, this.#options.home);
    } finally {
      this.#removing.delete(folder);
    }
    for (const onRemoved of this.#removalListeners) onRemoved(folder);
  }

  /** Newest first. An evaluation whose folder is outside of Conductor's own is listed only while this process runs it. */
  async list(): Promise<EvaluationSummary[]> {
    const folders = new Set([...this.#active.keys(), ...(await this.#folders())]);
    const known = await Promise.all([...folders].map((folder) => this.#known(folder)));
    return known.filter((one) => one !== undefined).map(summaryOf).sort((a, b) => b.startedAt - a.startedAt);
  }

  /** @param folder any folder of an evaluation, absolute. @throws EvaluationRequestError */
  async get(folder: string): Promise<EvaluationView> {
    const known = await this.#known(folder);
    if (!known) throw noEvaluation(folder);
    const page = path.join(folder, FILES.page);
    const isThere = known.state === 'over' && (await stat(page).catch(() => undefined))?.isFile();
    const samples = await this.#samples(folder);
    const begun = performance.now();
    const view = viewOf(known, samples, isThere ? page : undefined);
    this.#readingMs = performance.now() - begun;
    return view;
  }

  /** In the order of seeds, tasks and contestants once all are judged; before, as they come. */
  async samples(folder: string, { contestant, verified, offset, limit }: SampleChoice): Promise<{ samples: ListedSample[]; all: number }> {
    const chosen = (await this.#samples(folder)).filter((sample) =>
      (contestant === undefined || sample.contestant === contestant) && (verified === undefined || sample.verified === verified));
    return { samples: chosen.slice(offset, offset + limit).map(listed), all: chosen.length };
  }

  /** One sample with all that was said. @throws EvaluationRequestError */
  async sample(folder: string, { contestant, task, seed }: Pick<Sample, 'contestant' | 'task' | 'seed'>): Promise<WholeSample> {
    const found = (await this.#samples(folder)).find((sample) => sample.contestant === contestant && sample.task === task && sample.seed === seed);
    if (!found) throw new EvaluationRequestError(`The answer of "${contestant}" to "${task}" is not in this evaluation.`);
    return whole(found, (await readQuestions(folder)).get(task));
  }

  /** The next backend goes on with what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#toTell.values()) clearTimeout(timer);
    const all = [...this.#active.values()];
    for (const { controller } of all) controller.abort(new GoesOnLater('The backend ends.'));
    await Promise.all(all.map(({ ended }) => ended));
  }

  #requestOf(asked: AskedEvaluation): EvaluationRequest {
    const simulation = simulationFor(asked, this.#options.running());
    return { ...asked, ...(simulation && { simulated: true, simulation }), folder: evaluationFolder(this.#options.home, asked, simulation) };
  }

  #refuseActive(folder: string): void {
    if (this.#active.has(folder)) throw new EvaluationRequestError('An evaluation of these tasks is under way: open it, or stop it first.');
    if (this.#removing.has(folder)) throw new EvaluationRequestError('This evaluation is being removed.');
  }

  #begin(folder: string, kept: KeptEvaluation, patient: boolean): void {
    const controller = new AbortController();
    const ended = Promise.withResolvers<void>();
    const active: Active = { kept, controller, ended: ended.promise, progress: undefined, waitsFor: undefined };
    this.#active.set(folder, active);
    this.#tell(folder);
    this.#run(folder, active, patient).catch((error: unknown) => this.#options.log(`An evaluation's end could not be kept: ${String(error)}`)).finally(() => {
      this.#active.delete(folder);
      this.#tell(folder);
      ended.resolve();
    });
  }

  async #run(folder: string, active: Active, patient: boolean): Promise<void> {
    const { signal } = active.controller;
    const { request, simulation } = active.kept;
    let opened: OpenedEvaluation | undefined;
    try {
      await keepEvaluation(folder, active.kept);
      const keys = this.#options.keys({
        signal, patient,
        onWaiting: (message) => {
          active.waitsFor = message;
          this.#tell(folder);
        },
      });
      opened = await this.#options.open({ ...request, folder, ...(simulation && { simulation: this.#runningAs(simulation) }) }, { signal, keys });
      await opened.evaluation.run(signal, (progress) => {
        active.progress = progress;
        this.#tell(folder);
      });
    } catch (error) {
      // Once it is open, the evaluation itself keeps why it ended.
      if (signal.reason instanceof GoesOnLater || opened) return;
      const message = error instanceof Error ? error.message : String(error);
      await keepEvaluation(folder, { ...active.kept, ...(signal.aborted ? { state: 'stopped' } : { state: 'failed', message }) });
    } finally {
      await opened?.close();
    }
  }

  /** The same workers may have another address by now. @throws EvaluationRequestError */
  #runningAs(simulation: Simulation): Simulation {
    const running = this.#options.running();
    if (running?.seed === simulation.seed) return running;
    throw new EvaluationRequestError(`This evaluation is with simulated workers of seed ${simulation.seed}, which have ended: start that simulation again, then go on.`);
  }

  async #known(folder: string): Promise<Known | undefined> {
    const active = this.#active.get(folder);
    const kept = (await readKeptEvaluation(folder)) ?? active?.kept;
    if (!kept) return undefined;
    const now = this.#active.get(folder);
    if (now) {
      const { progress, waitsFor } = now;
      const state = waitsFor !== undefined ? 'waiting' : progress ? 'running' : 'preparing';
      return { folder, kept, state, message: waitsFor, progress, judged: progress?.isPractice === false ? progress.samples.length : 0 };
    }
    if (kept.state !== 'running') return { folder, kept, state: kept.state, message: kept.message, judged: kept.judged ?? 0 };
    return { folder, kept, state: isHeld(folder) ? 'elsewhere' : 'stopped', judged: (await this.#samples(folder)).length };
  }

  async #samples(folder: string): Promise<readonly Sample[]> {
    const progress = this.#active.get(folder)?.progress;
    if (progress && !progress.isPractice) return [...progress.samples];
    const stamp = await samplesStamp(folder);
    if (this.#read?.folder === folder && this.#read.stamp === stamp) return this.#read.samples;
    const samples = await readSamples(folder);
    this.#read = { folder, stamp, samples };
    return samples;
  }

  async #folders(): Promise<string[]> {
    const root = evaluationsFolder(this.#options.home);
    const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => path.join(root, name));
  }

  /** Tells the listeners soon, once for all changes until then. */
  #tell(folder: string): void {
    if (this.#isClosed || this.#toTell.has(folder)) return;
    this.#toTell.set(folder, setTimeout(() => {
      this.#toTell.delete(folder);
      this.#known(folder).then((known) => {
        if (known) for (const listener of this.#listeners) listener(summaryOf(known));
      }).catch((error: unknown) => this.#options.log(`An evaluation could not be read: ${String(error)}`));
    }, Math.max(TELL_EVERY_MS, TIMES_A_READING * this.#readingMs)));
  }
}

const isHeld = (folder: string): boolean => isEvaluationHeld(path.join(folder, FILES.answers));

/** @throws EvaluationRequestError */
function refuseHeld(folder: string): void {
  if (isHeld(folder)) throw new EvaluationRequestError('Another process is at work on this evaluation: wait for it, or stop it there.');
}

const noEvaluation = (folder: string): EvaluationRequestError => new EvaluationRequestError(`There is no evaluation in ${folder} that this version can read.`);
