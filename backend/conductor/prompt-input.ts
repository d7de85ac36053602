import type { ProjectFacts } from '../protocol/project-facts.ts';
import type { WorkerRecord } from '../protocol/worker-record.ts';
import type { SentPicture } from '../workers/model.ts';
import type { EarlierTold } from '../workflow/earlier-told.ts';

/** A worker as the Conductor sees it. Its ordinal is its position in the pool; names are withheld, so that no name is favoured. */
export interface PoolEntry {
  readonly description?: string | undefined;
  /** It can look around, edit and run commands in the project before it answers. */
  readonly hasHands?: boolean | undefined;
  /** It is shown the pictures that came with the question. */
  readonly seesPictures?: boolean | undefined;
  /** What tests said of it before; absent if they said nothing yet, and in trainings. */
  readonly record?: WorkerRecord | undefined;
}

/** What happened in an earlier round, for the Conductor to revise. */
export interface PastRound {
  /** The Conductor's own text of that round. */
  readonly planText: string;
  readonly answer: string;
  /** What the project's tests said, or why they said nothing. */
  readonly feedback: string;
  /** Whether its answer may be kept as it is; by default it may. That of a local try may not: its tests are what asks for a plan. */
  readonly mayKeep?: boolean | undefined;
}

export interface PromptInput {
  readonly question: string;
  /** The pictures that came with it and before, in a sentence, and those that the Conductor is shown; absent if there are none. */
  readonly pictures?: { readonly words: string; readonly shown: readonly SentPicture[] } | undefined;
  /** The conversation that the question continues. */
  readonly earlier?: EarlierTold | undefined;
  /** There is a project whose code may be changed; as of `readQuestion`. */
  readonly inProject?: boolean | undefined;
  readonly context: string;
  /** Paths of the files of which the context shows something. */
  readonly shown?: readonly string[] | undefined;
  readonly project?: ProjectFacts | undefined;
  /** The project's tests that fail now; absent or empty if none is known to. */
  readonly failing?: string | undefined;
  readonly pool: readonly PoolEntry[];
  readonly rounds: readonly PastRound[];
  /** Plans of the same round that the programmer did not want, oldest first, with what should be different. */
  readonly discarded?: readonly { readonly text: string; readonly wish?: string | undefined }[] | undefined;
  /** Why an earlier text of the same round was not a valid plan; absent at the first try. */
  readonly rejection?: { readonly text: string; readonly message: string } | undefined;
}
