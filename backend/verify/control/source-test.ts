import type { TestRunnerName } from '../../protocol/test-runners.ts';
import { ID_SEPARATOR } from '../runners/test-report.ts';
import type { Edit } from '../syntax/edits.ts';

/** What a test is called in its file, as far as its source says: `undefined` stands for any text. */
export type Title = readonly (string | undefined)[];

/** A test as it is written down. */
export interface SourceTest {
  /** What stands behind the file in its ids; one of them. */
  readonly titles: readonly Title[];
  /** Whether its source says that it does not run. */
  readonly isSkipped: boolean;
  /** Tests that are declared while this one runs, and with which it fails. */
  readonly subtests?: readonly SourceTest[];
  /** Edits after which it must fail with code that is honest; undefined where there are none of which that is sure. */
  alter(): readonly Edit[] | undefined;
}

/** What a reader of tests is told of a file beside its syntax tree. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly runner: TestRunnerName;
  /** A name that occurs nowhere in the file. */
  readonly held: string;
}

/** Whether a test with this title can have this name. Linear in the length of the name, whatever the title. */
export function isTitled(title: Title, name: string): boolean {
  let at = 0;
  let isOpen = false;
  for (const [index, piece] of title.entries()) {
    if (piece === undefined) {
      isOpen = true;
      continue;
    }
    const isLast = index === title.length - 1;
    const found = !isOpen ? at : isLast ? name.length - piece.length : name.indexOf(piece, at);
    if (found < at || !name.startsWith(piece, found)) return false;
    at = found + piece.length;
    isOpen = false;
  }
  return isOpen || at === name.length;
}

export const isExact = (title: Title): boolean => !title.includes(undefined);

/** A name with the names around it, as the ids have them: what is empty, or the same as what stands before it, is left out. */
export function joinedTitles(titles: readonly Title[]): Title {
  const plain = titles.map((title) => (isExact(title) ? title.join('') : undefined));
  const named = titles.filter((_, index) => plain[index] === undefined || (plain[index] !== '' && plain[index] !== plain[index - 1]));
  return named.flatMap((title, index) => (index === 0 ? title : [ID_SEPARATOR, ...title]));
}
