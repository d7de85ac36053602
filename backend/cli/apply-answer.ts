import type { BackendClient } from '../protocol/client/backend-client.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import { writeChange } from './acp/write-change.ts';
import { printable, type Terminal } from './terminal.ts';

/** Writes the change of a finished run into its project, or takes it back. The paths that were written. @throws ChangeNotWrittenError */
export async function applyAnswer(
  { runId, request: { workspace } }: RunSnapshot, client: BackendClient, { terminal, takeBack = false }: { readonly terminal: Terminal; readonly takeBack?: boolean },
): Promise<string[]> {
  if (workspace === undefined) return [];
  const { edits, refused } = await client.request('run/edits', { runId, ...(takeBack && { takeBack }) });
  for (const { path, reason } of refused) terminal.say(printable(`${path} is left ${takeBack ? 'as it is' : 'out'}: ${reason}`));
  await writeChange(workspace, edits, {});
  return edits.map(({ path }) => path);
}
