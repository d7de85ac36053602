import type { Verdict } from '../../backend/protocol/verdict.ts';

export interface JudgedPatch {
  /** In words. */
  readonly what: string;
  readonly outcome: Verdict['outcome'];
  readonly reason: string;
  readonly seconds: number;
}

export interface TriedFix {
  readonly commit: string;
  /** Why nothing was judged: what could not be installed, or tests that do not tell the fix from its parent. */
  readonly notTried?: string;
  readonly honest?: JudgedPatch;
  /** Of the bare command on the fixed code, run the second time. */
  readonly bareSeconds?: number;
  /** Patches of which the bare tests say that they are wrong. */
  readonly wrong?: readonly JudgedPatch[];
  /** Patches with which the bare tests are green: nothing says that they are wrong. */
  readonly unnoticed?: number;
}

export interface RepositoryResult {
  readonly repository: string;
  readonly language?: string;
  readonly runner?: string;
  readonly command?: string;
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
