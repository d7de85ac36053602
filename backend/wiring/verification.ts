import { homedir } from 'node:os';
import path from 'node:path';
import { userPath } from '../common/user-path.ts';
import type { BaseTestsParts } from '../verify/base-tests.ts';
import { isProcessAlive } from '../protocol/client/process-alive.ts';
import { CopyPool } from '../verify/copies/copy-pool.ts';
import { RunFolders } from '../verify/files/run-folder.ts';
import { runsRoot } from '../verify/files/runs-root.ts';
import { MemoryBaseRunCache } from '../verify/judge/base-run-cache.ts';
import { Containers } from '../verify/sandbox/container/containers.ts';
import { withInstalledPrograms } from '../verify/sandbox/installed-programs.ts';
import { Sandbox } from '../verify/sandbox/sandbox.ts';
import { Verifier } from '../verify/verify.ts';

/** The parts with which the backend and the command line verify changes. */
export interface VerificationParts {
  readonly verifier: Verifier;
  readonly sandbox: Sandbox;
  readonly containers: Containers;
  readonly folders: RunFolders;
  readonly copies: CopyPool;
  /** Where programs are searched. */
  readonly searchPath: string;
  close(): Promise<void>;
}

/** Folders that tests may read beyond the system, their toolchains and dependencies, as the person says: written like PATH. */
const readableFolders = (environment: NodeJS.ProcessEnv): readonly string[] =>
  (environment['CONDUCTOR_READABLE'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder) && path.resolve(folder) !== '/');

/**
 * @param home Conductor's own folder, hidden from tests. Folders left there by killed processes are removed.
 * @param python says which Python environment the person uses for a workspace
 */
export async function openVerificationParts(home: string, python?: BaseTestsParts['python']): Promise<VerificationParts> {
  const folders = new RunFolders(await runsRoot(home), isProcessAlive);
  await folders.sweep();
  const searchPath = withInstalledPrograms(userPath(process.env), homedir());
  const containers = new Containers({ searchPath, environment: process.env, isProcessAlive });
  const sandbox = new Sandbox({ searchPath, homeFolder: homedir(), hiddenFolders: [home], readableFolders: readableFolders(process.env), folders, containers });
  const copies = new CopyPool({ folders, withSecrets: process.env['CONDUCTOR_COPY_SECRETS'] === '1' });
  return {
    sandbox,
    containers,
    folders,
    copies,
    searchPath,
    verifier: new Verifier({ sandbox, folders, copies, baseRuns: new MemoryBaseRunCache(), python }),
    close: () => copies.close(),
  };
}
