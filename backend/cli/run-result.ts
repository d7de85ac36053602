import type { Earlier } from '../protocol/earlier.ts';
import { mendOf } from '../protocol/plan-mend-words.ts';
import { answerOf, spentIn } from '../protocol/run-facts.ts';
import type { RoundView, RunSnapshot, Spent } from '../protocol/run-snapshot.ts';
import { servedIn } from '../protocol/served.ts';
import { totalTokens } from '../protocol/token-counts.ts';
import { isVerified } from '../protocol/verdict-facts.ts';

/**
 * The JSON output for a run. Users' scripts rely on it: fields are added, never renamed or removed. `schema` increases when the meaning
 * of a field changes.
 */
export function runResult(run: RunSnapshot) {
  const answer = answerOf(run);
  return {
    schema: 1,
    runId: run.runId,
    question: run.request.question,
    /** The pictures that came with it. */
    pictures: (run.request.pictures ?? []).map(({ type, width, height }) => ({ type, width, height })),
    /** The run that it continues from; null if it continues from none. */
    continues: run.request.continues ?? null,
    /** The conversation: its first run, its earlier runs, and what became of the change that it builds on. */
    earlier: run.earlier ? earlierResult(run.earlier) : null,
    workspace: run.request.workspace ?? null,
    state: run.state,
    outcome: run.outcome ?? null,
    asks: run.asks ?? null,
    verified: run.outcome === 'verified',
    message: run.message ?? null,
    failure: run.failure?.kind ?? null,
    /** True if any worker of the pool is simulated. */
    simulated: run.pool.some(({ simulated }) => simulated),
    conductor: run.policy.model,
    /** Who planned, what its server calls the adapter of a served Conductor, and why, with what a plan was expected to cost; `why` is null in runs of earlier versions. */
    planner: { id: run.policy.worker?.id ?? null, serves: servedIn(run.policy) ?? null, why: run.policy.choice?.why ?? null, estimate: run.policy.choice?.estimate ?? null },
    answer: answer ? { round: answer.round.index, text: answer.text, edits: answer.round.answer?.edits ?? [] } : null,
    verdict: answer?.round.verdict ?? null,
    context: run.context ? { tokens: run.context.tokens, pieces: run.context.pieces, leftOut: run.context.leftOut } : null,
    /** The number of plans to try; with more than one, each round is an attempt. */
    attempts: run.request.attempts,
    /** Whether a worker that costs nothing tried first, with what came of it; null where that was not asked for. */
    localFirst: localFirstResult(run),
    /** Of a verified run: what verified answers cost in this project on average, and how many there are. */
    verifiedCost: run.verifiedCost ?? null,
    rounds: run.rounds.map((round) => roundResult(run, round)),
    spent: {
      usd: dollars(run.spent),
      estimated: run.spent.estimated,
      unpricedTokens: run.spent.unpricedTokens,
      tokens: tokensOf(run.spent),
    },
    acceptedAt: new Date(run.acceptedAt).toISOString(),
    updatedAt: new Date(run.updatedAt).toISOString(),
  };
}

function earlierResult({ thread, exchanges, change }: Earlier) {
  return {
    thread,
    exchanges: exchanges.map(({ runId, question, state, outcome, isTold }) => ({ runId, question, state, outcome: outcome ?? null, told: isTold })),
    change: change ? { runId: change.runId, state: change.state, files: change.edits.map(({ path }) => path), reason: change.reason ?? null } : null,
  };
}

function localFirstResult({ request, rounds: [first], noTry, pool }: RunSnapshot) {
  if (!request.localFirst) return null;
  const tried = first?.localTry ? first : undefined;
  return {
    worker: (tried && pool[tried.steps[0]?.worker ?? -1]?.id) ?? null,
    verified: tried?.verdict ? isVerified(tried.verdict) : false,
    /** Why nobody tried. */
    omitted: noTry ?? null,
    /** How tries turned out in this project before. */
    record: tried?.localTry?.record ?? null,
  };
}

function roundResult(run: RunSnapshot, round: RoundView) {
  return {
    /** A worker that costs nothing tried the question in this round, before anybody was paid. */
    localTry: round.localTry !== undefined,
    plan: round.plan ?? null,
    planning: round.planSpent ? { usd: dollars(round.planSpent), tokens: tokensOf(round.planSpent), durationMs: round.planDurationMs ?? null } : null,
    /** Why another plan was carried out than was written, and what was changed; null where it was taken as it was written. */
    mended: round.planMended ? { message: mendOf(round), ...round.planMended } : null,
    /** What the plan was expected to cost when a person was shown it: `waiting` for the person, or `approved`; null where nobody was. */
    review: round.review ?? null,
    /** The plan as the Conductor wrote it, where a person changed it; null otherwise. */
    edited: round.planEdited ?? null,
    /** Plans that a person did not want, with what should be different. */
    discarded: (round.discarded ?? []).map(({ plan, wish }) => ({ plan, wish: wish ?? null })),
    kept: round.kept,
    rejections: round.rejections.map(({ reason, message }) => ({ reason, message })),
    steps: round.steps.map((step) => ({
      worker: run.pool[step.worker]?.id ?? null,
      subtask: step.subtask,
      reads: step.reads,
      state: step.state,
      output: step.output ?? null,
      usd: dollars(step.spent),
      unpricedTokens: step.spent.unpricedTokens,
      tokens: tokensOf(step.spent),
      durationMs: step.durationMs ?? null,
      failure: step.failure?.message ?? null,
      /** What the tests said of its change, where later steps read it beside others: counts, or why there are none. */
      tests: step.trial?.result ? { passed: step.trial.result.passed, failed: step.trial.result.failed, problem: step.trial.result.problem ?? null } : null,
      /** The workers that failed at the step before `worker` did it, the first one first. */
      handedOn: (step.handedOn ?? []).map(({ worker, failure }) => ({ worker: run.pool[worker]?.id ?? null, failure: failure.message })),
    })),
    verdict: round.verdict ?? null,
    usd: spentIn(round).usd,
    /** Why this attempt did not go on. */
    failure: round.failure?.message ?? null,
  };
}

/** Null if tokens were used and none of them has a price: unpriced is not free. */
function dollars({ usd, usage, unpricedTokens }: Spent): number | null {
  return unpricedTokens > 0 && unpricedTokens >= totalTokens(usage) ? null : usd;
}

function tokensOf({ usage: { uncachedInput, cacheRead, cacheWrite, output, reasoning } }: Spent) {
  return { uncachedInput, cacheRead, cacheWrite, output, reasoning };
}
