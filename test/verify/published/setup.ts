import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { findTestCommands } from '../../../backend/verify/runners/find-tests.ts';
import { expectVerified, judgeFix } from '../honest/setup.ts';
import type { Scratch } from '../setup.ts';

/** Runs a package manager, or what it needs around it, and returns what it printed. Throws where it cannot do its work. */
export async function run(cwd: string, program: string, programArguments: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(program, programArguments, { cwd, env: { ...process.env, ...env }, timeout: 240_000 });
  return stdout;
}

export interface Fetched {
  readonly isHere: boolean;
  readonly note: string;
}

/** Tries `fetch`, and says for the names of tests whether it went well: a machine may lack the program or the network. */
export async function tryFetch(isWanted: boolean, by: string, fetch: () => Promise<void>): Promise<Fetched> {
  if (!isWanted) return { isHere: false, note: 'not fetched' };
  try {
    await fetch();
    return { isHere: true, note: `fetched by ${by}` };
  } catch {
    return { isHere: false, note: `not tried, ${by} could not fetch it here` };
  }
}

export interface BrokenPackage {
  /** The folder of the package in the scratch folder. */
  readonly name: string;
  /** What tests it, as it is found. */
  readonly command: string;
  readonly file: string;
  /** A part of that file as it was published, what breaks it, and a change to the broken part that mends nothing. */
  readonly published: string;
  readonly broken: string;
  readonly wrong: string;
  /** Some of the tests that notice. */
  readonly noticed: readonly string[];
  /** See `HonestFix`. */
  readonly noControl?: string;
}

/** Detects the tests, breaks the package, and sees the verdict of a wrong patch and of the text as it was published. */
export async function expectTurn(scratch: Scratch, found: BrokenPackage): Promise<void> {
  const { name, command, file, published, broken, wrong, noticed, noControl } = found;
  const workspace = path.join(scratch.folder, name);
  expect((await findTestCommands(workspace)).map((test) => test.command)).toContain(command);
  const target = path.join(workspace, file);
  const text = await readFile(target, 'utf8');
  expect(text.split(published)).toHaveLength(2);
  const withPart = (part: string): string => text.replace(published, () => part);
  await writeFile(target, withPart(broken));

  const judge = (answer: string) =>
    judgeFix(scratch, { files: {}, fix: { [file]: answer }, command, mended: [] }, { name });
  const failed = await judge(withPart(wrong));
  expect(`${failed.outcome}: ${failed.reason}`).toMatch(/^failed: Of \d+ tests? that failed before, /);

  const mended = await judge(text);
  const broke = mended.tests.filter(({ before }) => before === 'failed').map(({ id }) => id);
  expectVerified(mended, { mended: broke, ...(noControl !== undefined && { noControl }) });
  expect(broke).toEqual(expect.arrayContaining([...noticed]));
  expect(mended.tests.filter(({ before }) => before === 'passed')).not.toEqual([]);
}
