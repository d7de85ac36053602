import type { ImportedFile } from './source-test.ts';

/** An import of names from a file of the project. */
export interface Import {
  readonly place: string;
  /** What is imported, each as it is called here, with its name there. */
  readonly names: Iterable<readonly [local: string, exported: string]>;
}

/** Finds what a file imports from others of the project, in the same language. `paths` are those of the project. */
export type FindImports = (file: string, text: string, paths: ReadonlySet<string>) => Iterable<Import>;

/** More are not looked at. */
const MAX_FILES = 20;

/** The files that are imported from, in their order. Of two imports by the same name, the last counts. `read` gives the text of a file. */
export async function readImported(imports: Iterable<Import>, read: (path: string) => Promise<string | undefined>): Promise<readonly ImportedFile[]> {
  const found = new Map<string, Map<string, string>>();
  for (const { place, names } of imports) {
    const known = found.get(place) ?? new Map<string, string>();
    found.set(place, known);
    for (const [local, exported] of names) known.set(local, exported);
  }
  const files = await Promise.all([...found].slice(0, MAX_FILES).map(async ([place, names]) => ({ names, text: await read(place) })));
  return files.flatMap(({ names, text }) => (text === undefined ? [] : [{ names, text }]));
}
