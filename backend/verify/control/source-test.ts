import type { TestRunnerName } from '../../protocol/test-runners.ts';
import { ID_SEPARATOR } from '../runners/test-report.ts';
import type { Edit } from '../syntax/edits.ts';
import type { Node } from '../syntax/parse.ts';
import type { Dice } from './dice.ts';

/** The name of a test as far as its source determines it. `undefined` stands for any text. */
export type Title = readonly (string | undefined)[];

/** A test in a source file. */
export interface SourceTest {
  /** The possible rest of its id after the file. */
  readonly titles: readonly Title[];
  /** Whether its source declares it skipped. */
  readonly isSkipped: boolean;
  /** Tests declared while this one runs. If one of them fails, so does this. */
  readonly subtests?: readonly SourceTest[];
  /** Where it stands in its file. Absent where tests are compiled together. */
  readonly body?: Pick<Node, 'startIndex' | 'endIndex'>;
  /** Edits after which the test must fail if the code is honest. Undefined if no edits are certain to do that. */
  alter(): readonly Edit[] | undefined;
}

/** A source file, apart from its syntax tree. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly runner: TestRunnerName;
  /** A name that occurs nowhere in the file. */
  readonly held: string;
  /** Chooses what is altered, and into what. */
  readonly dice: Dice;
}

/** A file of the project that a file of tests imports. It is only read: what is altered stands in the file of tests. */
export interface ImportedFile {
  readonly text: string;
  /** What it is imported as, with its name there. */
  readonly names: ReadonlyMap<string, string>;
}

export interface ImportedTree extends ImportedFile {
  readonly root: Node;
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

/** Joins titles as ids do: an empty title, or one equal to its predecessor, is left out. */
export function joinedTitles(titles: readonly Title[]): Title {
  const plain = titles.map((title) => (isExact(title) ? title.join('') : undefined));
  const named = titles.filter((_, index) => plain[index] === undefined || (plain[index] !== '' && plain[index] !== plain[index - 1]));
  return named.flatMap((title, index) => (index === 0 ? title : [ID_SEPARATOR, ...title]));
}
