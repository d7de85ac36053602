import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installExtensions } from './vscode-server.ts';
import { INSTALLED_EXTENSIONS, packedVsix } from './workbench.ts';

/** Installs the packed extension once for all flows; each starts with a copy. */
export async function setup(): Promise<() => Promise<void>> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-extensions-')));
  process.env[INSTALLED_EXTENSIONS] = await installExtensions(folder, [packedVsix()]);
  return () => rm(folder, { recursive: true, force: true });
}
