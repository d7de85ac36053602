import type { PatchOperation } from './begin-patch.ts';
import type { NamedPath } from './named-path.ts';
import type { LooseHunk } from './place-hunks.ts';
import type { Replacement } from './replace-blocks.ts';

/** What an answer says about a block, above it. */
export interface Surroundings {
  /** The lines above the block, down from the block before, with the heading that they are under. */
  readonly above: string;
  /** The lines directly above, without an empty line between. */
  readonly near: string;
  /** The paths that these lines name, line by line, the closest line first. */
  readonly mentions: readonly (readonly string[])[];
}

/** One change of an answer, as written and unchecked. */
export type AnswerBlock =
  | { readonly kind: 'code'; readonly named: NamedPath | undefined; readonly says: Surroundings; readonly language: string; readonly content: string }
  /** "Change this … to that." If the old text is nowhere, the blocks are what they are alone. */
  | {
      readonly kind: 'pair';
      readonly named: string | undefined;
      readonly says: Surroundings;
      readonly replacement: Replacement;
      readonly alone: readonly AnswerBlock[];
    }
  | { readonly kind: 'replacements'; readonly path: string | undefined; readonly says?: Surroundings; readonly replacements: readonly Replacement[] }
  | { readonly kind: 'diff'; readonly text: string }
  /** A diff without the names of files. */
  | { readonly kind: 'hunks'; readonly path: string | undefined; readonly says: Surroundings; readonly hunks: readonly LooseHunk[] }
  | { readonly kind: 'operation'; readonly operation: PatchOperation }
  /** `isWhole`: it takes the place of what is there, whatever that has. */
  | { readonly kind: 'file'; readonly path: string; readonly content: string; readonly mustBeNew: boolean; readonly isWhole?: boolean }
  | { readonly kind: 'appended'; readonly path: string; readonly content: string }
  | { readonly kind: 'deleted'; readonly path: string }
  | { readonly kind: 'moved'; readonly path: string; readonly target: string; readonly content: string | undefined }
  /** A command that changes files, and the words of it that could be their paths. It is not run. */
  | { readonly kind: 'command'; readonly command: string; readonly paths: readonly string[] }
  /** A block that names a file but cannot be used. */
  | { readonly kind: 'broken'; readonly path: string; readonly reason: string }
  /** A code block that is not closed and names no file. */
  | { readonly kind: 'cut-off'; readonly says: Surroundings; readonly language: string; readonly content: string };
