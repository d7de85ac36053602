import type { Plan } from '../../protocol/plan.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import type { RunSnapshot } from '../../protocol/run-snapshot.ts';
import type { RolloutOutcome } from '../grpo/reward.ts';

/** A plan that was carried out and judged in a run of the journal. The run has all texts; nothing of them is kept elsewhere. */
export interface Outcome {
  readonly runId: string;
  readonly round: number;
  /** When the run began, in milliseconds since 1970. */
  readonly at: number;
  /** The same for the same question in the same project. */
  readonly question: string;
  /** The kind of the question, as it was read; the same word for all that were not. */
  readonly kind: string;
  readonly judged: Extract<RolloutOutcome, { readonly kind: 'judged' }>;
  /** The local model that sampled the plan as it was carried out, where the journal has its tokens. */
  readonly sampledBy: string | undefined;
  readonly tokens: number;
  readonly durationMs: number;
}

/** Names an outcome for good. */
export const outcomeKey = ({ runId, round }: Pick<Outcome, 'runId' | 'round'>): string => `${runId}/${round}`;

/** The plan of a round in the ordinals of a pool; undefined where one of its workers is not in it. */
export function planInPool(plan: Plan, from: readonly WorkerConfig[], to: readonly WorkerConfig[]): Plan | undefined {
  const places = plan.modelIds.map((ordinal) => placeIn(to, from[ordinal]));
  return places.some((place) => place < 0) ? undefined : { ...plan, modelIds: places };
}

/** Another model of the same name is another worker. */
export const placeIn = (pool: readonly WorkerConfig[], worker: Pick<WorkerConfig, 'id' | 'model'> | undefined): number =>
  pool.findIndex(({ id, model }) => id === worker?.id && model === worker.model);

/** The project of a run, as it counts. */
export const projectOf = ({ request, countsAs }: Pick<RunSnapshot, 'request' | 'countsAs'>): string | undefined => countsAs?.project ?? request.workspace;
