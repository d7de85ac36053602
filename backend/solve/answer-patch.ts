import { lastOfEach } from '../hands/file-changes.ts';
import { patchOfChanges } from '../hands/patch-of-changes.ts';
import type { RunSnapshot, StepView } from '../protocol/run-snapshot.ts';
import type { Patch } from '../verify/patch/patch.ts';
import type { Checker } from './checker.ts';
import { asksForTests } from './round.ts';
import { shownFiles } from './shown-files.ts';

/**
 * The changes of a plan's last output: what its step changed with its hands, or else what its text says. A worker with hands that used none
 * may still have written files.
 * @param output the text of the last step
 * @param folder has the files of the run's workspace
 */
export async function answerPatch(checker: Pick<Checker, 'parsePatch'>, run: RunSnapshot, round: number, { output, folder }: { readonly output: string; readonly folder: string }): Promise<Patch> {
  const newTests = asksForTests(run);
  const changes = run.rounds[round]?.steps.at(-1)?.changes ?? [];
  return changes.length > 0
    ? await patchOfChanges(changes, folder, { newTests })
    : await checker.parsePatch(output, folder, shownFiles(run, round), { newTests });
}

/**
 * The changes of one step: those in its copy, as far as they are journalled, or else what its output says.
 * @param folder has the files of the run's workspace
 */
export async function stepPatch(checker: Pick<Checker, 'parsePatch'>, run: RunSnapshot, round: number, { step, folder }: { readonly step: StepView; readonly folder: string }): Promise<Patch> {
  const { begun, turns = [], output = '' } = step;
  const newTests = asksForTests(run);
  const changes = step.changes ?? lastOfEach([...(begun?.changes ?? []), ...turns.flatMap((turn) => turn.changes ?? [])]);
  return changes.length > 0
    ? await patchOfChanges(changes, folder, { newTests })
    : await checker.parsePatch(output, folder, shownFiles(run, round), { newTests });
}
