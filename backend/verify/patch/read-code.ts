import type { Language } from '../syntax/language.ts';
import { outlineOf, type Item } from '../syntax/outline.ts';
import { withoutEntities, withoutLineNumbers } from './copied-signs.ts';
import { markElisions } from './elisions.ts';
import { dedented } from './indentation.ts';

/** A code block whose parts are known. Indices of the items are those of `text`. */
export interface ReadCode {
  readonly text: string;
  readonly items: readonly Item[];
  /** The first line that leaves something out, as written. */
  readonly elision: string | undefined;
  /** It holds methods without the type that they belong to. */
  readonly isInside: boolean;
}

/** A method alone is no program. In a type or an object it is. */
const WRAPPERS: Readonly<Partial<Record<Language, readonly (readonly [string, string])[]>>> = {
  javascript: [['class Type {', '}'], ['const type = {', '};']],
  typescript: [['class Type {', '}'], ['interface Type {', '}'], ['const type = {', '};']],
  tsx: [['class Type {', '}'], ['interface Type {', '}'], ['const type = {', '};']],
  java: [['class Type {', '}']],
  php: [['class Type {', '}']],
  rust: [['trait Type {', '}']],
};

/**
 * Reads the parts of a block, as it is or without what was copied along with it: indentation, line numbers, HTML's entities. Undefined if it
 * cannot be parsed in any of these ways.
 * @param file the text of the file that it is for: what stands there is never taken for an elision
 */
export async function readCode(content: string, file: string, language: Language): Promise<ReadCode | undefined> {
  for (const plain of spellings(content)) {
    const { text: marked, first: elision } = markElisions(plain, file, language);
    // A part of a file of PHP has no opening tag.
    const read = await readWhole(language === 'php' && !marked.includes('<?') ? `${OPENING}${marked}` : marked, language);
    if (read) return { ...read, elision };
  }
  return undefined;
}

const OPENING = '<?php\n';

async function readWhole(text: string, language: Language): Promise<Omit<ReadCode, 'elision'> | undefined> {
  const outline = await outlineOf(text, language);
  const isDefinite = outline?.items.some(({ kind, name }) => name !== '' || kind === 'import' || kind === 'package');
  if (outline && !outline.hasError && isDefinite) return { text, items: outline.items, isInside: false };
  const opening = text.startsWith(OPENING) ? OPENING : '';
  for (const [before, after] of WRAPPERS[language] ?? []) {
    const wrapped = `${opening}${before}\n${text.slice(opening.length)}\n${after}\n`;
    const inside = await outlineOf(wrapped, language);
    const members = inside?.items[0]?.members;
    if (inside?.hasError === false && inside.items.length === 1 && members?.some(({ name }) => name !== ''))
      return { text: wrapped, items: members, isInside: true };
  }
  return outline && !outline.hasError ? { text, items: outline.items, isInside: false } : undefined;
}

function* spellings(content: string): Generator<string> {
  const plain = dedented(content.replace(/^\uFEFF/, ''));
  yield plain;
  const lines = withoutLineNumbers(content.replace(/^\uFEFF/, '').split('\n'));
  const unnumbered = lines ? dedented(lines.join('\n')) : undefined;
  if (unnumbered !== undefined) yield unnumbered;
  const unescaped = withoutEntities(unnumbered ?? plain);
  if (unescaped !== undefined) yield unescaped;
}
