import { execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import type { FileEdit } from '../../../backend/verify/patch/patch.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import type { TestReport } from '../../../backend/verify/runners/test-report.ts';
import type { Verdict } from '../../../backend/protocol/verdict.ts';
import { Verifier } from '../../../backend/verify/verify.ts';
import type { VerifyOptions } from '../../../backend/verify/verify-options.ts';
import type { Scratch } from '../setup.ts';

export type Files = Parameters<Scratch['project']>[0];

/**
 * Writes the files, and lets the real runner judge in the real sandbox a change that replaces some of them. The home folder is the
 * real one, hidden as for a user, because that is where this machine's toolchains may lie.
 */
export async function judge(
  scratch: Scratch,
  files: Files,
  fix: Readonly<Record<string, string>>,
  test: string | Pick<VerifyOptions, 'command' | 'runner' | 'reports'>,
): Promise<Verdict> {
  const base = await scratch.project(files);
  const edits = Object.entries(fix).map(([file, after]): FileEdit => {
    const before = files[file];
    return { path: file, kind: typeof before === 'string' ? 'modify' : 'create', before: typeof before === 'string' ? before : null, after };
  });
  const { folders, copies, baseRuns } = scratch;
  const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), folders });
  return await new Verifier({ sandbox, folders, copies, baseRuns }).verify({
    base,
    patch: { edits, refused: [] },
    ...(typeof test === 'string' ? { command: test } : test),
    signal: new AbortController().signal,
    timeoutMs: 240_000,
  });
}

export const summary = (report: TestReport): string[] =>
  report.results.map(({ id, kind, status }) => (kind === 'test' ? `${status} ${id}` : `${status} container ${id}`));

export const changes = ({ tests }: Verdict): Record<string, string> =>
  Object.fromEntries(tests.map(({ id, before, after }) => [id, `${before} → ${after}`]));

/** Whether a program runs here, and the words for the name of a test that is skipped where it does not. */
export function tryProgram(program: string, ...programArguments: string[]): { isHere: boolean; note: string } {
  try {
    execFileSync(program, programArguments, { stdio: 'ignore', timeout: 60_000 });
    return { isHere: true, note: `by the real ${program}` };
  } catch {
    return { isHere: false, note: `not tried, no ${[program, ...programArguments].join(' ')} here` };
  }
}
