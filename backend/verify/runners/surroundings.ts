import { binFolders } from './javascript-project.ts';
import { environmentOf, pythonEnvironment } from './python-environment.ts';
import type { CommandInCopy, PreparedRun } from './test-runner.ts';
import { ReportError } from './test-report.ts';

export type Surroundings = Required<Pick<PreparedRun, 'command' | 'environment' | 'programFolders' | 'readable'>>;

/**
 * What a command of a project that runs no tests of a known runner needs in a copy, as tests have it: the programs of its packages, and the
 * Python environment of the project, from which it imports the copy. @returns the command as it has to be started there, and the rest
 */
export async function surroundingsOf(run: CommandInCopy): Promise<Surroundings> {
  // The text of a script of `package.json` runs without the package manager that would find its programs.
  const programFolders = await binFolders(run);
  // Tests say that an environment has lost its Python.
  const known = await environmentOf(run).catch((error: unknown) => (error instanceof ReportError ? undefined : Promise.reject(error as Error)));
  if (!known) return { command: run.command, environment: { CI: 'true' }, programFolders, readable: [] };
  const python = await pythonEnvironment(run, { modules: {}, known });
  return {
    command: python.command,
    environment: { CI: 'true', ...python.environment },
    programFolders: [...programFolders, ...(python.programFolders ?? [])],
    readable: python.readable ?? [],
  };
}
