import type { BackendNotifications, RunSummary } from '../protocol/methods.ts';
import type { RunText } from '../protocol/run-events.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { RunService } from '../solve/run-service.ts';
import type { z } from 'zod';
import { Subscriptions } from './subscriptions.ts';

export interface FeedOutput {
  notify<K extends keyof BackendNotifications & string>(method: K, params: z.output<BackendNotifications[K]>): void;
  /** Whether streamed text is skipped because the client is too slow. The finished step contains the whole output anyway. */
  readonly behind: boolean;
}

/** Sends one client the events of its subscribed runs, and to one that lists runs the summaries of all that change. */
export class RunFeed {
  readonly #runs: RunService;
  readonly #output: FeedOutput;
  readonly #subscriptions = new Subscriptions();
  readonly #stopListening: () => void;

  constructor(runs: RunService, output: FeedOutput, { listsRuns }: { readonly listsRuns: boolean }) {
    this.#runs = runs;
    this.#output = output;
    this.#stopListening = runs.listen({
      onEvent: (event) => this.#subscriptions.deliver(event.runId, () => output.notify('run/event', event), event.seq),
      onText: (text) => this.#subscriptions.deliver(text.runId, () => this.#sendText(text)),
      ...(listsRuns && { onChanged: (summary: RunSummary) => output.notify('run/changed', summary) }),
      onRemoved: (runId) => {
        this.#subscriptions.end(runId);
        if (listsRuns) output.notify('run/removed', { runId });
      },
    });
  }

  /**
   * Returns a snapshot of the run. Later events are sent after the reply with the snapshot, each once.
   * @throws RunNotFoundError
   */
  subscribe(runId: string, afterReply: (callback: () => void) => void): RunSnapshot {
    return this.#subscriptions.begin(runId, () => this.#runs.snapshot(runId), afterReply);
  }

  unsubscribe(runId: string): void {
    this.#subscriptions.end(runId);
  }

  close(): void {
    this.#stopListening();
    this.#subscriptions.clear();
  }

  #sendText(text: RunText): void {
    if (!this.#output.behind) this.#output.notify('run/text', text);
  }
}
