import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Limits } from '../limits/limits.ts';
import { runProcessGroup, type ExceededLimit, type ProcessOptions, type ProcessOutcome } from '../process-group.ts';
import { cmdLine } from './cmd-line.ts';
import type { JobRequest } from './job-process.ts';
import { isBatchFile, nameOnWindows } from './program-search.ts';
import { valueOf, windowsEnvironment, type Variables } from './windows-environment.ts';

export interface JobCommand extends Pick<ProcessOptions, 'cwd' | 'talk' | 'timeoutMs' | 'signal'> {
  /** A line of a POSIX shell, see `cmdLine`. */
  readonly command: string;
  /** The command's home and temporary folder, absolute. */
  readonly temporary: string;
  /** Folders that are searched for programs, the first ones first. */
  readonly searchPath: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly limits: Limits;
  /** Our own environment. */
  readonly own: Variables;
  /** Whether it may write only where all processes may, see `lowerIntegrity`. */
  readonly isLow: boolean;
}

/** The command was not started. The message says why. */
export class JobNotStartedError extends Error {
  override readonly name = 'JobNotStartedError';
}

/** The bundle is in the same folder as those of the composition roots; the source is beside this file. */
const SCRIPT = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './job-process.ts' : './job-process.mjs', import.meta.url));

const LIMITS: Readonly<Record<string, ExceededLimit>> = { memory: 'memory', processes: 'processes', time: 'time' };

/**
 * Runs a command on Windows by cmd.exe, in a job object, without a sandbox. Rejects with an AbortError, `NotForWindowsError`, or
 * `JobNotStartedError`.
 */
export async function runInJob(command: JobCommand): Promise<ProcessOutcome> {
  const { cwd, temporary, limits, own, isLow } = command;
  const { processes, memoryBytes, cpuTimeMs, outputBytes } = limits;
  const request = lineOf(command);
  for (const folder of [request.environment['APPDATA'], request.environment['LOCALAPPDATA']]) await mkdir(folder ?? temporary, { recursive: true });
  let problem: string | undefined;
  let exceed: ((limit: ExceededLimit) => void) | undefined;
  const outcome = await runProcessGroup({
    argv: [process.execPath, SCRIPT],
    // The command's own folder is not to be searched for what this process loads.
    cwd: path.dirname(SCRIPT),
    environment: windowsEnvironment({ own, temporary, searchPath: [], variables: { ELECTRON_RUN_AS_NODE: '1' } }),
    input: Buffer.from(JSON.stringify({ ...request, cwd, limits: { processes, memoryBytes, cpuTimeMs }, isLow } satisfies JobRequest)),
    onWord: (word) => {
      const limit = LIMITS[word];
      if (limit === undefined) problem = word;
      else exceed?.(limit);
    },
    talk: command.talk,
    emptied: [],
    timeoutMs: command.timeoutMs,
    outputBytes,
    watch: (_, exceedLimit) => {
      exceed = exceedLimit;
      return { stop: () => undefined };
    },
    signal: command.signal,
  });
  if (problem !== undefined) throw new JobNotStartedError(`The command could not be started on Windows: ${problem.replace(/^not started: /, '')}`);
  // The job process is ended, and its exit code says nothing of the command.
  return outcome.exceeded ? { ...outcome, exitCode: null } : outcome;
}

/** What cmd.exe is given for a command. @throws NotForWindowsError */
export function lineOf({ command, cwd, temporary, searchPath, variables, own }: Pick<JobCommand, 'command' | 'cwd' | 'temporary' | 'searchPath' | 'variables' | 'own'>): Pick<JobRequest, 'line' | 'comSpec' | 'environment'> {
  const environment = windowsEnvironment({ own, temporary, searchPath, variables });
  const search = { folders: searchPath, cwd };
  return {
    line: cmdLine(command, { environment, named: (program) => nameOnWindows(program, search), isBatch: (program) => isBatchFile(program, search) }),
    comSpec: valueOf(own, 'ComSpec') ?? path.win32.join(valueOf(own, 'SystemRoot') ?? 'C:\\Windows', 'System32', 'cmd.exe'),
    environment,
  };
}
