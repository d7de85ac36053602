import type { Checker } from '../../solve/checker.ts';
import type { Patch } from '../../verify/patch/patch.ts';
import type { Grader } from '../../verify/graders/grader.ts';

interface AskedTask {
  /** The same in every run of a training; unique among its tasks. */
  readonly id: string;
  readonly question: string;
  /** The parts of the project that the question is shown with, as one text; empty without a project. */
  readonly context: string;
}

/** A task whose answer a grader judges. */
export interface GradedTask extends AskedTask {
  readonly grader: Grader;
}

/** A task whose answer changes files, which the project's tests judge. */
export interface ProjectTask extends AskedTask {
  /** The folder (absolute) that answers are applied to copies of. */
  readonly base: string;
  /** Paths of the files in the context. */
  readonly shown: readonly string[];
  readonly testCommand: string;
  readonly testRunner: string;
  /** Judges patches to the base by the tests that this task is about. */
  readonly checker: Pick<Checker, 'verify' | 'sandboxAvailability'> & {
    /** `shown`: paths of the files in the context. */
    parsePatch(answer: string, shown: readonly string[], signal: AbortSignal): Promise<Patch>;
  };
}

/** A question with a verifier. */
export type Task = GradedTask | ProjectTask;
