import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';

export interface RunProgress {
  /** The run continues after the user has done what its message says. */
  readonly waiting: boolean;
  readonly phase: 'context' | 'plan' | 'steps' | 'tests';
  /** Ended steps (with any result) and all steps of the current round. */
  readonly done: number;
  readonly steps: number;
}

/** A short progress text; undefined when the run is over. */
export function runProgress(run: RunSnapshot): RunProgress | undefined {
  if (isOver(run.state)) return undefined;
  const round = run.rounds.at(-1);
  const steps = round?.steps ?? [];
  return {
    waiting: run.state === 'waiting',
    phase: phaseOf(run),
    done: steps.filter(({ state }) => state !== 'pending' && state !== 'running').length,
    steps: steps.length,
  };
}

function phaseOf({ context, rounds }: RunSnapshot): RunProgress['phase'] {
  const round = rounds.at(-1);
  if (round?.verifying) return 'tests';
  if (round && round.steps.length > 0) return 'steps';
  return context ? 'plan' : 'context';
}
