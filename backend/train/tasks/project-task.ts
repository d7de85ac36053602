import type { TestCommand } from '../../protocol/test-command.ts';
import { parsePatch } from '../../verify/patch/parse-patch.ts';
import type { Verifier } from '../../verify/verify.ts';
import type { Checker } from '../../solve/checker.ts';
import type { ProjectTask } from './task.ts';
import { editsOf, type ProjectTaskRecord } from './project-tasks.ts';

export interface ProjectTaskParts {
  readonly verifier: Pick<Verifier, 'verify' | 'onBase' | 'tryTests'>;
  /** The workspace, absolute, and the folder with its files as they were when the task was made. */
  readonly workspace: string;
  readonly files: string;
  readonly test: TestCommand & { readonly runner: string };
  readonly sandboxAvailability: Checker['sandboxAvailability'];
}

/** Makes a record a task: its answers are judged against the base in which its change is made. */
export function projectTask(record: ProjectTaskRecord, { verifier, workspace, files, test, sandboxAvailability }: ProjectTaskParts): ProjectTask {
  const { id, question, kind, context, shown, targets } = record;
  const base = { base: files, installed: workspace, baseEdits: editsOf(record) };
  // Tests noticed its change, so they run its files, and nobody reads the reason of each rollout.
  const tellsNotRun = false;
  return {
    ...base,
    id,
    question,
    kind,
    context,
    shown,
    testCommand: test.command,
    testRunner: test.runner,
    checker: {
      sandboxAvailability: () => sandboxAvailability(test.image),
      parsePatch: (answer, folder, candidates) => parsePatch(answer, folder, { candidates }),
      onBase: (of, signal, use) => verifier.onBase(of, signal, use),
      verify: ({ patch, sandboxed, signal }) =>
        verifier.verify({ ...base, patch, ...test, sandboxed, signal, tellsNotRun, ...(targets && { targets }) }),
      tryTests: ({ patch, newTests, timeoutMs, signal }) => verifier.tryTests({ ...base, ...test, patch, newTests, timeoutMs, signal }),
    },
  };
}
