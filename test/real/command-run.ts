import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { userPath } from '../../backend/common/user-path.ts';
import { withInstalledPrograms } from '../../backend/verify/sandbox/installed-programs.ts';

export interface CommandRun {
  /** Null if it was ended at its limit. */
  readonly exitCode: number | null;
  readonly seconds: number;
  /** What it printed, or the end of that. */
  readonly said: string;
}

/** Enough for the names of all tests that failed. */
const MAX_SAID = 4_000_000;
const LAST_WORDS = 4_000;

/** Root may write what is closed to everybody, and tests of such errors fail; without its capabilities it is like anybody. */
const AS_ANYBODY = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all'] : [];

/** Runs a command line as the person would in this folder: with their PATH, and with a Python environment of the folder active. */
export async function runCommand(folder: string, command: string, limitMs: number): Promise<CommandRun> {
  const environment = path.join(folder, '.venv');
  const searchPath = withInstalledPrograms(userPath(process.env), homedir());
  const started = performance.now();
  const [program = '', ...args] = [...AS_ANYBODY, '/bin/sh', '-c', command];
  const child = spawn(program, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      // As npm runs scripts: with the programs of the project, and of the folder that the command goes to.
      PATH: [path.join(environment, 'bin'), 'node_modules/.bin', path.join(folder, 'node_modules', '.bin'), searchPath].join(path.delimiter),
      VIRTUAL_ENV: environment,
      // A checkout has no tags that a version could be taken from.
      SETUPTOOLS_SCM_PRETEND_VERSION: '99.0.0',
      NODE_COMPILE_CACHE: undefined,
    },
  });
  let said = '';
  const hear = (chunk: Buffer): void => void (said = (said + chunk.toString()).slice(-MAX_SAID));
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const timer = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, Math.max(1, limitMs));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    // What a killed command has started may hold its output open.
    child.on('exit', resolve);
  }).finally(() => clearTimeout(timer));
  return { exitCode, seconds: (performance.now() - started) / 1_000, said };
}

/** Why a command failed, in one line: the first line of the end of its output that names an error, or else the last two lines. */
export function lastSaid({ said }: CommandRun): string {
  const lines = stripVTControlCharacters(said.slice(-LAST_WORDS)).split('\n').map((line) => line.trim()).filter((line) => line !== '');
  const error = lines.find((line) => /\berror\b/i.test(line));
  return (error ?? lines.slice(-2).join(' / ')).slice(0, 300);
}
