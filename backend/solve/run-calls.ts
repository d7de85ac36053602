import { randomUUID } from 'node:crypto';
import type { AppendEffects } from '../journal/journal.ts';
import type { Failure, Purpose, RunEvent } from '../protocol/run-events.ts';
import { NO_USAGE, totalTokens } from '../protocol/token-counts.ts';
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
  readonly onReply: OnReply;
  /** Rounds whose plans the same call writes, in the order of the reply's other texts. The call is paid for in the round above. */
  readonly others?: readonly OtherRound[] | undefined;
}

export type OnReply = (attempt: Pick<Attempt, 'attemptId'>, reply: ModelReply, spent: AttemptSpent) => RunEvent;

export interface OtherRound {
  readonly round: number;
  readonly onReply: OnReply;
}

/** Of an attempt that another one pays for. */
const PAID_ELSEWHERE = { usage: NO_USAGE, cost: { usd: 0, estimated: false } } as const;
const NOT_WRITTEN: Failure = { kind: 'incomplete', message: 'The server wrote fewer plans at once than it was asked for; this one is asked for by itself.', retryable: true };

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
    const begun = { type: 'attempt.started' as const, purpose, worker, number, ...(context && { context }) };
    recorder.record(
      [
        { ...begun, round, attemptId, reserved: { ...reserved } },
        ...this.#others(attemptId).map((other) => ({ ...begun, ...other, reserved: { ...(reserved.usd !== undefined && { usd: 0 }), tokens: 0 } })),
      ],
      { reserve: () => (reservation = reserve()).id },
    );
    this.#attemptId = attemptId;
    return reservation as Reservation;
  }

  succeeded(attempt: Attempt, reply: ModelReply, spent: AttemptSpent): void {
    const { recorder, onReply, purpose, others = [] } = this.#place;
    const { durationMs } = spent;
    const rest = this.#others(attempt.attemptId).map(({ round, attemptId }, index): RunEvent => {
      const sample = reply.others?.[index];
      if (!sample) return { type: 'attempt.failed', round, purpose, attemptId, failure: NOT_WRITTEN, ...PAID_ELSEWHERE, durationMs };
      return (others[index] as OtherRound).onReply({ attemptId }, { ...reply, tokens: undefined, ...sample, others: undefined }, { ...PAID_ELSEWHERE, durationMs });
    });
    recorder.record([onReply(attempt, reply, spent), ...rest], settlementOf(attempt, spent));
  }

  failed(attempt: Attempt, failure: Failure, spent: AttemptSpent, retryInMs?: number): void {
    const { recorder, round, purpose } = this.#place;
    const { attemptId } = attempt;
    const failed = { type: 'attempt.failed' as const, purpose, failure, ...(retryInMs !== undefined && { retryInMs }) };
    const rest = this.#others(attemptId).map((other) => ({ ...failed, ...other, ...PAID_ELSEWHERE, durationMs: spent.durationMs }));
    recorder.record([{ ...failed, round, attemptId, ...spent }, ...rest], settlementOf(attempt, spent));
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

  /** The attempts of the other rounds at a call. */
  #others(attemptId: string): readonly { readonly round: number; readonly attemptId: string }[] {
    return (this.#place.others ?? []).map(({ round }) => ({ round, attemptId: `${attemptId}.${round}` }));
  }

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
