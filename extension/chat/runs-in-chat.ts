import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { followRun, type FollowOptions } from '../runs/follow-run.ts';
import type { ChatParts } from './chat-parts.ts';

/** Follows a run that was begun in a chat. The panel shows it, unless it shows one that is still going on. */
export async function followInChat(
  { connection, subscriptions, runs, solve, onEvent }: ChatParts, follow: Pick<FollowOptions, 'runId' | 'signal' | 'onChange' | 'isEnd'>,
): Promise<RunSnapshot> {
  const { runId } = follow;
  if (!runs.run || isOver(runs.run.state)) await solve.show(runId);
  return followRun({
    ...follow, connection, subscriptions,
    onEvent: (event) => {
      if (runs.run?.runId !== runId) onEvent(event);
    },
  });
}
