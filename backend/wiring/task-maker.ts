import type { ContextGatherer } from '../context/gather-context.ts';
import { CONTEXT_TOKENS } from '../solve/run-contexts.ts';
import type { TaskMakerParts } from '../train/tasks/project-tasks.ts';
import type { JudgeParts } from '../train/trainings/judge.ts';
import { chooseRunner } from '../verify/runners/choose-runner.ts';
import { findTestCommands } from '../verify/runners/find-tests.ts';
import type { VerificationParts } from './verification.ts';

/** What trainings and evaluations make tasks of a project with, and what judges these. */
export function taskMaker(
  { verifier, sandbox }: Pick<VerificationParts, 'verifier' | 'sandbox'>, context: Pick<ContextGatherer, 'gather'>,
): JudgeParts & Pick<TaskMakerParts, 'verifier' | 'gatherContext'> {
  return {
    verifier,
    sandboxAvailability: (image) => sandbox.availability(image),
    findTestCommands,
    runnerOf: async (test, workspace) => (await chooseRunner(test, workspace))?.runner.name,
    gatherContext: async (workspace, { question, paths }, signal) => {
      const files = paths.map((file) => ({ path: file }));
      const { text, pieces } = await context.gather({ question, workspace, files, diagnostics: [], tokenBudget: CONTEXT_TOKENS, signal });
      return { text, shown: [...new Set(pieces.map((piece) => piece.path))] };
    },
  };
}
