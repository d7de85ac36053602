import type { RunEventOf } from '../protocol/run-events.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { decodeShort } from './event-codec.ts';

/** A reply that was paid for in a run whose answer was judged: a step's output, or a turn before it. */
export interface JudgedReply {
  readonly runId: string;
  readonly round: number;
  readonly step: number;
  /** It was the try of a worker that costs nothing, and only its own verdict counts. */
  readonly isTry: boolean;
  readonly worker: Pick<WorkerConfig, 'id' | 'model'>;
  /** Whether the run's answer was verified; of a try, whether its own was. */
  readonly isVerified: boolean;
  /** Absent without a known price. */
  readonly usd?: number | undefined;
  readonly durationMs: number;
}

/** An event of a judged run, as it is stored. */
export interface JudgedRow {
  readonly run_id: string;
  readonly outcome: string;
  readonly body: string;
}

/**
 * The replies in runs, without their texts. Runs with a plan that a person changed are left out, unless the person let Conductor learn from
 * it. So is what cannot be read: it is told when its run is opened.
 * @param rows events in order, those of a run together
 */
export function repliesIn(rows: Iterable<JudgedRow>): JudgedReply[] {
  const replies: JudgedReply[] = [];
  const withheld = new Set<string>();
  let runId: string | undefined;
  let pool: RunEventOf<'run.accepted'>['pool'] = [];
  let plans: RunEventOf<'plan.proposed' | 'plan.edited'>[] = [];
  let handedOn: RunEventOf<'step.reassigned'>[] = [];
  let tried: number | undefined;
  const offered = new Map<string, number>();
  for (const { run_id, outcome, body } of rows) {
    if (run_id !== runId) [runId, pool, plans, handedOn, tried] = [run_id, [], [], [], undefined];
    const event = decodeShort(body);
    if (event?.type === 'run.accepted') pool = event.pool;
    if (event?.type === 'try.begun') tried = event.round;
    if (event?.type === 'run.completed') offered.set(run_id, event.round);
    if (event?.type === 'plan.proposed' || event?.type === 'plan.edited') plans.push(event);
    // The verdict is one of a plan that a person wrote, and the person did not let Conductor learn from it.
    if (event?.type === 'plan.edited' && !event.forTraining) withheld.add(run_id);
    if (event?.type === 'step.reassigned') handedOn.push(event);
    if (event?.type !== 'step.turned' && event?.type !== 'step.completed') continue;
    // A step that was kept from another run is counted there.
    if ('keptFrom' in event && event.keptFrom !== undefined) continue;
    // No reply: what it had when a person stopped it.
    if (event.type === 'step.completed' && event.finishReason === 'stopped') continue;
    const { round, step, cost: { usd }, durationMs } = event;
    const standIn = handedOn.findLast((one) => one.round === round && one.step === step)?.to;
    const worker = pool[standIn ?? plans.findLast((plan) => plan.round === round)?.steps[step]?.worker ?? -1];
    if (worker) replies.push({ runId, round, step, isTry: round === tried, worker, isVerified: outcome === 'verified', ...(usd !== undefined && { usd }), durationMs });
  }
  return replies.filter((reply) => !withheld.has(reply.runId))
    .map((reply) => (reply.isTry && offered.get(reply.runId) !== reply.round ? { ...reply, isVerified: false } : reply));
}
