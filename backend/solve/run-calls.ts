import { randomUUID } from 'node:crypto';
import type { AppendEffects } from '../journal/journal.ts';
import type { Failure, Purpose, RunEvent } from '../protocol/run-events.ts';
import { totalTokens } from '../protocol/token-counts.ts';
import type { Attempt, AttemptLog, AttemptSpent, NextAttempt, Reservation } from '../workers/limits/ledger.ts';
import type { AgentAct, ModelReply } from '../workers/model.ts';
import type { RunRecorder } from './run-recorder.ts';

export interface CallPlace {
  readonly recorder: RunRecorder;
  readonly round: number;
  readonly purpose: Purpose;
  /** Position among the run's contexts of the one that is sent. */
  readonly context?: number | undefined;
  /** The event for a reply. It is committed in one transaction with the cost of the reply. */
  readonly onReply: (attempt: Pick<Attempt, 'attemptId'>, reply: ModelReply, spent: AttemptSpent) => RunEvent;
}

/** Writes the attempts of one call into the run's journal. */
export class RunAttemptLog implements AttemptLog {
  readonly #place: CallPlace;
  #attemptId: string | undefined;

  constructor(place: CallPlace) {
    this.#place = place;
  }

  get purpose(): Purpose {
    return this.#place.purpose;
  }

  get round(): number {
    return this.#place.round;
  }

  started({ attemptId, worker, number, reserved }: NextAttempt, reserve: () => Reservation): Reservation {
    const { recorder, round, purpose, context } = this.#place;
    let reservation: Reservation | undefined;
    recorder.record(
      [{ type: 'attempt.started', round, purpose, attemptId, worker, number, reserved: { ...reserved }, ...(context && { context }) }],
      { reserve: () => (reservation = reserve()).id },
    );
    this.#attemptId = attemptId;
    return reservation as Reservation;
  }

  succeeded(attempt: Attempt, reply: ModelReply, spent: AttemptSpent): void {
    this.#place.recorder.record([this.#place.onReply(attempt, reply, spent)], settlementOf(attempt, spent));
  }

  failed(attempt: Attempt, failure: Failure, spent: AttemptSpent, retryInMs?: number): void {
    const { recorder, round, purpose } = this.#place;
    const { attemptId } = attempt;
    recorder.record(
      [{ type: 'attempt.failed', round, purpose, attemptId, failure, ...spent, ...(retryInMs !== undefined && { retryInMs }) }],
      settlementOf(attempt, spent),
    );
  }

  /** Records a reply that needs no call, with what it cost when it was made. Nothing is charged. */
  remembered(reply: ModelReply, spent: AttemptSpent): void {
    const { recorder, onReply } = this.#place;
    recorder.record([onReply({ attemptId: randomUUID() }, reply, spent)]);
  }

  /** What an agent does in the latest attempt. */
  readonly onAct = ({ text, call, result }: AgentAct): void => {
    const { recorder, round, purpose } = this.#place;
    if (this.#attemptId === undefined || purpose.kind !== 'step') return;
    recorder.record([{ type: 'step.acted', round, step: purpose.step, during: this.#attemptId, text, call, result }]);
  };

  /** Streamed text belongs to the latest attempt. */
  readonly onText = (text: string): void => {
    const { recorder, round, purpose } = this.#place;
    if (this.#attemptId !== undefined) recorder.text(round, purpose, this.#attemptId, text);
  };
}

/** Where an agent does not say what it cost, what was set aside for it counts. For others one is known if the other is. */
function settlementOf({ reservation, reserved }: Attempt, { usage, cost }: AttemptSpent): AppendEffects {
  return { settle: [{ reservationId: reservation.id, usd: cost.usd ?? reserved.usd, tokens: totalTokens(usage) }] };
}
