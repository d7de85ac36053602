import { namedItems, type Item } from '../syntax/outline.ts';
import { isMark } from './elisions.ts';
import { similarity } from './line-similarity.ts';
import { listed } from '../../common/listed.ts';
import { hasSameBrackets } from './place-fragment.ts';
import type { ReadCode } from './read-code.ts';

/** A fragment defines nothing of a file that does. */
export type Extent = { readonly is: 'whole' } | { readonly is: 'part' } | { readonly is: 'fragment' } | { readonly reason: string };

const WHOLE: Extent = { is: 'whole' };
const PART: Extent = { is: 'part' };
const FRAGMENT: Extent = { is: 'fragment' };

const isDefinition = ({ kind, name }: Item): boolean => (kind === 'function' || kind === 'type') && name !== '';
const isHead = ({ kind }: Item): boolean => kind === 'import' || kind === 'package';

/**
 * Whether a block that is meant for a file is the file's new content or a part of it. A file that would lose definitions is the question:
 * a block that lacks the file's imports, or uses what it lacks, is a part; one that keeps most of the file is the whole. Between the two there is
 * no single reading.
 * @param elsewhere names that other blocks of the answer define: they may have moved there
 * @param says what stands above the block
 */
export function extentOf(
  block: ReadCode, file: { readonly text: string; readonly items: readonly Item[] },
  { elsewhere, says }: { readonly elsewhere: ReadonlySet<string>; readonly says: string },
): Extent {
  if (block.isInside || block.elision !== undefined) return PART;
  if (saysWhole(says)) return WHOLE;
  const [own, theirs] = [block.items, file.items].map((items) => new Map([...namedItems(items)].filter(({ item }) => isDefinition(item)).map(({ path, item }) => [path, item]))) as [
    Map<string, Item>, Map<string, Item>,
  ];
  if ([...own].some(([path, item]) => theirs.has(path) && isMark(block.text.slice(item.start, item.end)))) return PART;
  const missing = [...theirs.keys()].filter((path) => !own.has(path) && !elsewhere.has(path));
  if (missing.length === 0) {
    const isPart = lacksStatements(block.items, file.items) || usesWhatItLacks(block, file.items) || (own.size === 0 && isFewLines(block.text, file.text));
    return isPart ? PART : WHOLE;
  }
  const lost = { reason: `it lacks ${listed(missing)} of the file, and does not say whether that is to be deleted` };
  if (own.size === 0) return block.items.every(({ kind }) => kind === 'import' || kind === 'comment') && block.items.some(isHead) ? PART : FRAGMENT;
  const top = missing.filter((path) => !path.includes('.') || theirs.get(path)?.name === path);
  if (top.some((path) => new RegExp(`\\b${path.split('.').at(-1)?.replaceAll(/\W/g, '') ?? ''}\\b`).test(block.text))) return PART;
  const [fileHasHead, blockHasHead] = [file.items.some(isHead), block.items.some(isHead)];
  if (fileHasHead && !blockHasHead) return PART;
  const known = [...own].filter(([path]) => theirs.has(path));
  const changed = known.filter(([path, item]) => item.members === undefined && item.words !== theirs.get(path)?.words);
  const same = known.filter(([path, item]) => item.words === theirs.get(path)?.words);
  const added = [...own.keys()].filter((path) => !theirs.has(path));
  const keepsMost = known.length * 2 >= theirs.size;
  if (fileHasHead) return keepsMost ? WHOLE : same.length === 0 && changed.length > 0 ? PART : lost;
  if (known.length > 0 && changed.length === 0 && added.length === 0) return WHOLE;
  if (added.length === 0) return same.length === 0 ? PART : lost;
  // Renamed: what is new is much like what is gone.
  if (added.length >= missing.length && missing.every((path) => added.some((name) => isLike(own.get(name), theirs.get(path))))) return WHOLE;
  return known.length > 0 && same.length === 0 && added.length < missing.length ? PART : lost;
}

export const saysWhole = (says: string): boolean => /\b(?:full|complete|entire|whole)\b[^.\n]{0,40}\b(?:files?|contents?|source|version)\b/i.test(says);

/** A file of fewer lines may well be written anew. */
const MIN_LINES = 6;

/** Whether a block can be no whole file, by its lines alone: it begins inside of something, is much shorter, or has brackets open. */
export function isFragment(block: string, file: string): boolean {
  return /^[ \t]/.test(block.replace(/^\s*\n/, '')) || isFewLines(block, file) || (hasSameBrackets(file, '') && !hasSameBrackets(block, ''));
}

const tellingLines = (text: string): string[] => text.split('\n').map((line) => line.trim()).filter((line) => /[\p{L}\d]/u.test(line));

/** Whether a block has half of a file's lines. */
export function hasHalf(block: string, file: string): boolean {
  const own = new Set(tellingLines(block));
  const theirs = tellingLines(file);
  return theirs.filter((line) => own.has(line)).length * 2 >= theirs.length;
}

/** Whether a block is much shorter than a file of more than a few lines. */
function isFewLines(block: string, file: string): boolean {
  const theirs = tellingLines(file).length;
  return theirs >= MIN_LINES && tellingLines(block).length * 3 <= theirs;
}

function isLike(a: Item | undefined, b: Item | undefined): boolean {
  return a !== undefined && b !== undefined && similarity(a.words.slice(0, 1_000), b.words.slice(0, 1_000)) > 0.6;
}

/** Whether a block uses a name that the file imports or declares, and does neither itself. */
function usesWhatItLacks(block: ReadCode, theirs: readonly Item[]): boolean {
  const bound = (items: readonly Item[]): string[] => items.flatMap(({ kind, name, words }) =>
    kind === 'variable' ? name.split(',') : kind === 'import' ? (words.replaceAll(/(["'`]).*?\1/g, '').match(NAME) ?? []) : []);
  const own = new Set(bound(block.items));
  const code = block.items.filter(({ kind }) => kind !== 'comment' && kind !== 'import').map(({ words }) => words.replaceAll(/(["'`]).*?\1/g, '')).join(' ');
  return bound(theirs).some((name) => !own.has(name) && !KEYWORDS.has(name) && NAME_ALONE.test(name) && new RegExp(`(?<![\\w$.]|\\. )${name.replaceAll('$', '\\$')}(?![\\w$]| :)`).test(code));
}

const NAME = /[\p{L}_$][\p{L}\d_$]*/gu;
const NAME_ALONE = /^[\p{L}_$][\p{L}\d_$]*$/u;
const KEYWORDS: ReadonlySet<string> = new Set(['import', 'from', 'as', 'const', 'let', 'var', 'require', 'type', 'default', 'use', 'static', 'crate', 'self', 'super', 'std', 'pub']);

/** Whether a block of definitions lacks what the file does beside defining: imports, statements, constants. Then it replaces its definitions only. */
function lacksStatements(own: readonly Item[], theirs: readonly Item[]): boolean {
  if (!own.some(isDefinition) || own.some((item) => !isDefinition(item) && item.kind !== 'comment')) return false;
  return theirs.some((item) => !isDefinition(item) && item.kind !== 'comment');
}
