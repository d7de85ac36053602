import type { JSX } from 'preact';
import { answerOf, gaveUpIn, hasAttempts, heldRound } from '../backend/protocol/run-facts.ts';
import { isOver, type RoundView as Round, type RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { RunContext } from './plan/step-details.tsx';
import { RoundView } from './round-view.tsx';

/** The rounds of a run: one below the other, or side by side if their plans have room. */
export function RoundsView({ run }: { readonly run: RunSnapshot }): JSX.Element {
  const goesOn = !isOver(run.state);
  const attempts = hasAttempts(run);
  const held = heldRound(run);
  const offered = goesOn ? undefined : answerOf(run)?.round.index;
  return (
    <RunContext.Provider value={run}>
      <div class="rounds">
        {run.rounds.map((round, index) => {
          const next = run.rounds[index + 1];
          // By position: a state that came in a message has copies.
          const sent = run.contexts.findLastIndex((context) => context.round === round.index);
          return (
            <RoundView
              key={round.index} round={round} pool={run.pool} context={sent > 0 ? run.contexts[sent] : undefined} id={`${run.runId}/round-${round.index}`}
              runId={run.runId} isHeld={round === held}
              isAttempt={attempts}
              runGoesOn={goesOn && (attempts ? !round.verdict && !round.failure : !next)}
              isLast={attempts ? round.index === offered || isAtWork(round) : next === undefined}
              revised={attempts ? round.index !== offered && round !== held && !(goesOn && isAtWork(round)) : next !== undefined && run.answerRound !== round.index}
              gaveUp={gaveUpIn(run, round)}
              isOffered={round.index === offered}
              startedAt={index === 0 ? run.acceptedAt : (round.planAttempt?.startedAt ?? run.acceptedAt)}
              endedAt={next?.planAttempt?.startedAt ?? (goesOn ? undefined : run.updatedAt)}
            />
          );
        })}
      </div>
    </RunContext.Provider>
  );
}

/** Whether an attempt is the one that is being tried. */
function isAtWork({ steps, answer, verdict, failure }: Round): boolean {
  return !verdict && !failure && (answer !== undefined || steps.some(({ state }) => state === 'running' || state === 'completed'));
}
