import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { COMPILE_CACHE } from '../support/compile-cache.ts';

/** The command line as it is built, with its backend beside it; built first where a source is newer. */
export const BUILT = fileURLToPath(new URL('../../run-cli.mjs', import.meta.url));

/** The same as the last build made it. */
const LAST_BUILD = fileURLToPath(new URL('../../dist/cli.mjs', import.meta.url));
/** What a command says that could not be built. */
const NOT_BUILT = 'could not be built';

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** What stands on standard input. */
  readonly input?: string | Uint8Array;
  /** Absolute; the folder of the tests by default. */
  readonly cwd?: string;
}

/** The command line as it is built, which starts in half the time of its sources, in a process of its own, in a folder of its own with a home of its own for each file of tests. */
export function conductorCommand() {
  const places = { folder: '', home: '' };
  // What is edited while a file runs has no part in its further commands: half of an edit cannot be built.
  let isBuilt = false;
  beforeAll(async () => {
    places.folder = await mkdtemp(path.join(tmpdir(), 'conductor-cli-'));
    places.home = path.join(places.folder, 'home');
  });
  afterAll(() => rm(places.folder, { recursive: true, force: true }));

  const start = (args: readonly string[], { environment, input, cwd }: StartOptions = {}) => {
    const child = spawn(process.execPath, [isBuilt ? LAST_BUILD : BUILT, ...args], {
      cwd: cwd ?? places.folder,
      env: { PATH: process.env['PATH'] ?? '', ...COMPILE_CACHE, HOME: places.folder, TMPDIR: places.folder, CONDUCTOR_HOME: places.home, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.end(input);
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const result = once(child, 'close').then(([code]): Result => {
      isBuilt ||= !output.stderr.includes(NOT_BUILT);
      return { code: code as number | null, ...output };
    });
    return { child, output, result };
  };
  const run = (args: readonly string[], options?: StartOptions): Promise<Result> => start(args, options).result;
  return { places, start, run };
}

/** Nothing but a sentence for people: no JSON, no stack. */
export const NO_STACK = /^\s+at .*:\d+:\d+/m;
