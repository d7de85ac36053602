import type { AppendEffects } from '../journal/journal.ts';
import type { Purpose, RunEvent, RunEventOf, RunText, StoredEvent } from '../protocol/run-events.ts';
import { applyEvent, applyText } from '../protocol/fold-run.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';

/** Appends events to the journal, in one transaction with their effects on the budget. */
export type Append = (events: readonly RunEvent[], effects?: AppendEffects) => StoredEvent[];

export interface RecorderListener {
  /** Called for each event that is on disk. */
  onEvent(event: StoredEvent, run: RunSnapshot): void;
  onText(text: RunText): void;
  /** The last events did not get to the disk: the run has to be read from the journal again. */
  onLost?(error: unknown): void;
}

export interface RecorderJournal {
  readonly append: Append;
  /** Calls back when what was appended is on disk, or with an error when it never will be. Absent where it is so when `append` returns. */
  readonly whenOnDisk?: (told: (error?: unknown) => void) => void;
}

/** Streamed text is passed on at most this often. */
const TEXT_INTERVAL_MS = 80;

interface Pending {
  readonly round: number;
  readonly purpose: Purpose;
  readonly attemptId: string;
  readonly offset: number;
  text: string;
}

/**
 * The only place where a run's state changes: events go to the journal, then into the snapshot, and to the listener once they are on disk.
 * Streamed text is shown but not journalled, because an interrupted attempt is repeated.
 */
export class RunRecorder {
  readonly #journal: RecorderJournal;
  readonly #listener: RecorderListener;
  #snapshot: RunSnapshot;
  readonly #pending = new Map<string, Pending>();
  readonly #offsets = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  readonly #goneOn = new Set<() => void>();
  #lost: { readonly error: unknown } | undefined;

  constructor(snapshot: RunSnapshot, journal: RecorderJournal, listener: RecorderListener) {
    this.#snapshot = snapshot;
    this.#journal = journal;
    this.#listener = listener;
  }

  /** With the text that is streaming at the moment. */
  get snapshot(): RunSnapshot {
    return this.#snapshot;
  }

  /** @throws the journal's errors, of earlier events, too */
  record(events: readonly RunEvent[], effects?: AppendEffects): void {
    this.flush();
    if (this.#lost) throw this.#lost.error;
    const { append, whenOnDisk = (told) => told() } = this.#journal;
    const recorded = append(events, effects).map((stored) => ({ stored, run: (this.#snapshot = applyEvent(this.#snapshot, stored)) }));
    whenOnDisk((error) => {
      if (error === undefined) for (const { stored, run } of recorded) this.#listener.onEvent(stored, run);
      else if (!this.#lost) {
        this.#lost = { error };
        this.#listener.onLost?.(error);
      }
    });
    if (this.#snapshot.state === 'waiting') return;
    for (const resolve of this.#goneOn) resolve();
    this.#goneOn.clear();
  }

  /**
   * Records that the run waits for a person, unless it waits already. Resolves when the run is no longer marked as waiting, for example
   * because a parallel step went on: a caller that still waits then calls again.
   */
  waiting(reason: RunEventOf<'run.waiting'>['for'], message: string): Promise<void> {
    return this.wait({ type: 'run.waiting', for: reason, message });
  }

  /** As `waiting`, for an event that says more of what the run waits for. */
  wait(event: RunEventOf<'run.waiting' | 'plan.held' | 'verdict.held'>): Promise<void> {
    if (this.#snapshot.state !== 'waiting') this.record([event]);
    return new Promise((resolve) => this.#goneOn.add(resolve));
  }

  text(round: number, purpose: Purpose, attemptId: string, text: string): void {
    const pending = this.#pending.get(attemptId);
    if (pending) pending.text += text;
    else {
      const offset = this.#offsets.get(attemptId) ?? 0;
      this.#pending.set(attemptId, { round, purpose, attemptId, offset, text });
    }
    // The first text is not kept waiting.
    if (!this.#timer) this.#flushEachInterval();
  }

  #flushEachInterval(): void {
    const isIdle = this.#pending.size === 0;
    this.flush();
    if (!isIdle) this.#timer = setTimeout(() => this.#flushEachInterval(), TEXT_INTERVAL_MS);
  }

  /** Passes on the text that has accumulated. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const piece of this.#pending.values()) {
      const { attemptId, offset, text } = piece;
      this.#offsets.set(attemptId, offset + text.length);
      const runText: RunText = { runId: this.#snapshot.runId, ...piece };
      this.#snapshot = applyText(this.#snapshot, runText);
      this.#listener.onText(runText);
    }
    this.#pending.clear();
  }
}
