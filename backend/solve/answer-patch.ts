import { lastOfEach } from '../hands/file-changes.ts';
import { patchOfChanges } from '../hands/patch-of-changes.ts';
import type { FileChange } from '../protocol/file-change.ts';
import type { RunSnapshot, StepView } from '../protocol/run-snapshot.ts';
import type { Patch } from '../verify/patch/patch.ts';
import type { Checker } from './checker.ts';
import { changeOnTop, wholeChange } from './follow-up/build-on.ts';
import { mayAddTests } from './round.ts';
import type { RunFiles } from './run-files.ts';
import { shownFiles } from './shown-files.ts';

/**
 * The changes of a plan's last output: what its step changed with its hands, or else what its text says. A worker with hands that used none
 * may still have written files.
 * @param output the text of the last step
 * @param folder has the files that the change was made of: of a step with hands, those of the run's workspace
 */
export async function answerPatch(checker: Pick<Checker, 'parsePatch'>, run: RunSnapshot, round: number, { output, folder }: { readonly output: string; readonly folder: string }): Promise<Patch> {
  return await patchOf(checker, run, round, { changes: changesOfAnswer(run, round), output, folder });
}

/**
 * The changes of one step: those in its copy, as far as they are journalled, or else what its output says.
 * @param folder has the files of the run's workspace
 */
export async function stepPatch(checker: Pick<Checker, 'parsePatch'>, run: RunSnapshot, round: number, { step, folder }: { readonly step: StepView; readonly folder: string }): Promise<Patch> {
  return await patchOf(checker, run, round, { changes: changesOfStep(step), output: step.output ?? '', folder });
}

async function patchOf(
  checker: Pick<Checker, 'parsePatch'>, run: RunSnapshot, round: number,
  { changes, output, folder }: { readonly changes: readonly FileChange[]; readonly output: string; readonly folder: string },
): Promise<Patch> {
  const newTests = mayAddTests(run);
  return changes.length > 0
    ? await patchOfChanges(changes, folder, { newTests })
    : await checker.parsePatch(output, folder, shownFiles(run, round), { newTests });
}

/**
 * The changes of one step as a patch of the workspace, with the earlier change that the run begins with; see `stepPatch`. What a step with
 * hands changed holds that already. Without edits if the step changes nothing itself.
 */
export async function wholeStepPatch(
  checker: Pick<Checker, 'parsePatch'>, run: RunSnapshot, round: number, { step, workspace, files }: { readonly step: StepView; readonly workspace: string; readonly files: Pick<RunFiles, 'read' | 'readWorkspace' | 'begins'> },
): Promise<Patch> {
  const begins = await files.begins(workspace);
  const read = (folder: string): Promise<Patch> => stepPatch(checker, run, round, { step, folder });
  if (changesOfStep(step).length === 0) return wholeChange(begins, await files.read(workspace, read));
  const patch = await files.readWorkspace(workspace, read);
  return changeOnTop(begins, patch.edits).length > 0 ? patch : { ...patch, edits: [] };
}

/** What is in the copy of a step with hands, as far as it is journalled: changes of the workspace. */
export const changesOfStep = ({ changes, begun, turns = [] }: StepView): readonly FileChange[] =>
  changes ?? lastOfEach([...(begun?.changes ?? []), ...turns.flatMap((turn) => turn.changes ?? [])]);

/** What the last step of a round changed with its hands, as changes of the workspace. */
export const changesOfAnswer = (run: RunSnapshot, round: number): readonly FileChange[] => run.rounds[round]?.steps.at(-1)?.changes ?? [];
