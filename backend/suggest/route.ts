import { createHash } from 'node:crypto';
import type { PoolEntry, PromptInput } from '../conductor/prompt-input.ts';
import { parsePlan } from '../conductor/parse-plan.ts';
import { planRequest } from '../conductor/plan-request.ts';
import type { Journal } from '../journal/journal.ts';
import type { SuggestRequest } from '../protocol/suggestions.ts';
import { runRequestSchema } from '../protocol/run-request.ts';
import { isTrained, type WorkerConfig, type WorkersFile } from '../protocol/worker-config.ts';
import type { WorkerRecord } from '../protocol/worker-record.ts';
import { castFor, type Cast, type CastSources } from '../solve/run-pool.ts';
import { recordBook, workerRecords } from '../records/worker-records.ts';
import { unlessAborted } from '../common/unless-aborted.ts';
import { fillsGaps } from '../workers/adapters/fill-in-templates.ts';
import { isFree } from '../workers/limits/is-free.ts';
import type { ModelReply, ModelRequest } from '../workers/model.ts';
import { acceptedMost } from './accepted-most.ts';
import type { OutcomesFile } from './outcomes-file.ts';
import type { RoutesFile } from './routes-file.ts';

/** A paid call of the Conductor's model. */
export type RoutingCall = (planner: WorkerConfig, request: ModelRequest, signal: AbortSignal) => Promise<ModelReply>;

export interface RoutesOptions {
  readonly file: RoutesFile;
  /** What was accepted so far. */
  readonly outcomes: Pick<OutcomesFile, 'in'>;
  /** What tests said of workers so far. */
  readonly journal: Pick<Journal, 'judgedSteps'>;
  readonly hasKey: (name: string) => Promise<boolean>;
  readonly priced: (worker: WorkerConfig) => WorkerConfig;
  readonly adapterVersion: CastSources['adapterVersion'];
  readonly bundledConductor?: WorkerConfig | undefined;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

type Place = Pick<SuggestRequest, 'workspace' | 'language'>;

/** A choice, under way or made. */
interface Choice {
  /** The part of workers.json that it depends on. */
  readonly workers: string;
  readonly promise: Promise<Chosen>;
  /** Set once the choice is made. */
  made?: Chosen;
}

interface Chosen {
  readonly worker: WorkerConfig;
  /** Those that could have been chosen. */
  readonly pool: readonly WorkerConfig[];
}

const TRIES = 2;
/** A plan of one step and why. */
const MAX_PLAN_TOKENS = 1_024;

/**
 * Chooses the worker that suggests in a language in a project. The Conductor plans once, and the worker of the plan's last step is taken.
 * The choice is stored and holds until the pool or the Conductor changes. What was accepted in the project overrules it, where enough was.
 */
export class Routes {
  readonly #options: RoutesOptions;
  readonly #choices = new Map<string, Choice>();

  constructor(options: RoutesOptions) {
    this.#options = options;
  }

  /**
   * @param call pays for planning; it continues when the caller's signal aborts, because the next request needs the choice, too
   * @throws RunError if no worker or no Conductor is available, or the signal's reason
   */
  async workerFor(
    place: Place, workers: WorkersFile, call: RoutingCall, { caller, end }: { caller: AbortSignal; end: AbortSignal },
  ): Promise<WorkerConfig> {
    const key = keyOf(place);
    const state = JSON.stringify([workers.conductor, workers.workers]);
    let choice = this.#choices.get(key);
    if (choice?.workers !== state) {
      choice = { workers: state, promise: this.#choose(place, workers, call, end) };
      this.#choices.set(key, choice);
      this.#keepUnlessFailed(key, choice);
    }
    const { worker, pool } = await unlessAborted(choice.promise, caller);
    return pool.length > 1 ? this.#accepted(place, { worker, pool }) : worker;
  }

  async #accepted(place: Place, { worker, pool }: Chosen): Promise<WorkerConfig> {
    const counts = await this.#options.outcomes.in(place);
    const best = acceptedMost(counts, { planned: worker.id, candidates: pool.map(({ id }) => id) });
    return pool.find(({ id }) => id === best) ?? worker;
  }

  /** Called when the worker could not be called: the next request chooses again and checks for its key. A newer choice stays. */
  forget(place: Place, worker: WorkerConfig): void {
    const key = keyOf(place);
    if (this.#choices.get(key)?.made?.pool.includes(worker)) this.#choices.delete(key);
  }

  /** While this choice was under way, workers.json may have changed and a newer choice may have taken its place. */
  #keepUnlessFailed(key: string, choice: Choice): void {
    choice.promise.then((made) => {
      choice.made = made;
    }, () => {
      if (this.#choices.get(key) === choice) this.#choices.delete(key);
    });
  }

  async #choose(place: Place, workers: WorkersFile, call: RoutingCall, signal: AbortSignal): Promise<Chosen> {
    const { file, hasKey, priced, bundledConductor, adapterVersion, now, log } = this.#options;
    const request = runRequestSchema.parse({ question: questionFor(place), workspace: place.workspace });
    const cast = await castFor(request, { file: withoutAgents(workers), hasKey, priced, bundledConductor, adapterVersion, isRouting: true });
    const [only, ...others] = cast.pool;
    if (only && others.length === 0) return { worker: only, pool: cast.pool };
    const pool = fingerprint(cast);
    const known = await file.find({ ...place, pool });
    const remembered = cast.pool.find(({ id }) => id === known?.worker);
    if (remembered) return { worker: remembered, pool: cast.pool };
    try {
      const worker = await this.#plan(request.question, { cast, records: this.#records(place, cast) }, call, signal);
      await file.add({ ...place, pool, worker: worker.id, plannedBy: cast.policy.model, at: now() });
      return { worker, pool: cast.pool };
    } catch (error) {
      signal.throwIfAborted();
      const worker = quickest(cast.pool);
      log(`The Conductor could not choose who suggests in ${place.language}, and "${worker.id}" does: ${String(error)}`);
      return { worker, pool: cast.pool };
    }
  }

  /** What tests said of the workers, as a Conductor is told that was not trained without it. */
  #records({ workspace }: Place, { pool, policy: { worker: planner }, recordsOff }: Cast): readonly WorkerRecord[] {
    return recordsOff || (planner && isTrained(planner)) ? [] : workerRecords(recordBook(this.#options.journal), { project: workspace }, pool);
  }

  async #plan(
    question: string, { cast, records }: { readonly cast: Cast; readonly records: readonly WorkerRecord[] }, call: RoutingCall, signal: AbortSignal,
  ): Promise<WorkerConfig> {
    const { pool, policy: { worker: planner } } = cast;
    // A cast that is not refused has a planner.
    if (!planner) throw new Error('No model plays the Conductor.');
    let rejection: PromptInput['rejection'];
    for (let number = 0; number < TRIES; number += 1) {
      const told = pool.map((worker) => ({ ...described(worker), record: records.find((record) => record.worker === worker.id) }));
      const input = { question, context: '', pool: told, rounds: [], rejection };
      const { text, finishReason } = await call(planner, planRequest(planner, input, { maxTokens: MAX_PLAN_TOKENS }), signal);
      const parsed = parsePlan(text, { workerCount: pool.length, round: 0, truncated: finishReason === 'length' });
      const worker = parsed.kind === 'plan' ? pool[parsed.plan.modelIds.at(-1) ?? -1] : undefined;
      if (worker) return worker;
      rejection = { text, message: parsed.kind === 'rejected' ? parsed.rejection.message : 'There is no answer to keep.' };
    }
    throw new Error(rejection?.message);
  }
}

function keyOf({ workspace, language }: Place): string {
  return JSON.stringify([workspace, language]);
}

function questionFor({ language }: Place): string {
  return (
    `Complete code in ${language} in this project while a programmer types it: the rest of a line, or a few lines, at the ` +
    'cursor, again and again. It has to be there within a second, so that speed counts first and then how well the code fits. One worker ' +
    'does it alone, in one step.'
  );
}

/** An agent takes a minute to begin, and completes nothing at a cursor. */
function withoutAgents({ conductor, ...file }: WorkersFile): WorkersFile {
  const workers = file.workers.filter(({ agent }) => agent === undefined);
  const isAgent = file.workers.some(({ id, agent }) => id === conductor && agent !== undefined);
  return { ...file, workers, ...(conductor !== undefined && !isAgent && { conductor }) };
}

/** What is known of a worker's speed, followed by the description in its settings. */
function described(worker: WorkerConfig): PoolEntry {
  const { model, price, description } = worker;
  const facts = [
    fillsGaps(model) && 'Made to fill gaps in code.',
    isFree(worker) && 'Runs on this machine.',
    price && `Costs $${price.outputPerMillion} for a million tokens.`,
    description,
  ];
  return { description: facts.filter(Boolean).join(' ') };
}

function fingerprint({ pool, policy: { worker, model, adapterVersion } }: Cast): string {
  const members = pool.map(({ id, provider, baseUrl, price, ...one }) =>
    [id, provider, one.model, baseUrl, one.description, price?.outputPerMillion]);
  return createHash('sha256').update(JSON.stringify([members, worker?.id, model, adapterVersion])).digest('hex').slice(0, 16);
}

/** The choice without a plan: first models made to fill gaps, then free ones, then cheap ones, because small models are fast. */
function quickest(pool: readonly WorkerConfig[]): WorkerConfig {
  const rank = (worker: WorkerConfig): number =>
    (fillsGaps(worker.model) ? 0 : 2) + (isFree(worker) && worker.provider !== 'local' ? 0 : 1);
  const price = (worker: WorkerConfig): number => worker.price?.outputPerMillion ?? Number.MAX_VALUE;
  return pool.toSorted((a, b) => rank(a) - rank(b) || price(a) - price(b))[0] as WorkerConfig;
}
