import { readFileSync, writeFileSync } from 'node:fs';
import { openVerificationParts } from '../../backend/wiring/verification.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';

/*
 * Runs on Windows' Node: verifies answers (argument 1, a file of JSON) and writes the verdicts to the file of argument 2.
 */

interface Task {
  readonly home: string;
  readonly workspace: string;
  readonly command: string;
  readonly answers: readonly string[];
  readonly timeoutMs: number;
}

const [, , taskFile = '', resultFile = ''] = process.argv;
const { home, workspace, command, answers, timeoutMs } = JSON.parse(readFileSync(taskFile, 'utf8')) as Task;
const parts = await openVerificationParts(home);
const signal = new AbortController().signal;
try {
  const verdicts = [];
  for (const answer of answers) {
    const parsed = await parsePatch(answer, workspace);
    verdicts.push(await parts.verifier.verify({ base: workspace, command, patch: parsed as never, sandboxed: false, timeoutMs, signal }).catch((error: unknown) => ({ error: String(error) })));
  }
  writeFileSync(resultFile, JSON.stringify({ availability: await parts.sandbox.availability(), verdicts }, undefined, 2));
} finally {
  await parts.close();
}
process.exit(0);
