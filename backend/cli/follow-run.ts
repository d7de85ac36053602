import type { BackendClient } from '../protocol/client/backend-client.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { StoredEvent } from '../protocol/run-events.ts';
import { applyEvent, snapshotOf } from '../protocol/fold-run.ts';
import { isOver, type RunSnapshot } from '../protocol/run-snapshot.ts';
import { heldPlan, type HeldPlan } from '../protocol/held-plan.ts';
import type { LocalModelStatus } from '../protocol/local-models.ts';
import type { Terminal } from './terminal.ts';

/** Is shown a run as it goes on, from its first event. */
export interface RunWatcher {
  begin(run: RunSnapshot): void;
  onEvent(event: StoredEvent, run: RunSnapshot): void;
  onModel(status: LocalModelStatus, run: RunSnapshot): void;
}

/** Asks a person about the plan that waits, and tells the backend, until the signal aborts because somebody else decided. */
export type DecideAboutPlan = (asked: {
  readonly plan: HeldPlan; readonly run: RunSnapshot; readonly client: BackendClient; readonly signal: AbortSignal;
}) => Promise<void>;

export interface FollowOptions {
  readonly runId: string;
  /** The connection on which the run was started. The caller closes it. */
  readonly client: BackendClient;
  /** Connects again with the same consent and keys. Starts the backend if it is not running. */
  readonly connect: () => Promise<BackendClient>;
  /** Is told of lost connections. */
  readonly terminal: Pick<Terminal, 'say'>;
  /** Absent where nobody can be asked about a plan that waits for a person: such a run is not followed further. */
  readonly decide?: DecideAboutPlan | undefined;
  /** Absent if no progress is to be shown. */
  readonly printer?: RunWatcher | undefined;
  /** The first Ctrl+C: cancels the run. It is followed until it has ended. */
  readonly interrupted: AbortSignal;
}

/** If the backend exits more often than this during one run, it is unlikely to finish the run. */
const MAX_RECONNECTIONS = 5;

/**
 * Follows a run until it ends or stops, or until its plan waits for a person and nobody can be asked here. If the backend exits before that, starts it again: it resumes the run from its journal, with the
 * keys of this client. Following continues after the last event received.
 * @throws Error if the connection closes too often or cannot be restored.
 */
export async function followRun({ client: first, connect, ...options }: FollowOptions): Promise<RunSnapshot> {
  const { runId, terminal } = options;
  const followed = new FollowedRun(options);
  let client = first;
  for (let reconnections = 0; ; reconnections += 1) {
    try {
      const run = await followed.follow(client);
      if (run) return run;
    } finally {
      if (client !== first) client.close();
    }
    const resume = `"conductor runs resume ${runId}" goes on with the run.`;
    if (reconnections === MAX_RECONNECTIONS) {
      throw new Error(`The connection to the backend closed ${reconnections + 1} times. This command stops following the run. ${resume}`);
    }
    terminal.say('The connection to the backend closed; connecting again.');
    client = await connect().catch((error: unknown) => {
      throw new Error(`${error instanceof Error ? error.message : String(error)} ${resume}`, { cause: error });
    });
  }
}

/** The state of the run from the events received so far, over all connections. */
class FollowedRun {
  readonly #runId: string;
  readonly #printer: RunWatcher | undefined;
  readonly #interrupted: AbortSignal;
  readonly #decide: DecideAboutPlan | undefined;
  #run: RunSnapshot | undefined;
  /** The question about the plan that waits. */
  #question: { readonly attemptId: string; readonly controller: AbortController } | undefined;

  constructor({ runId, printer, interrupted, decide }: Pick<FollowOptions, 'runId' | 'printer' | 'interrupted' | 'decide'>) {
    this.#runId = runId;
    this.#decide = decide;
    this.#printer = printer;
    this.#interrupted = interrupted;
  }

  /** @returns the run when it is over, or undefined if the connection closes before that. */
  async follow(client: BackendClient): Promise<RunSnapshot | undefined> {
    const runId = this.#runId;
    const over = Promise.withResolvers<RunSnapshot>();
    const early: StoredEvent[] = [];
    let caughtUp = false;
    const settle = (): void => {
      if (!this.#run) return;
      const plan = heldPlan(this.#run);
      if (isOver(this.#run.state) || (plan && !this.#decide)) over.resolve(this.#run);
      this.#ask(plan, client, over.reject);
    };
    const unsubscribe = client.on('run/event', (event) => {
      if (event.runId !== runId) return;
      if (!caughtUp) return void early.push(event);
      this.#take(event);
      settle();
    });
    const ignoreModels = client.on('model/status', (status) => { if (this.#run) this.#printer?.onModel(status, this.#run); });
    const cancel = (): void => void client.request('run/cancel', { runId }).catch(over.reject);
    try {
      // Events from before the subscription are read first; those received meanwhile come after them.
      await client.request('run/subscribe', { runId });
      const { events } = await client.request('run/events', { runId, afterSeq: this.#run?.seq ?? 0 });
      for (const event of [...events, ...early]) this.#take(event);
      caughtUp = true;
      // A resumed run was over before, so only the state after all these events counts.
      settle();
      this.#interrupted.addEventListener('abort', cancel, { once: true });
      if (this.#interrupted.aborted) cancel();
      return await Promise.race([over.promise, client.closed.then(() => undefined)]);
    } catch (error) {
      if (error instanceof RequestError && error.kind === 'disconnected') return undefined;
      throw error;
    } finally {
      this.#interrupted.removeEventListener('abort', cancel);
      this.#ask(undefined, client, () => {});
      unsubscribe();
      ignoreModels();
    }
  }

  /** Asks about the plan unless that is being done, and withdraws the question about another one. */
  #ask(plan: HeldPlan | undefined, client: BackendClient, onError: (error: unknown) => void): void {
    if (this.#question?.attemptId === plan?.attemptId) return;
    this.#question?.controller.abort(new Error('The plan does not wait any more.'));
    this.#question = undefined;
    if (!plan || !this.#run || !this.#decide) return;
    const controller = new AbortController();
    this.#question = { attemptId: plan.attemptId, controller };
    this.#decide({ plan, run: this.#run, client, signal: controller.signal })
      .catch((error: unknown) => { if (!controller.signal.aborted) onError(error); });
  }

  #take(event: StoredEvent): void {
    if (!this.#run) {
      this.#run = snapshotOf([event]);
      this.#printer?.begin(this.#run);
    } else if (event.seq > this.#run.seq) {
      this.#run = applyEvent(this.#run, event);
    } else {
      return;
    }
    this.#printer?.onEvent(event, this.#run);
  }
}
