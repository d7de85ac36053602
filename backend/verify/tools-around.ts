import { runnerOf, type BaseTestsOptions, type BaseTestsParts } from './base-tests.ts';
import { readFiles } from './copies/held-files.ts';
import { surroundingsOf, type Surroundings } from './runners/surroundings.ts';
import type { CommandInCopy } from './runners/test-runner.ts';

/** See `Verifier.surroundings`. */
export async function toolsAround(
  { tools }: Pick<BaseTestsParts, 'tools'>, options: BaseTestsOptions, run: Pick<CommandInCopy, 'command' | 'copy' | 'tools'>,
): Promise<Surroundings> {
  const { base, installed = base, held, signal } = options;
  const around = await surroundingsOf({ ...run, shown: run.copy, workspace: installed });
  const chosen = await runnerOf(options);
  if (!chosen) return around;
  const { runner, command } = chosen;
  const versions = await readFiles({ folder: base, held, signal }, (folder) => tools.choose({ runner, command, base: folder, installed, sandboxed: true, signal }));
  return {
    command: around.command,
    environment: { ...versions.environment, ...around.environment },
    programFolders: [...around.programFolders, ...versions.programFolders],
    readable: [...around.readable, ...versions.readable],
  };
}
