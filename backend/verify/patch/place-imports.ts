import type { Edit } from '../syntax/edits.ts';
import type { Language } from '../syntax/language.ts';
import type { Item } from '../syntax/outline.ts';
import { NoSinglePlace } from './no-single-place.ts';

/**
 * The edits that give a file the imports of a block. What it imports already is left alone; an import of the same names is exchanged if the
 * block's has all of them.
 */
export function importEdits(block: { readonly text: string; readonly items: readonly Item[] }, file: ImportingFile): Edit[] {
  const { text, items: fileItems, language } = file;
  const theirs = fileItems.filter(({ kind }) => kind === 'import');
  const edits: Edit[] = [];
  const added: string[] = [];
  for (const item of block.items) {
    if (item.kind !== 'import') continue;
    if (language === 'go') {
      const known = new Set(theirs.flatMap(({ words }) => goImports(words)));
      added.push(...goImports(item.words).filter((spec) => !known.has(spec)).map((spec) => `import ${spec}`));
      continue;
    }
    if (theirs.some(({ words }) => bare(words) === bare(item.words))) continue;
    const written = block.text.slice(item.start, item.end);
    const names = boundNames(item.words, language);
    const rivals = theirs.filter(({ words }) => boundNames(words, language).some((name) => names.includes(name)));
    const [rival, ...others] = rivals;
    if (!rival) {
      added.push(written);
    } else if (others.length === 0 && boundNames(rival.words, language).every((name) => names.includes(name))) {
      edits.push({ start: rival.start, end: rival.end, text: written });
    } else if (!names.every((name) => rivals.some(({ words }) => boundNames(words, language).includes(name)))) {
      throw new NoSinglePlace(`its import ${JSON.stringify(written.slice(0, 60))} has not all names of the file's`);
    }
  }
  if (added.length === 0) return edits;
  const last = theirs.at(-1) ?? fileItems.find(({ kind }) => kind === 'package') ?? headOf(fileItems);
  if (last) return [...edits, { start: last.end, end: last.end, text: `${theirs.length === 0 ? '\n' : ''}\n${added.join('\n')}` }];
  const first = fileItems[0]?.leadStart ?? text.length;
  return [...edits, { start: first, end: first, text: `${added.join('\n')}\n\n` }];
}

/** A docstring or a comment of the whole file ("use strict", a licence) that imports stand below. */
function headOf(items: readonly Item[]): Item | undefined {
  const [first] = items;
  return first?.kind === 'statement' && /^["']/.test(first.words) ? first : undefined;
}

interface ImportingFile {
  readonly text: string;
  readonly items: readonly Item[];
  readonly language: Language;
}

const bare = (words: string): string => words.replace(/\s*;$/, '').replaceAll("'", '"').replaceAll(/\s/g, '');

/** The names that an import defines. */
function boundNames(words: string, language: Language): string[] {
  if (language === 'java' || language === 'php') return [words.replace(/\s*;$/, '').split(/[\s\\]/).at(-1) ?? ''];
  if (language === 'rust') return [...words.matchAll(/(\w+|\*)\s*(?=[,};]|$)/g)].map(([, name = '']) => name);
  if (language === 'python') {
    const list = /\bimport (.*)$/s.exec(words)?.[1]?.replaceAll(/[()]/g, '') ?? '';
    return list.split(',').map((name) => (/\bas (\w+)\s*$/.exec(name)?.[1] ?? name).replaceAll(/\s/g, '')).filter((name) => name !== '');
  }
  const names = words.replaceAll(/(["'])\s*[^"']*\s*\1/g, '').match(/[\p{L}_$][\p{L}\d_$]*/gu) ?? [];
  return names.filter((name) => !/^(?:import|from|as|const|let|var|require|type|typeof|with|default)$/.test(name));
}

/** `"fmt"` and `f "fmt"` of one declaration. */
const goImports = (words: string): string[] =>
  [...words.matchAll(/(?:([\w.]+) )?["`]\s*([^"`\s]+)\s*["`]/g)].map(([, name, path = '']) => `${name === undefined || name === 'import' ? '' : `${name} `}"${path}"`);
