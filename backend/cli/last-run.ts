import path from 'node:path';
import type { BackendClient } from '../protocol/client/backend-client.ts';
import { isOver, type RunState } from '../protocol/run-snapshot.ts';

/** What stands for the newest run of a project in the place of its id. */
export const LAST = 'last';

const MOST_SEARCHED = 50;

/** The newest run of a project, of those in such a state. */
export async function lastRun(client: BackendClient, workspace: string | undefined, isMeant: (state: RunState) => boolean = () => true): Promise<string | undefined> {
  const { runs } = await client.request('run/list', { ...(workspace !== undefined && { workspace }), limit: MOST_SEARCHED });
  return runs.find(({ state }) => isMeant(state))?.runId;
}

/**
 * The newest run of a project that came to an answer, or, if none has, the newest that is over: what a person means by `last` who applies it, takes
 * it back or goes on from it. A run that was cancelled has nothing of that.
 */
export async function lastAnswered(client: BackendClient, workspace: string | undefined): Promise<string | undefined> {
  return (await lastRun(client, workspace, (state) => state === 'completed')) ?? (await lastRun(client, workspace, isOver));
}

/** The newest run of the project in which a folder (absolute) lies: of the folder itself or, if it has none, of the nearest above it that has one. */
export async function lastRunAround(client: BackendClient, folder: string, find: typeof lastAnswered = lastRun): Promise<string | undefined> {
  const last = await find(client, folder);
  const above = path.dirname(folder);
  return last === undefined && above !== folder ? await lastRunAround(client, above, find) : last;
}
