import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import path from 'node:path';
import { IDENTIFIER } from '../search/words.ts';
import type { Vocabulary } from '../search/vocabulary.ts';
import { importsIn, type Import } from '../../common/imports/imports-in.ts';
import { packageNameIn } from '../../common/imports/package-names.ts';
import type { Definition } from './definition.ts';
import { definitionsIn } from './definitions-in.ts';

/** Larger files are data, generated or bundled. */
const MAX_BYTES = 512 * 1024;
/** Lines of minified code are longer on average. */
const MAX_AVERAGE_LINE = 400;

/** What the index keeps of a file. Its text is not kept. */
export interface IndexedFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly definitions: readonly Definition[];
  readonly imports: readonly Import[];
  /** The words of the text (numbers of a vocabulary), how often each occurs (at most 255), and how many there are in all. */
  readonly words: Uint32Array;
  readonly counts: Uint8Array;
  readonly length: number;
  /** The words of the names that it defines, and of its path. */
  readonly nameWords: Uint32Array;
  readonly pathWords: Uint32Array;
  /** The package or module that this file declares for its folder, if it is a package.json, go.mod or Cargo.toml. */
  readonly packageName: string | undefined;
}

/** Size and time of a regular file; undefined for anything else, links included. */
export function statusOf(file: string): Stats | undefined {
  const status = lstatSync(file, { throwIfNoEntry: false });
  return status?.isFile() ? status : undefined;
}

/** Reads one file. A file that is too large, binary or minified has a record without content, so that it is not read again. */
export function indexFile(
  { root, vocabulary }: { root: string; vocabulary: Vocabulary }, file: string, { size, mtimeMs }: Stats,
): IndexedFile {
  const text = (size > MAX_BYTES ? undefined : textOf(path.join(root, file))) ?? '';
  const definitions = definitionsIn(file, text.split(/\r?\n/));
  return {
    path: file, size, mtimeMs, definitions, imports: importsIn(file, text), packageName: packageNameIn(file, text),
    ...wordCounts(text, vocabulary),
    nameWords: distinctWords(definitions.map(({ name }) => name), vocabulary),
    pathWords: distinctWords(file.match(IDENTIFIER) ?? [], vocabulary),
  };
}

function wordCounts(text: string, vocabulary: Vocabulary): Pick<IndexedFile, 'words' | 'counts' | 'length'> {
  const counts = new Map<number, number>();
  let length = 0;
  for (const identifier of text.match(IDENTIFIER) ?? []) {
    for (const number of vocabulary.numbersOf(identifier)) {
      counts.set(number, (counts.get(number) ?? 0) + 1);
      length += 1;
    }
  }
  return { words: Uint32Array.from(counts.keys()), counts: Uint8Array.from(counts.values(), (count) => Math.min(255, count)), length };
}

function distinctWords(identifiers: readonly string[], vocabulary: Vocabulary): Uint32Array {
  return Uint32Array.from(new Set(identifiers.flatMap((identifier) => vocabulary.numbersOf(identifier))));
}

function textOf(file: string): string | undefined {
  const bytes = bytesOf(file);
  if (!bytes || bytes.includes(0)) return undefined;
  const text = bytes.toString('utf8');
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return text.length > 4_000 && text.length / lines > MAX_AVERAGE_LINE ? undefined : text;
}

/** Bounded in case the file has grown since it was listed; a link that has replaced it is refused. */
function bytesOf(file: string): Buffer | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const status = fstatSync(handle);
    if (!status.isFile() || status.size > MAX_BYTES) return undefined;
    const buffer = Buffer.allocUnsafe(status.size);
    let length = 0;
    while (length < buffer.length) {
      const read = readSync(handle, buffer, length, buffer.length - length, length);
      if (read === 0) break;
      length += read;
    }
    return buffer.subarray(0, length);
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
