import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { openVerificationParts } from '../../backend/wiring/verification.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import type { Patch } from '../../backend/verify/patch/patch.ts';
import { Job } from '../../backend/verify/sandbox/windows/job.ts';
import { defaultLimits, type Limits } from '../../backend/verify/sandbox/limits/limits.ts';
import type { SandboxOutcome } from '../../backend/verify/sandbox/sandbox.ts';
import type { SandboxAvailability } from '../../backend/verify/sandbox/sandbox-availability.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';

/*
 * Runs on Windows' Node, with the parts that the backend has: verifies answers and runs commands of the file in argument 1, and writes what
 * came of them to the file in argument 2.
 */

export interface Tasks {
  /** All folders are as Windows names them. */
  readonly home: string;
  readonly workspace: string;
  readonly command: string;
  readonly timeoutMs: number;
  readonly answers: readonly string[];
  /** A script that the driver starts in a job of its own, detached, and leaves when it ends. The script says when it runs. */
  readonly leaves?: string;
  readonly commands: readonly { readonly command: string; readonly timeoutMs: number; readonly limits?: Partial<Limits> }[];
}

export interface Done {
  readonly availability: SandboxAvailability;
  readonly patches: readonly Patch[];
  readonly verdicts: readonly Verdict[];
  readonly outcomes: readonly (SandboxOutcome | { readonly error: string })[];
}

const [, , tasksFile = '', doneFile = ''] = process.argv;
const { home, workspace, command, timeoutMs, answers, commands, leaves } = JSON.parse(readFileSync(tasksFile, 'utf8')) as Tasks;
const { verifier, sandbox, folders, close } = await openVerificationParts(home);
const signal = new AbortController().signal;
const patches: Patch[] = [];
const verdicts: Verdict[] = [];
const outcomes: Done['outcomes'][number][] = [];
for (const answer of answers) {
  const patch = await parsePatch(answer, workspace);
  patches.push(patch);
  if (patch.edits.length > 0) verdicts.push(await verifier.verify({ base: workspace, command, patch, sandboxed: false, timeoutMs, signal }));
}
for (const one of commands) {
  const folder = await folders.create();
  const outcome = await sandbox.run({ ...one, cwd: workspace, temporary: folder.temporary, signal, sandboxed: false }).catch((error: unknown) => ({ error: String(error) }));
  outcomes.push(outcome);
  await folder.remove();
}
if (leaves !== undefined) {
  new Job(defaultLimits(timeoutMs));
  // libuv puts no detached process into its own job.
  const { stdout } = spawn(process.execPath, [leaves], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(stdout, 'data');
}
writeFileSync(doneFile, JSON.stringify({ availability: await sandbox.availability(), patches, verdicts, outcomes } satisfies Done));
await close();
process.exit(0);
