import type { TestCommand } from '../../protocol/test-command.ts';
import { parsePatch } from '../../verify/parse-patch.ts';
import type { Verifier } from '../../verify/verify.ts';
import type { Checker } from '../../solve/checker.ts';
import type { ProjectTask } from '../task.ts';
import type { ProjectTaskRecord } from './project-tasks.ts';

export interface ProjectTaskParts {
  readonly verifier: Pick<Verifier, 'verify' | 'onBase'>;
  /** The workspace, absolute. */
  readonly workspace: string;
  readonly test: TestCommand & { readonly runner: string };
  readonly sandboxAvailability: Checker['sandboxAvailability'];
  /** What of a folder (absolute), a copy of the task's base, a question is shown with. */
  readonly gatherContext: (folder: string, task: ProjectTaskRecord, signal: AbortSignal) => Promise<{ text: string; shown: readonly string[] }>;
}

/**
 * A task of the user's project, to be asked: its context is that of the base, in which its change has been made, and its answers are
 * judged against that.
 */
export async function projectTask(record: ProjectTaskRecord, parts: ProjectTaskParts, signal: AbortSignal): Promise<ProjectTask> {
  const { verifier, workspace, test, sandboxAvailability, gatherContext } = parts;
  const { id, question, path, before, after, targets } = record;
  const base = { base: workspace, baseEdits: [{ path, kind: 'modify', before, after }] } as const;
  const { text, shown } = await verifier.onBase(base, signal, (folder) => gatherContext(folder, record, signal));
  return {
    id,
    question,
    context: text,
    shown,
    base: workspace,
    testCommand: test.command,
    testRunner: test.runner,
    checker: {
      sandboxAvailability,
      parsePatch: (answer, _workspace, candidates) =>
        verifier.onBase(base, new AbortController().signal, (folder) => parsePatch(answer, folder, { candidates })),
      verify: ({ patch, sandboxed, signal: verifySignal }) =>
        verifier.verify({ ...base, patch, ...test, sandboxed, signal: verifySignal, ...(targets && { targets }) }),
    },
  };
}
