import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { endServersIn, installExtensions } from './vscode-server.ts';
import { INSTALLED_EXTENSIONS, packedVsix } from './workbench.ts';

/** Installs the packed extension once for all flows. Their temporary files go with its folder, and the servers that they leave to one another end. */
export async function setup(): Promise<() => Promise<void>> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-flows-')));
  process.env[INSTALLED_EXTENSIONS] = await installExtensions(folder, [packedVsix()]);
  // The processes of the flows inherit it. They are ended before their browsers have removed what they keep.
  process.env['TMPDIR'] = folder;
  return async () => {
    await endServersIn(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
}
