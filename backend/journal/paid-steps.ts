import type { RunEventOf } from '../protocol/run-events.ts';
import { totalTokens } from '../protocol/token-counts.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { decodeShort } from './event-codec.ts';

/** A step that was done and paid for, with all its turns. */
export interface PaidStep {
  readonly worker: Pick<WorkerConfig, 'id' | 'model' | 'hands'>;
  /** Empty where it is too long to be an instruction of a few sentences. */
  readonly subtask: string;
  readonly tokens: number;
  /** Absent where the price of a turn was unknown. */
  readonly usd?: number | undefined;
}

/** An event of a run, as it is stored. */
export interface PaidRow {
  readonly run_id: string;
  readonly body: string;
}

interface Bill {
  readonly tokens: number;
  readonly usd: number | undefined;
}

/**
 * The steps that workers finished in runs. What cannot be read is left out: it is told when its run is opened.
 * @param rows events in order, those of a run together
 */
export function paidStepsIn(rows: Iterable<PaidRow>): PaidStep[] {
  const steps: PaidStep[] = [];
  let runId: string | undefined;
  let pool: RunEventOf<'run.accepted'>['pool'] = [];
  const planned = new Map<number, RunEventOf<'plan.proposed'>['steps']>();
  const open = new Map<string, Bill>();
  const standIns = new Map<string, number>();
  for (const { run_id, body } of rows) {
    if (run_id !== runId) {
      [runId, pool] = [run_id, []];
      for (const kept of [planned, open, standIns]) kept.clear();
    }
    const event = decodeShort(body);
    switch (event?.type) {
      case 'run.accepted':
        pool = event.pool;
        break;
      case 'plan.proposed':
      case 'plan.edited':
        planned.set(event.round, event.steps);
        break;
      case 'step.reassigned':
        standIns.set(placeOf(event), event.to);
        // The next worker begins anew.
        open.delete(placeOf(event));
        break;
      case 'step.turned':
        open.set(placeOf(event), withBill(open.get(placeOf(event)), event));
        break;
      case 'step.completed': {
        const place = placeOf(event);
        const bill = withBill(open.get(place), event);
        open.delete(place);
        const step = planned.get(event.round)?.[event.step];
        const worker = pool[standIns.get(place) ?? step?.worker ?? -1];
        // A step that was kept from another run is counted there, and one that a person stopped says little of a whole one.
        const isWhole = event.keptFrom === undefined && event.finishReason !== 'stopped';
        if (step && worker && isWhole) steps.push({ worker, subtask: step.subtask, tokens: bill.tokens, ...(bill.usd !== undefined && { usd: bill.usd }) });
        break;
      }
      default:
    }
  }
  return steps;
}

const placeOf = ({ round, step }: { readonly round: number; readonly step: number }): string => `${round}/${step}`;

function withBill(before: Bill = { tokens: 0, usd: 0 }, { usage, cost }: Pick<RunEventOf<'step.completed'>, 'usage' | 'cost'>): Bill {
  return { tokens: before.tokens + totalTokens(usage), usd: before.usd === undefined || cost.usd === undefined ? undefined : before.usd + cost.usd };
}
