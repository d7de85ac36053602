import { answerOf } from '../../protocol/run-facts.ts';
import type { RunSnapshot } from '../../protocol/run-snapshot.ts';
import type { Rollout, WholeRollout } from '../../protocol/training.ts';
import { clip } from '../../common/clip.ts';
import { rewardOf, type RewardOptions } from '../grpo/reward.ts';
import type { RolloutProgress } from './rollout-runner.ts';

/* Rollouts as clients show them: as an entry of a list, and in full. */

const MAX_QUESTION = 120;
const MAX_SUBTASK = 160;
/** Of an invalid plan its end is shown: they all begin alike. */
const MAX_TEXT = 100;
/** Of the plan's text and of each worker's answer. */
const MAX_WHOLE_TEXT = 20_000;

/** A rollout as an entry of a list. Its reward does not include that of its revision. */
export function rolloutLine({ at, plan, run, outcome }: RolloutProgress, reward: RewardOptions): Rollout {
  const round = run.rounds[plan.revises?.length ?? 0];
  const earned = outcome && rewardOf(outcome, reward);
  return {
    runId: run.runId,
    place: at.place,
    sample: plan.sample,
    revises: plan.revises !== undefined,
    question: clip(run.request.question, MAX_QUESTION),
    steps: (round?.steps ?? []).map(({ worker, subtask }) => ({ worker: workerOf(run, worker), subtask: clip(subtask, MAX_SUBTASK) })),
    ...(round?.rejections.length && { text: endOf(plan.completion.text, MAX_TEXT) }),
    outcome: wordOf(outcome),
    ...(earned !== undefined && { reward: earned }),
    ...(outcome?.kind === 'judged' && { costUsd: outcome.costUsd }),
  };
}

/** A rollout in full: the plan with its reasoning, the workers' answers, and the verdict. */
export function wholeRollout(run: RunSnapshot): WholeRollout {
  const round = run.rounds[run.request.rounds - 1];
  const rejection = round?.rejections.at(-1);
  const verdict = answerOf({ ...run, answerRound: round?.index })?.round.verdict;
  const message = rejection?.message ?? verdict?.reason ?? run.message;
  return {
    runId: run.runId,
    question: clip(run.request.question, MAX_WHOLE_TEXT),
    text: clip(round?.planText ?? rejection?.text ?? '', MAX_WHOLE_TEXT),
    steps: (round?.steps ?? []).map(({ worker, subtask, reads, readsPreviousRound, state, output, failure, skippedBecause }) => {
      const problem = failure?.message ?? skippedBecause;
      return {
        worker: workerOf(run, worker),
        subtask,
        reads: [...reads],
        readsPreviousRound,
        state,
        ...(output !== undefined && { output: clip(output, MAX_WHOLE_TEXT) }),
        ...(problem !== undefined && { problem }),
      };
    }),
    ...(message !== undefined && { message }),
  };
}

const workerOf = ({ pool }: RunSnapshot, ordinal: number): string => pool[ordinal]?.id ?? String(ordinal);

function wordOf(outcome: RolloutProgress['outcome']): Rollout['outcome'] {
  switch (outcome?.kind) {
    case undefined:
      return 'running';
    case 'judged':
      return outcome.verified ? 'verified' : outcome.passes ? 'passes' : 'not-verified';
    case 'unparseable':
      return 'unparseable';
    case 'infrastructure':
      return 'unknown';
  }
}

const endOf = (text: string, most: number): string => (text.length > most ? `…${text.slice(1 - most)}` : text);
