import type { Journal } from '../journal/journal.ts';
import type { JudgedReply } from '../journal/judged-replies.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { WorkerRecord } from '../protocol/worker-record.ts';

/** Older runs say little about a model that its provider may have changed, and about code that has changed. */
const RUNS = 50;

/**
 * What workers did in a project so far, by the journal: in how many runs that the project's tests judged, and what their steps cost and took.
 * A run counts for every worker that did a step of it, because its verdict does not tell their shares apart; a local try counts as a run of its own. Counts are not shrunk: whoever
 * reads them sees how few they are. Without runs there is no record.
 * @param workspace absolute path, as runs are given it
 * @param workers with the models that they have now: what another model of the same name did is not theirs
 */
export function workerRecords(journal: Pick<Journal, 'judgedReplies'>, workspace: string, workers: readonly Pick<WorkerConfig, 'id' | 'model'>[]): WorkerRecord[] {
  const replies = journal.judgedReplies(workspace, RUNS);
  return workers.flatMap(({ id, model }) => {
    const own = replies.filter(({ worker }) => worker.id === id && worker.model === model);
    return own.length === 0 ? [] : [recordOf(id, own)];
  });
}

function recordOf(worker: string, replies: readonly JudgedReply[]): WorkerRecord {
  // What a worker did in a try does not count for what it did when others were paid, nor the other way round.
  const runs = new Map(replies.map(({ runId, isTry, isVerified }) => [JSON.stringify([runId, isTry]), isVerified]));
  // A step of several turns has several replies.
  const steps = new Set(replies.map(({ runId, round, step }) => JSON.stringify([runId, round, step]))).size;
  const costs = replies.flatMap(({ usd }) => usd ?? []);
  const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / steps;
  return {
    worker, runs: runs.size, verified: [...runs.values()].filter(Boolean).length, steps,
    ...(costs.length === replies.length && { usd: meanOf(costs) }),
    durationMs: meanOf(replies.map(({ durationMs }) => durationMs)),
  };
}
