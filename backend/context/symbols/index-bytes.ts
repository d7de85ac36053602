import { hash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import { Slices } from '../../common/slices.ts';
import { MAX_WORDS } from '../search/vocabulary.ts';
import { redactText } from '../../common/secrets/secrets.ts';
import type { Import } from '../../common/imports/imports-in.ts';
import type { Definition, SymbolKind } from './definition.ts';
import type { IndexedFile } from './indexed-file.ts';

/*
 * An index as bytes: a mark, a checksum of all that follows, a head, and the files in blocks, each behind its length. In blocks, because a
 * large index would otherwise hold up all other work for a second. Text that looks like a secret is left out, and words are hashes (`Vocabulary`).
 */

/** What is read from files has changed whenever this has: an index of another number is made anew. */
export const FORMAT = 1;

export interface IndexContent {
  /** Of the words of its vocabulary, by number. */
  readonly hashes: Float64Array;
  readonly files: readonly IndexedFile[];
}

const MARK = Buffer.from('conductor index\n');
const CHECKSUM_BYTES = 32;
const FILES_PER_BLOCK = 250;

const slices = new Slices();

/** @param key what the index is of; it is read back with the same key alone */
export async function bytesOf(key: string, { hashes, files }: IndexContent): Promise<Buffer> {
  const blocks: Buffer[] = [serialize([FORMAT, key, hashes])];
  const starts = Array.from({ length: Math.ceil(files.length / FILES_PER_BLOCK) }, (_, block) => block * FILES_PER_BLOCK);
  await slices.forEach(starts, (start) => {
    blocks.push(serialize(files.slice(start, start + FILES_PER_BLOCK).map(rowOf)));
  });
  const body = Buffer.concat(blocks.flatMap((block) => [lengthOf(block), block]));
  return Buffer.concat([MARK, hash('sha256', body, 'buffer'), body]);
}

/** @returns undefined for anything that `bytesOf` has not written with this key and in this format */
export async function contentOf(key: string, bytes: Buffer): Promise<IndexContent | undefined> {
  const body = bytes.subarray(MARK.length + CHECKSUM_BYTES);
  if (!bytes.subarray(0, MARK.length).equals(MARK)) return undefined;
  if (!bytes.subarray(MARK.length, MARK.length + CHECKSUM_BYTES).equals(hash('sha256', body, 'buffer'))) return undefined;
  try {
    const [head, ...blocks] = blocksIn(body);
    const [format, itsKey, hashes] = head ? deserialize(head) as unknown[] : [];
    if (format !== FORMAT || itsKey !== key || !(hashes instanceof Float64Array) || hashes.length > MAX_WORDS) return undefined;
    const files: IndexedFile[] = [];
    await slices.forEach(blocks, (block) => {
      for (const row of deserialize(block) as Row[]) files.push(fileOf(row));
    });
    return { hashes, files };
  } catch {
    // A checksum shows what was damaged, not what was made up.
    return undefined;
  }
}

function lengthOf(block: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(block.length);
  return length;
}

function* blocksIn(body: Buffer): Iterable<Buffer> {
  for (let at = 0; at < body.length;) {
    const end = at + 4 + body.readUInt32LE(at);
    yield body.subarray(at + 4, end);
    at = end;
  }
}

type DefinitionRow = readonly [name: string, kind: SymbolKind, startLine: number, endLine: number, line: number, signature: string];
type Row = readonly [
  path: string, size: number, mtimeMs: number, packageName: string | undefined, length: number,
  words: Uint32Array, counts: Uint8Array, nameWords: Uint32Array, pathWords: Uint32Array,
  definitions: readonly DefinitionRow[], imports: readonly Import[],
];

/** In rows, because names of properties would be written for every definition. */
function rowOf(file: IndexedFile): Row {
  const definitions = file.definitions.map(({ name, kind, startLine, endLine, line, signature }): DefinitionRow =>
    [name, kind, startLine, endLine, line, redactText(signature)]);
  const imports = file.imports.map((one) => ({ ...one, from: redactText(one.from) }));
  return [
    file.path, file.size, file.mtimeMs, file.packageName, file.length, file.words, file.counts, file.nameWords, file.pathWords, definitions, imports,
  ];
}

/** @throws if the row has another shape */
function fileOf(row: Row): IndexedFile {
  const [path, size, mtimeMs, packageName, length, words, counts, nameWords, pathWords, definitions, imports] = row;
  must(areStrings(path) && areNumbers(size, mtimeMs, length) && (packageName === undefined || areStrings(packageName)));
  must([words, nameWords, pathWords].every((list) => list instanceof Uint32Array) && counts instanceof Uint8Array && counts.length === words.length);
  for (const { from, names, passedOn } of imports) {
    must(areStrings(from) && typeof passedOn === 'boolean' && names.every(({ name, as }) => areStrings(name, as)));
  }
  return { path, size, mtimeMs, packageName, length, words, counts, nameWords, pathWords, imports, definitions: definitions.map((one) => definitionOf(path, one)) };
}

function definitionOf(path: string, [name, kind, startLine, endLine, line, signature]: DefinitionRow): Definition {
  must(areStrings(name, kind, signature) && areNumbers(startLine, endLine, line));
  return { name, kind, path, startLine, endLine, line, signature };
}

function areStrings(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

function areNumbers(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'number');
}

function must(isSo: boolean): void {
  if (!isSo) throw new TypeError('This is no index.');
}
