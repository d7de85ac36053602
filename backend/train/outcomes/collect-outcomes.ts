import { setImmediate as nextTurn } from 'node:timers/promises';
import { judgementOf } from '../../journal/judged-steps.ts';
import { UnreadableRunError } from '../../journal/errors.ts';
import type { Journal } from '../../journal/journal.ts';
import { LEFT_OUT_REASONS, type LeftOutReason, type Outcomes } from '../../protocol/learning.ts';
import { isOver, type RoundView, type RunSnapshot } from '../../protocol/run-snapshot.ts';
import { totalTokens } from '../../protocol/token-counts.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { outcomeKey, planInPool, projectOf, type Outcome } from './outcome.ts';

export interface WantedOutcomes {
  /** Of this project alone (absolute path); undefined: of all. */
  readonly workspace: string | undefined;
  /** The workers on offer now. A plan is learned in their ordinals. */
  readonly pool: readonly WorkerConfig[];
  /** The outcomes that the Conductor has learned from, and the trainings whose own plans it has. */
  readonly known: { readonly outcomes: ReadonlySet<string>; readonly trainings: ReadonlySet<string> };
  readonly signal?: AbortSignal | undefined;
}

export interface CollectedOutcomes {
  /** Oldest first. */
  readonly outcomes: readonly Outcome[];
  readonly leftOut: Outcomes['leftOut'];
}

/**
 * The plans of the journal that were carried out and judged. Plans of the comparisons of trainings are none: their tasks are held out there.
 * Reading a run blocks, so other work gets its turn after each. @throws the signal's reason
 */
export async function collectOutcomes(journal: Pick<Journal, 'list' | 'snapshot' | 'judgedSteps'>, wanted: WantedOutcomes): Promise<CollectedOutcomes> {
  const remembered = new Set(journal.judgedSteps(Number.MAX_SAFE_INTEGER).map(outcomeKey));
  const outcomes: Outcome[] = [];
  const counts = new Map<LeftOutReason, number>();
  for (const { runId, state, simulated } of (['solve', 'rollout'] as const).flatMap((kind) => journal.list({ kind, limit: Number.MAX_SAFE_INTEGER }))) {
    if (!isOver(state)) continue;
    await nextTurn();
    wanted.signal?.throwIfAborted();
    const run = readRun(journal, runId);
    if (run === undefined) continue;
    if (run !== 'unreadable' && wanted.workspace !== undefined && projectOf(run) !== wanted.workspace) continue;
    const found: readonly (Outcome | LeftOutReason)[] = run === 'unreadable' ? ['unreadable'] : run.rounds.filter(isCarriedOut).map((round) =>
      outcomeOf(run, round, { ...wanted, simulated, remembered }));
    for (const one of found) {
      if (typeof one === 'string') counts.set(one, (counts.get(one) ?? 0) + 1);
      else outcomes.push(one);
    }
  }
  return {
    outcomes: outcomes.sort((a, b) => a.at - b.at || outcomeKey(a).localeCompare(outcomeKey(b))),
    leftOut: LEFT_OUT_REASONS.flatMap((reason) => (counts.has(reason) ? [{ reason, count: counts.get(reason) ?? 0 }] : [])),
  };
}

function readRun(journal: Pick<Journal, 'snapshot'>, runId: string): RunSnapshot | 'unreadable' | undefined {
  try {
    return journal.snapshot(runId);
  } catch (error) {
    if (error instanceof UnreadableRunError) return 'unreadable';
    throw error;
  }
}

const isCarriedOut = ({ plan, steps }: RoundView): boolean => plan !== undefined && steps.some(({ output }) => output !== undefined);

function outcomeOf(
  run: RunSnapshot, round: RoundView,
  { pool, known, simulated, remembered }: Pick<WantedOutcomes, 'pool' | 'known'> & { readonly simulated: boolean; readonly remembered: ReadonlySet<string> },
): Outcome | LeftOutReason {
  const key = { runId: run.runId, round: round.index };
  const judgement = judgementOf(round);
  if (!judgement) return 'no-verdict';
  if (simulated) return 'simulated';
  if (round.planEdited?.forTraining === false) return 'edited';
  if (round.steps.some(({ finishReason, stopped }) => finishReason === 'stopped' || stopped)) return 'stopped';
  if (round.planKeptFrom !== undefined || round.steps.some(({ keptFrom }) => keptFrom !== undefined)) return 'kept';
  // In a conversation with a worker by its name, its one step is no plan of anybody.
  if (round.localTry || (run.conversation && !round.planAttempt)) return 'unplanned';
  if (round.steps.some(({ handedOn = [] }) => handedOn.length > 0)) return 'stood-in';
  if (!remembered.has(outcomeKey(key))) return 'forgotten';
  const isOwn = run.kind === 'rollout' && run.parentId !== undefined && known.trainings.has(run.parentId);
  if (isOwn || known.outcomes.has(outcomeKey(key))) return 'learned';
  if (!round.plan || !planInPool(round.plan, run.pool, pool)) return 'worker-gone';
  const spent = round.steps.map((step) => step.spent);
  return {
    ...key,
    at: run.acceptedAt,
    question: JSON.stringify([projectOf(run), run.request.question]),
    kind: run.countsAs?.kind ?? run.asks?.kind ?? 'unclear',
    sampledBy: round.hasTokens && !round.planEdited ? run.policy.worker?.model : undefined,
    judged: {
      kind: 'judged', verified: judgement === 'verified', passes: judgement === 'passes', score: round.verdict?.score ?? 0,
      costUsd: spent.reduce((sum, { usd }) => sum + usd, 0),
    },
    tokens: spent.reduce((sum, { usage }) => sum + totalTokens(usage), 0),
    durationMs: round.steps.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0),
  };
}
