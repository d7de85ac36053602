import type { AppendEffects } from '../journal/journal.ts';
import type { Purpose, RunEvent, RunEventOf, RunText, StoredEvent } from '../protocol/run-events.ts';
import { applyEvent, applyText, type RunSnapshot } from '../protocol/run-snapshot.ts';

/** How the journal takes a run's events: durable, and in one transaction with what they do to the budget. */
export type Append = (events: readonly RunEvent[], effects?: AppendEffects) => StoredEvent[];

export interface RecorderListener {
  onEvent(event: StoredEvent, run: RunSnapshot): void;
  onText(text: RunText): void;
}

/** Streamed text is handed on in pieces at most this often. */
const TEXT_INTERVAL_MS = 80;

interface Pending {
  readonly round: number;
  readonly purpose: Purpose;
  readonly attemptId: string;
  readonly offset: number;
  text: string;
}

/**
 * The one place where a run's state changes: events go to the journal first, then into the snapshot, then to whoever listens. Streamed
 * text is only shown, never journalled: an attempt that was cut short is made again.
 */
export class RunRecorder {
  readonly #append: Append;
  readonly #listener: RecorderListener;
  #snapshot: RunSnapshot;
  readonly #pending = new Map<string, Pending>();
  readonly #offsets = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  readonly #goneOn = new Set<() => void>();

  constructor(snapshot: RunSnapshot, append: Append, listener: RecorderListener) {
    this.#snapshot = snapshot;
    this.#append = append;
    this.#listener = listener;
  }

  /** With the text that is streaming at the moment. */
  get snapshot(): RunSnapshot {
    return this.#snapshot;
  }

  record(events: readonly RunEvent[], effects?: AppendEffects): void {
    this.flush();
    for (const stored of this.#append(events, effects)) {
      this.#snapshot = applyEvent(this.#snapshot, stored);
      this.#listener.onEvent(stored, this.#snapshot);
    }
    if (this.#snapshot.state === 'waiting') return;
    for (const resolve of this.#goneOn) resolve();
    this.#goneOn.clear();
  }

  /**
   * Notes that the run waits for somebody, unless that stands already. Resolves when something else in the run has gone on: a step
   * that runs beside the one that waits has then taken the note's place, and whoever still waits says so again.
   */
  waiting(reason: RunEventOf<'run.waiting'>['for'], message: string): Promise<void> {
    if (this.#snapshot.state !== 'waiting') this.record([{ type: 'run.waiting', for: reason, message }]);
    return new Promise((resolve) => this.#goneOn.add(resolve));
  }

  text(round: number, purpose: Purpose, attemptId: string, text: string): void {
    const pending = this.#pending.get(attemptId);
    if (pending) pending.text += text;
    else {
      const offset = this.#offsets.get(attemptId) ?? 0;
      this.#pending.set(attemptId, { round, purpose, attemptId, offset, text });
    }
    this.#timer ??= setTimeout(() => this.flush(), TEXT_INTERVAL_MS);
  }

  /** Hands on the text that has gathered. */
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
