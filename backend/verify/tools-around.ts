import { runnerOf, type Base, type BaseTestsParts } from './base-tests.ts';
import { readFiles } from './copies/held-files.ts';
import { surroundingsOf, type Surroundings } from './runners/surroundings.ts';
import type { TestCommand } from './runners/choose-runner.ts';
import type { CommandInCopy } from './runners/test-runner.ts';

/** See `Verifier.surroundings`. */
export async function toolsAround(
  { tools, python: pythonOf }: Pick<BaseTestsParts, 'tools' | 'python'>, options: Base & Partial<TestCommand> & { readonly signal: AbortSignal }, run: Pick<CommandInCopy, 'command' | 'copy' | 'tools'>,
): Promise<Surroundings> {
  const { base, installed = base, held, signal } = options;
  const python = await pythonOf?.(installed);
  const around = await surroundingsOf({ ...run, shown: run.copy, workspace: installed, python });
  const { command: tests } = options;
  const chosen = tests === undefined ? undefined : await runnerOf({ ...options, command: tests });
  if (!chosen) return around;
  const { runner, command } = chosen;
  const versions = await readFiles({ folder: base, held, signal }, (folder) => tools.choose({ runner, command, base: folder, installed, python, sandboxed: true, signal }));
  return {
    command: around.command,
    environment: { ...versions.environment, ...around.environment },
    programFolders: [...around.programFolders, ...versions.programFolders],
    readable: [...around.readable, ...versions.readable],
  };
}
