import type { FileEdit } from '../verify/patch/patch.ts';

/** What a command said that ran elsewhere, and what it changed. */
export interface RanElsewhere {
  /** For the worker. */
  readonly said: string;
  /** The files that differ from the project now, with their texts; null for one that is gone. Undefined if that is not known: then nothing was changed. */
  readonly files?: ReadonlyMap<string, string | null> | undefined;
  /** Files that were changed and are no part of it, each with the reason. */
  readonly left?: readonly string[];
}

/** Where a project's commands run if not in the copy of a step: on a machine that has all that they need. */
export interface CommandsElsewhere {
  /** Runs a command on the project with this change. @throws the signal's reason, and errors of the machine */
  run(command: string, edits: readonly FileEdit[], signal: AbortSignal): Promise<RanElsewhere>;
}
