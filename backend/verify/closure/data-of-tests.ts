import { escapeRegExp } from '../../common/escape-regexp.ts';
import { familyNameOf } from '../../common/imports/language-families.ts';
import type { Slices } from '../../common/slices.ts';
import { protectedReason } from '../files/protected-paths.ts';
import { baseOf, belongsToTests, folderOf, isConftest, type ProjectFiles } from './project.ts';
import type { Role } from './helpers-of-tests.ts';

/** Code is not read as data, except where it is included. */
export const isCode = (file: string): boolean => familyNameOf(file) !== undefined && !/\.(?:sql|sh|bash|zsh)$/.test(file);

/**
 * Why a file is data of tests, as one sentence: a text of theirs names it or its folder, and no text of the product does. Undefined if it is not.
 * @param roleOf what the sources are to the tests
 */
export async function whyItIsData(
  file: string, files: ProjectFiles, roleOf: (file: string) => Promise<Role>, slices: Slices,
): Promise<string | undefined> {
  const mentions = mentionsOf(file);
  let byTests: { readonly depth: number; readonly test: string } | undefined;
  const others: { readonly depth: number; readonly source: string }[] = [];
  await slices.forEach(files.paths, (source) => {
    if (familyNameOf(source) === undefined) return;
    const text = files.text(source);
    const depth = text === undefined ? 0 : mentions(text);
    if (depth === 0) return;
    if (!belongsToTests(source)) others.push({ depth, source });
    else if ((protectedReason(source)?.startsWith('Tests are') || isConftest(source)) && depth > (byTests?.depth ?? 0)) byTests = { depth, test: source };
  });
  const names = file.split('/').length;
  for (const { depth, source } of others) {
    const { is } = await roleOf(source);
    // A product that names the file or its folder reads it; one that names a folder further up may mean another file there.
    if (is === 'product' && (depth >= names - 1 || depth >= (byTests?.depth ?? 0))) return undefined;
    if (is === 'judge' && depth > (byTests?.depth ?? 0)) byTests = { depth, test: source };
  }
  return byTests && `Tests read it as data (${byTests.test}).`;
}

/** Folders whose mention says nothing of a file in them. */
const SOURCE_FOLDER = /^(?:src|lib|app|main|java|python|packages|docs?|dist|build|public|resources|static|scripts|examples?|\..*)$/i;
/** Text for people: only its own name counts. */
const PROSE = /\.(?:md|mdx|rst|adoc|txt)$/i;

/** How much of a path a text names in its strings: the place of the last part that it names, counted from 1; 0 if none. */
function mentionsOf(file: string): (text: string) => number {
  const parts = [...folderOf(file).split('/').filter((part) => part !== ''), baseOf(file)];
  const patterns = parts.flatMap((part, index) => {
    if (index < parts.length - 1 && (SOURCE_FOLDER.test(part) || PROSE.test(file))) return [];
    const name = escapeRegExp(part);
    return [{ depth: index + 1, quick: part, pattern: new RegExp(`["'\`/\\\\]${name}(?:["'\`/\\\\]|$)`, 'm') }];
  }).reverse();
  // A text for people is often named in what tests write, such as the metadata of a package; hardly ever with its folder, where it is no document.
  const base = escapeRegExp(baseOf(file));
  const withFolder = /\.txt$/i.test(file) && parts.length > 1 ? `|["'\`/\\\\]${escapeRegExp(parts.at(-2) ?? '')}[/\\\\]${base}["'\`]` : '';
  const reading = new RegExp(`\\b(?:open|read\\w*|path|join|resolve|include_str|load\\w*)\\b[^\\n]*${base}${withFolder}`, 'i');
  const isMeant = (text: string): boolean => !PROSE.test(file) || reading.test(text);
  return (text) => patterns.find(({ quick, pattern }) => text.includes(quick) && pattern.test(text) && isMeant(text))?.depth ?? 0;
}
