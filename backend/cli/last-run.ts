import path from 'node:path';
import type { BackendClient } from '../protocol/client/backend-client.ts';
import type { RunState } from '../protocol/run-snapshot.ts';

/** What stands for the newest run of a project in the place of its id. */
export const LAST = 'last';

const MOST_SEARCHED = 50;

/** The newest run of a project, of those in such a state. */
export async function lastRun(client: BackendClient, workspace: string | undefined, isMeant: (state: RunState) => boolean = () => true): Promise<string | undefined> {
  const { runs } = await client.request('run/list', { ...(workspace !== undefined && { workspace }), limit: MOST_SEARCHED });
  return runs.find(({ state }) => isMeant(state))?.runId;
}

/** The newest run of the project in which a folder (absolute) lies: of the folder itself or, if it has none, of the nearest above it that has one. */
export async function lastRunAround(client: BackendClient, folder: string): Promise<string | undefined> {
  const last = await lastRun(client, folder);
  const above = path.dirname(folder);
  return last === undefined && above !== folder ? await lastRunAround(client, above) : last;
}
