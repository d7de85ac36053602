import { ID_SEPARATOR } from '../test-report.ts';
import type { TestsToAlter } from './alter-expectations.ts';

/** A file, and the ids that tests in it may have, each with the name of the test in that file. */
export interface FileOfTests {
  readonly file: string;
  readonly wanted: ReadonlyMap<string, string>;
}

/** Finds the files in which tests may be written down, by their ids and by what is in `paths`. */
export async function locateTests({ paths, ids }: TestsToAlter): Promise<readonly FileOfTests[]> {
  const files = new Map<string, Map<string, string>>();
  const add = (file: string, id: string, name: string): void => {
    const wanted = files.get(file) ?? new Map<string, string>();
    files.set(file, wanted.set(id, name));
  };
  for (const id of ids) {
    const [file = '', ...names] = id.split(ID_SEPARATOR);
    if (paths.has(file)) add(file, id, names.join(ID_SEPARATOR));
  }
  return [...files].map(([file, wanted]) => ({ file, wanted }));
}
