import type { RunSummary } from '../protocol/methods.ts';
import type { RunEvent, RunEventOf } from '../protocol/run-events.ts';
import { totalTokens } from '../protocol/token-counts.ts';

/** A row of the table `runs`: what the list of runs shows, without reading any event. */
export interface RunRow {
  readonly run_id: string;
  readonly kind: RunSummary['kind'];
  readonly workspace: string | null;
  readonly question: string;
  readonly parent: string | null;
  readonly task: string | null;
  readonly seed: number | null;
  readonly state: RunSummary['state'];
  readonly outcome: NonNullable<RunSummary['outcome']> | null;
  readonly accepted_at: number;
  readonly updated_at: number;
  readonly usd: number;
  readonly unpriced_tokens: number;
  readonly simulated: number;
  /** The first run of its conversation, if it is not the first. */
  readonly thread: string | null;
}

/** What further events change of a row. */
export type RunProgress = Pick<RunRow, 'state' | 'outcome' | 'updated_at' | 'usd' | 'unpriced_tokens'>;

/** The row of a run that begins. */
export function rowOf(runId: string, event: RunEventOf<'run.accepted'>, at: number): RunRow {
  return {
    run_id: runId,
    kind: event.kind,
    workspace: event.request.workspace ?? null,
    question: event.request.question,
    parent: event.parentId ?? null,
    task: event.taskId ?? null,
    seed: event.seed ?? null,
    state: 'running',
    outcome: null,
    accepted_at: at,
    updated_at: at,
    usd: 0,
    unpriced_tokens: 0,
    simulated: Number([...event.pool, event.policy.worker].some((worker) => worker?.simulated)),
    thread: event.earlier?.thread ?? null,
  };
}

/** The row after one more event. It agrees with the fold in `protocol/run-snapshot.ts`; a test holds the two together. */
export function rowAfter(row: RunProgress, event: RunEvent, at: number): RunProgress {
  const [usd, unpriced] = 'cost' in event ? [event.cost.usd ?? 0, event.cost.usd === undefined ? totalTokens(event.usage) : 0] : [0, 0];
  return { state: stateAfter(row, event), outcome: outcomeAfter(row, event), updated_at: at, usd: row.usd + usd, unpriced_tokens: row.unpriced_tokens + unpriced };
}

export function summaryOf(row: RunRow): RunSummary {
  return {
    runId: row.run_id,
    kind: row.kind,
    question: row.question,
    ...(row.thread !== null && { thread: row.thread }),
    ...(row.workspace !== null && { workspace: row.workspace }),
    state: row.state,
    ...(row.outcome !== null && { outcome: row.outcome }),
    acceptedAt: row.accepted_at,
    updatedAt: row.updated_at,
    usd: row.usd,
    unpricedTokens: row.unpriced_tokens,
    simulated: row.simulated === 1,
  };
}

function stateAfter({ state }: RunProgress, { type }: RunEvent): RunRow['state'] {
  switch (type) {
    case 'run.waiting':
    case 'plan.held':
    case 'verdict.held': return 'waiting';
    // The tests run beside everything else, so their events do not end a wait for a person.
    case 'base.started':
    case 'base.completed': return state;
    case 'run.stopped': return 'stopped';
    case 'run.completed': return 'completed';
    case 'run.failed': return 'failed';
    case 'run.cancelled': return 'cancelled';
    default: return 'running';
  }
}

function outcomeAfter(row: RunProgress, event: RunEvent): RunRow['outcome'] {
  if (event.type === 'run.completed') return event.outcome;
  return event.type === 'run.resumed' ? null : row.outcome;
}
