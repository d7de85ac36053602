import type { Checker } from '../../solve/checker.ts';
import type { FileEdit } from '../../verify/patch/patch.ts';
import type { Grader } from '../../verify/graders/grader.ts';

interface AskedTask {
  /** Unique among the tasks of a training, and stable. */
  readonly id: string;
  readonly question: string;
  /** What is asked for, such as `repair`: figures of plans are told by it, too. */
  readonly kind?: string | undefined;
  /** The parts of the project that are sent with the question; empty without a project. */
  readonly context: string;
}

/** A task whose answer a grader judges. */
export interface GradedTask extends AskedTask {
  readonly grader: Grader;
}

/** A task whose answer changes files and is judged by the project's tests. */
export interface ProjectTask extends AskedTask {
  /** The folder (absolute); answers are applied to copies of it. */
  readonly base: string;
  /** The workspace in which its dependencies are installed (absolute). */
  readonly installed: string;
  /** What makes the files of the folder those of the task, such as a bug. */
  readonly baseEdits: readonly FileEdit[];
  /** Paths of the files in the context. */
  readonly shown: readonly string[];
  readonly testCommand: string;
  readonly testRunner: string;
  /** Judges patches to the base by the tests that this task is about. */
  readonly checker: Pick<Checker, 'parsePatch' | 'verify' | 'tryTests' | 'sandboxAvailability'> & Required<Pick<Checker, 'onBase'>>;
}

/** A question whose answer can be judged. */
export type Task = GradedTask | ProjectTask;
