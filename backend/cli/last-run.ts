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
