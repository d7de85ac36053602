import type { Verdict } from '../../backend/protocol/verdict.ts';

export interface JudgedPatch {
  /** In words. */
  readonly what: string;
  readonly outcome: Verdict['outcome'];
  readonly reason: string;
  readonly seconds: number;
}

/** What was judged of patches of which the bare tests say that they are wrong. */
export interface WrongJudged {
  readonly tried: number;
  readonly verified: number;
  /** Those that were told more than that they are wrong, or that could not be judged. */
  readonly amiss: readonly JudgedPatch[];
}

export interface TriedFix {
  readonly commit: string;
  /** The day, as `2026-11-24`. */
  readonly date?: string;
  readonly runner?: string;
  /** Why nothing was judged: what could not be installed, or tests that do not tell the fix from its parent. */
  readonly notTried?: string;
  readonly honest?: JudgedPatch;
  /** Of the bare command on the fixed code, run the second time. */
  readonly bareSeconds?: number;
  /** How many tests of the bare command are red with the fix and without it; left out if it is green with the fix. */
  readonly redAnyway?: number;
  readonly wrong?: WrongJudged;
}

export interface RepositoryResult {
  readonly repository: string;
  readonly language?: string;
  /** What somebody who looked into it found. */
  readonly note?: string;
  /** In the order in which they were tried. */
  readonly fixes: readonly TriedFix[];
  /** How many candidates were left, since enough fixes were judged. */
  readonly left?: number;
  /** What ended the trial before its end. */
  readonly stopped?: string;
}

export interface Results {
  /** In words. */
  readonly machine: string;
  readonly repositories: Readonly<Record<string, RepositoryResult>>;
}

export const isJudged = ({ honest }: TriedFix): boolean => honest !== undefined;
