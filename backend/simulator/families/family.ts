/** What a question is about. Hidden from everyone but the simulated workers: a question never names its kind. */
export const KINDS = ['strings', 'numbers', 'parsing', 'intervals', 'data', 'machines'] as const;
export type Kind = (typeof KINDS)[number];

/** Replaces `find`, which stands exactly once in the source. */
export interface Edit {
  readonly find: string;
  readonly replace: string;
}

/** A plausible way to get a module wrong: it may be planted as the bug of a project, or be what a worker answers. */
export interface Variant {
  /** Unique in its family. */
  readonly id: string;
  readonly edits: readonly Edit[];
  /** What is wrong, as somebody says who has understood it. Unique in its family: a plan is known by the diagnosis it gives. */
  readonly diagnosis: string;
  /** What a user would report. Each names an exported function, so that the module can be found by it. */
  readonly symptoms: readonly string[];
  /** How well the fault hides from a reader, 0 to 1. */
  readonly subtlety: number;
}

/** One module of the sample project, with its tests and the ways to get it wrong. */
export interface Family {
  readonly kind: Kind;
  readonly name: string;
  /** Relative to the project's root. */
  readonly path: string;
  readonly testPath: string;
  /** One line for the project's README. */
  readonly summary: string;
  readonly exports: readonly string[];
  /** How hard it is to get right, 0 to 1. */
  readonly difficulty: number;
  readonly source: string;
  readonly test: string;
  readonly variants: readonly Variant[];
}

/** Source text as it stands between the backticks, backslashes included, without the first line break. */
export function code(strings: TemplateStringsArray): string {
  return (strings.raw[0] ?? '').replace(/^\n/, '');
}

/** The family's module with these variants in it, or undefined where two of them touch the same place. */
export function sourceWith(family: Family, variants: readonly Variant[]): string | undefined {
  let source = family.source;
  for (const edit of variants.flatMap((variant) => variant.edits)) {
    const parts = source.split(edit.find);
    if (parts.length !== 2) return undefined;
    source = parts.join(edit.replace);
  }
  return source;
}
