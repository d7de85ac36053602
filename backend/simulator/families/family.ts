/** The subject of a question. Only simulated workers know it: a question never names its kind. */
export const KINDS = ['strings', 'numbers', 'parsing', 'intervals', 'data', 'machines'] as const;
export type Kind = (typeof KINDS)[number];

/** Replaces `find`, which occurs exactly once in the source. */
export interface Edit {
  readonly find: string;
  readonly replace: string;
}

/** A plausible bug of a module. It can be planted in a project, or be a worker's wrong answer. */
export interface Variant {
  /** Unique in its family. */
  readonly id: string;
  readonly edits: readonly Edit[];
  /** The correct diagnosis. Unique in its family, because it identifies a plan. */
  readonly diagnosis: string;
  /** User reports. Each names an exported function, by which the module can be found. */
  readonly symptoms: readonly string[];
  /** How hard the bug is to notice, 0 to 1. */
  readonly subtlety: number;
}

/** One module of the sample project, with its tests and its possible bugs. */
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

/** The raw text between the backticks, including backslashes, without the first line break. */
export function code(strings: TemplateStringsArray): string {
  return (strings.raw[0] ?? '').replace(/^\n/, '');
}

/** The module with these bugs, or undefined if two of them change the same place. */
export function sourceWith(family: Family, variants: readonly Variant[]): string | undefined {
  let source = family.source;
  for (const edit of variants.flatMap((variant) => variant.edits)) {
    const parts = source.split(edit.find);
    if (parts.length !== 2) return undefined;
    source = parts.join(edit.replace);
  }
  return source;
}
