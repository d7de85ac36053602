import { constants } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AsyncMemo } from '../../../common/async-memo.ts';
import { unlessAborted } from '../../../common/unless-aborted.ts';
import type { Limits } from '../../sandbox/limits/limits.ts';
import type { RunFolders } from '../../files/run-folder.ts';
import { SandboxUnavailableError, type Sandbox, type SandboxOutcome } from '../../sandbox/sandbox.ts';
import { shellQuote } from '../../sandbox/shell-quote.ts';
import { isMachineError } from '../../sandbox/machine-error.ts';
import type { CodeLanguage } from '../answer-code.ts';
import { GraderInfrastructureError, shortened } from '../grader.ts';

export interface ProgramLimits {
  /** Processor time, which does not depend on the machine's load. The limit of wall-clock time is twice that. */
  readonly cpuTimeMs: number;
  readonly memoryBytes: number;
}

export interface Program extends ProgramLimits {
  readonly language: CodeLanguage;
  /** The source that the interpreter runs. Its arguments are the name of the program's file and `driverArguments`. */
  readonly driver: string;
  readonly driverArguments: readonly string[];
  readonly source: string;
  readonly input: string;
  readonly signal: AbortSignal;
}

export type ProgramEnd = 'ended' | 'crashed' | 'out of time' | 'wrote too much';

export interface ProgramRun {
  readonly end: ProgramEnd;
  /** The output of the program and its child processes; undefined if it is too large. */
  readonly output: string | undefined;
  /** The end of its standard error. */
  readonly complaint: string;
  readonly durationMs: number;
}

export interface ProgramSandboxParts {
  readonly sandbox: Pick<Sandbox, 'run'>;
  readonly folders: RunFolders;
  /** Paths hidden from programs, absolute: above all the files with the expected results. */
  readonly hidden: readonly string[];
}

/** Far more than the expected output of any case in a task file. */
export const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Includes threads. Enough for an honest program, too few for a fork bomb to block the machine. */
const MAX_PROCESSES = 64;

/** Time for the sandbox and the interpreter to start on a busy machine. */
const START_MS = 2_000;

const MAX_COMPLAINT_CHARACTERS = 500;

/** BLAS would start one thread per core, and their processor time would add up. */
const ENVIRONMENT = {
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
  MKL_NUM_THREADS: '1',
  PYTHONDONTWRITEBYTECODE: '1',
  MPLBACKEND: 'Agg',
};

const EXTENSION: Readonly<Record<CodeLanguage, string>> = { python: 'py', javascript: 'cjs' };

const FIND_INTERPRETER: Readonly<Record<CodeLanguage, string>> = {
  python: `python3 -c 'import sys; print(sys.executable)'`,
  javascript: `node -p process.execPath`,
};

/**
 * Runs untrusted programs, each in its own sandbox and folder, so that no state passes from one to the next. Results are compared outside
 * the sandbox, so that a program cannot see the expected results.
 */
export class ProgramSandbox {
  readonly #parts: ProgramSandboxParts;
  /** A missing interpreter may be installed later, so failures are not kept. */
  readonly #interpreters = new AsyncMemo<CodeLanguage, string>();

  constructor(parts: ProgramSandboxParts) {
    this.#parts = parts;
  }

  /** Throws `GraderInfrastructureError` if programs cannot run here, or the signal's reason. */
  async run(program: Program): Promise<ProgramRun> {
    const interpreter = await unlessAborted(this.#interpreter(program.language), program.signal);
    const { driver, driverArguments, source, input, language, cpuTimeMs, memoryBytes } = program;
    const options = language === 'python' ? ['-I', '-X', 'utf8'] : [];
    const extension = EXTENSION[language];
    const limits = { cpuTimeMs, memoryBytes, processes: MAX_PROCESSES, diskBytes: MAX_OUTPUT_BYTES, outputBytes: MAX_OUTPUT_BYTES };
    return await this.#inFolder(program.signal, cpuTimeMs * 2 + START_MS, limits, async (folder) => {
      const [driverFile, sourceFile, inputFile] = ['driver', 'program', 'input'].map((name, index) =>
        path.join(folder.tools, index < 2 ? `${name}.${extension}` : name),
      ) as [string, string, string];
      await Promise.all([writeFile(driverFile, driver), writeFile(sourceFile, source), writeFile(inputFile, input)]);
      const argv = [interpreter, ...options, driverFile, sourceFile, ...driverArguments].map(shellQuote).join(' ');
      return `exec ${argv} < ${shellQuote(inputFile)} > ${shellQuote(path.join(folder.report, 'output'))}`;
    });
  }

  /**
   * The interpreter itself: a version manager's shim would start a shell for every case. Finding it also proves that programs run here,
   * so that a later failure is the program's own.
   */
  #interpreter(language: CodeLanguage): Promise<string> {
    return this.#interpreters.get(language, () => this.#findInterpreter(language));
  }

  async #findInterpreter(language: CodeLanguage): Promise<string> {
    // Other callers wait for the result too, so a single caller's signal must not end it.
    const signal = new AbortController().signal;
    const found = await this.#inFolder(signal, 30_000, {}, ({ report }) =>
      Promise.resolve(`${FIND_INTERPRETER[language]} > ${shellQuote(path.join(report, 'output'))}`),
    );
    const file = found.output?.trim() ?? '';
    if (found.end === 'ended' && path.isAbsolute(file)) return file;
    const name = language === 'python' ? 'Python 3 (python3)' : 'Node.js (node)';
    throw new GraderInfrastructureError(
      `${name} does not run in the sandbox; install it, or take the task out. ${found.complaint}`.trim(),
    );
  }

  async #inFolder(
    signal: AbortSignal,
    timeoutMs: number,
    limits: Partial<Limits>,
    commandFor: (folder: { readonly tools: string; readonly report: string }) => Promise<string>,
  ): Promise<ProgramRun> {
    const { sandbox, folders, hidden } = this.#parts;
    signal.throwIfAborted();
    const folder = await folders.create();
    try {
      await mkdir(folder.workspace);
      const outcome = await sandbox.run({
        command: await commandFor(folder),
        cwd: folder.workspace,
        temporary: folder.temporary,
        writable: [folder.report],
        readable: [folder.tools],
        hidden,
        environment: ENVIRONMENT,
        timeoutMs,
        limits,
        signal,
        sandboxed: true,
      });
      const output = await readOutput(path.join(folder.report, 'output'));
      const complaint = outcome.stderr.trim().slice(-MAX_COMPLAINT_CHARACTERS);
      return { end: endOf(outcome, output), output, complaint, durationMs: outcome.durationMs };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SandboxUnavailableError) throw new GraderInfrastructureError(error.message);
      if (isMachineError(error)) throw new GraderInfrastructureError(`The program could not be run: ${error.message}`);
      throw error;
    } finally {
      await folder.remove();
    }
  }
}

/** The last line of a program's standard error, for a message. */
export const lastComplaint = ({ complaint }: Pick<ProgramRun, 'complaint'>): string => shortened(complaint.split('\n').at(-1) ?? '', 200);

/** A shell reports a signal as 128 plus its number. */
const SIGXCPU = 128 + 24;
const SIGXFSZ = 128 + 25;

function endOf({ exitCode, exceeded }: Pick<SandboxOutcome, 'exitCode' | 'exceeded'>, output: string | undefined): ProgramEnd {
  if (output === undefined || exceeded === 'disk' || exceeded === 'output' || exitCode === SIGXFSZ) return 'wrote too much';
  if (exceeded === 'time' || exitCode === SIGXCPU) return 'out of time';
  return exitCode === 0 ? 'ended' : 'crashed';
}

/** The program could write to the folder, so the file may be replaced by anything. Undefined if it is too large or not a file. */
async function readOutput(file: string): Promise<string | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined);
  if (!handle) return '';
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.nlink !== 1 || found.size >= MAX_OUTPUT_BYTES) return undefined;
    const buffer = Buffer.alloc(found.size);
    const { bytesRead } = await handle.read(buffer, 0, found.size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
