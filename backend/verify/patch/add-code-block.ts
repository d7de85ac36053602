import { languageOf, type Language } from '../syntax/language.ts';
import { namedItems, outlineOf, simpleName, type Item } from '../syntax/outline.ts';
import type { AnswerBlock, Surroundings } from './answer-block.ts';
import { fillElisions, isMark, markElisions, withStubs, type MarkedBlock } from './elisions.ts';
import { dedented, inTabsOrSpacesOf } from './indentation.ts';
import { NoSinglePlace } from './no-single-place.ts';
import type { DraftFile, PatchDraft } from './patch-draft.ts';
import { placeCode } from './place-code.ts';
import { hasSameBrackets, placeFragment } from './place-fragment.ts';
import { isJson, placeJson } from './place-json.ts';
import { readCode, type ReadCode } from './read-code.ts';
import { saysAddition, saysAlternative, saysChange, saysDeletion, saysIllustration } from './spoken-intent.ts';
import { isShell } from './shell-script.ts';
import { filesThat, textOf } from './which-file.ts';
import { extentOf, hasHalf, isFragment, saysWhole } from './whole-or-part.ts';

export type CodeBlock = Extract<AnswerBlock, { kind: 'code' }>;

export const MORE_THAN_ONE_WAY = 'The answer gives more than one way to change the file and chooses none.';

/** All code blocks of an answer: what one means may depend on the others. */
export class AnswerCode {
  readonly shown: readonly string[];
  readonly #blocks: readonly CodeBlock[];
  readonly #saysChange: boolean;
  /** For each file, what was said above the blocks that change it. */
  readonly #said = new Map<string, string[]>();

  constructor(blocks: readonly AnswerBlock[], shown: readonly string[], answer: string) {
    this.shown = shown;
    this.#blocks = blocks.filter((block) => block.kind === 'code');
    this.#saysChange = saysChange(answer.slice(0, 200_000).replaceAll(/^(`{3,})[\s\S]*?^\1/gm, ''));
  }

  /** Whether any sentence of the answer speaks of a change. */
  get saysChange(): boolean {
    return this.#saysChange;
  }

  /** Names that look defined in the other blocks. */
  definedBeside(block: CodeBlock): ReadonlySet<string> {
    const others = this.#blocks.filter((other) => other !== block && other.named?.path !== block.named?.path);
    return new Set(others.flatMap(({ content }) => definedNames(content)));
  }

  /** Whether the block is one of several ways to change the file, of which none was chosen. */
  isAlternative(path: string, says: Surroundings): boolean {
    const earlier = this.#said.get(path) ?? [];
    this.#said.set(path, [...earlier, says.above]);
    return earlier.length > 0 && saysAlternative(says.above) && !/\bfinal|recommend|chosen|use this\b/i.test(says.above);
  }

  /** Whether another block without a name defines one of the names, too. */
  isRivalled(block: CodeBlock, names: readonly string[]): boolean {
    return this.#blocks.some((other) => other !== block && other.named === undefined && definedNames(other.content).some((name) => names.includes(name)));
  }
}

const DEFINED = /^[ \t]*(?:export\s+)?(?:default\s+)?(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\*?|def|func(?:\s*\([^)]*\))?|fn|class|interface|struct|enum|trait|type)\s+([\p{L}_$][\p{L}\d_$]*)/gmu;
const definedNames = (content: string): string[] => [...content.slice(0, 1_000_000).matchAll(DEFINED)].map(([, name = '']) => name);

/** @param code undefined where the block is certainly meant for its file */
export async function addCodeBlock(draft: PatchDraft, block: CodeBlock, code: AnswerCode | undefined): Promise<void> {
  const { named, says, content } = block;
  if (named === undefined) return code && (await addByDefinitions(draft, block, code));
  const file = await draft.open(named.path, undefined, { onlyIfPresent: !named.explicit });
  if (!file) return;
  if (code?.isAlternative(file.path, says)) return draft.refuse(file.path, MORE_THAN_ONE_WAY);
  if (content.trim() === '') return draft.refuse(file.path, 'The code block is empty; files are deleted by a diff only.');
  await addToFile(draft, file, block, code?.definedBeside(block) ?? new Set());
}

async function addToFile(draft: PatchDraft, file: DraftFile, block: CodeBlock, elsewhere: ReadonlySet<string>): Promise<void> {
  const { content, says } = block;
  const language = languageOf(file.path);
  const current = file.current;
  if (current === null) {
    const { first } = markElisions(content, file.original ?? '', language);
    if (first !== undefined) return refuseGap(draft, file, first, 'there is no such file to fill them in from');
    const read = language && (await readCode(content, '', language));
    return setWhole(draft, file, read && !read.isInside ? cleaned(content, read) : content);
  }
  const read = language && (await readCode(content, current, language));
  const outline = language && (await outlineOf(current, language));
  if (!language || !read || !outline) return addLines(draft, file, block, { isProgram: outline?.hasError === false });
  const extent = extentOf(read, { text: current, items: outline.items }, { elsewhere, says: says.near });
  if ('reason' in extent) return draft.refuse(file.path, `The code block could be the whole file or a part of it: ${extent.reason}.`);
  if (extent.is === 'whole') return setWhole(draft, file, inTabsOrSpacesOf(current, cleaned(content, read)));
  if (extent.is === 'fragment') return addFragment(draft, file, fragmentIn(block, current));
  const placed = place(read, { text: current, items: outline.items, language }, { prose: says.above, mayAdd: saysAddition(says.above) });
  if ('text' in placed && read.elision === undefined && isReadOtherwise(placed.text, fragmentIn(block, current)))
    return draft.refuse(file.path, 'The code block could stand for all that it begins, or for its own lines alone: it does not say whether what follows in the file is to be deleted.');
  if ('text' in placed) return setParts(draft, file, placed.text);
  if (read.elision !== undefined) return refuseGap(draft, file, read.elision, placed.reason);
  const byLines = definesSomeOf(read.items, outline.items) ? placed : fragmentIn(block, current);
  if (typeof byLines === 'string') setParts(draft, file, byLines);
  else draft.refuse(file.path, `The code block has no single place in the file: ${placed.reason}.`);
}

/** Whether the lines at a block's ends give another change than its names: it ends in the middle of a function, or has names of another type. */
const isReadOtherwise = (byNames: string, byLines: string | { readonly reason: string }): boolean =>
  typeof byLines === 'string' && byLines.replaceAll(/\s/g, '') !== byNames.replaceAll(/\s/g, '');

function refuseGap(draft: PatchDraft, { path }: DraftFile, gap: string, why: string): void {
  draft.refuse(path, `The code block leaves parts of the file out (${JSON.stringify(gap)}), and ${why}.`);
}

/** Whether one of a block's definitions is in the file, where its name tells its place. */
function definesSomeOf(own: readonly Item[], theirs: readonly Item[]): boolean {
  const names = new Set([...namedItems(theirs)].map(({ item }) => simpleName(item.name)));
  return [...namedItems(own)].some(({ item: { kind, name } }) => (kind === 'function' || kind === 'type') && names.has(simpleName(name)));
}

/** Adds a block that is no program by itself, or that is for a file whose syntax is not read. */
function addLines(draft: PatchDraft, file: DraftFile, block: CodeBlock, { isProgram }: { readonly isProgram: boolean }): void {
  const { content, says } = block;
  const current = file.current ?? '';
  const { text, first } = markElisions(content, current, languageOf(file.path));
  const isWhole = first === undefined && (saysWhole(says.near) || hasHalf(content, current) || (isProgram && content.length > current.length));
  const members = isJson(file.path) && !(isWhole && saysWhole(says.near)) ? unlessUnclear(() => placeJson(text, current)) : undefined;
  if (members !== undefined && typeof members !== 'string')
    return first === undefined ? draft.refuse(file.path, `The code block could be the whole file or a part of it: ${members.reason}.`) : refuseGap(draft, file, first, members.reason);
  if (isWhole) return setWhole(draft, file, content);
  if (members !== undefined) return setParts(draft, file, members);
  if (first !== undefined) {
    const filled = fillElisions(inTabsOrSpacesOf(current, text).split('\n'), current.split('\n'), { anchored: false });
    return 'reason' in filled ? refuseGap(draft, file, first, filled.reason) : setParts(draft, file, filled.lines.join('\n'));
  }
  const placed = fragmentIn(block, current);
  if (isProgram) {
    // What is there already may be what was left of an answer.
    return placed === current ? draft.refuseIfAlone(file.path, 'The code block is in the file as it is, so it changes nothing.') : addFragment(draft, file, placed);
  }
  if (typeof placed !== 'string') return isFragment(content, current) ? addFragment(draft, file, placed) : setWhole(draft, file, content);
  addFragment(draft, file, hasSameBrackets(current, placed) ? placed : { reason: 'its brackets do not match those of the lines that it would stand for' });
}

/** Adds a block that begins and ends in the middle of something: the lines that it does not change tell its place. */
function addFragment(draft: PatchDraft, file: DraftFile, placed: string | { readonly reason: string }): void {
  if (typeof placed === 'string') setParts(draft, file, placed);
  else draft.refuse(file.path, `The code block is a part of the file, but has no single place in it: ${placed.reason}.`);
}

const fragmentIn = ({ content, says }: CodeBlock, current: string): string | { readonly reason: string } =>
  unlessUnclear(() => placeFragment(content, current, { mayDelete: saysDeletion(says.above) }));

function unlessUnclear<T>(read: () => T): T | { readonly reason: string } {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof NoSinglePlace)) throw error;
    return { reason: error.message };
  }
}

/** A whole file keeps its own layout, unless something had to be taken away to read it. */
function cleaned(content: string, read: ReadCode): string {
  const plain = content.replace(/^\uFEFF/, '');
  const bare = (text: string): string => text.replaceAll(/\s/g, '');
  const text = withStubs(read.text) ?? plain;
  return bare(text) === bare(plain) ? dedented(plain) : text;
}

function setWhole(draft: PatchDraft, file: DraftFile, text: string): void {
  // The last of several blocks for a file is the one that holds.
  if (file.way === 'parts' && file.fromCode) file.way = undefined;
  if (draft.claim(file, 'whole')) file.current = text.endsWith('\n') ? text : `${text}\n`;
}

function setParts(draft: PatchDraft, file: DraftFile, text: string): void {
  if (file.way === undefined && !draft.claim(file, 'parts')) return;
  file.fromCode = true;
  file.isCertain = false;
  file.current = text;
}

/** The file with the block's definitions in it: by their names, or else by the lines around what the block leaves out. */
function place(
  read: ReadCode, file: { readonly text: string; readonly items: readonly Item[]; readonly language: Language },
  hints: { readonly prose: string; readonly mayAdd: boolean },
): { readonly text: string } | { readonly reason: string } {
  const placed = unlessUnclear(() => placeCode(read, file, hints));
  if (typeof placed === 'string') return { text: placed };
  if (read.elision === undefined || read.isInside) return placed;
  const filled = fillElisions(inTabsOrSpacesOf(file.text, read.text).split('\n'), file.text.replace(/\n$/, '').split('\n'), { anchored: false });
  return 'reason' in filled ? placed : { text: `${filled.lines.join('\n').replace(/\n+$/, '')}\n` };
}

/** Adds a block that has no name of a file above it: what it defines tells which file it is for. */
async function addByDefinitions(draft: PatchDraft, block: CodeBlock, code: AnswerCode): Promise<void> {
  const { says, content } = block;
  const isChange = saysChange(says.above);
  if (saysIllustration(says.near) && !saysChange(says.near)) return;
  const found = await filesThat(draft, (text, path) => definesSome(content, block.language, text, path), says.mentions, code.shown);
  const [path, ...others] = found;
  if (path === undefined) return await addToMentioned(draft, block, code, isChange);
  if (others.length > 0) {
    if (isChange) draft.refuse('(code block)', `It is not clear whether ${[path, ...others].slice(0, 3).join(' or ')} is meant: the code block names no file.`);
    return;
  }
  const isMentioned = (await Promise.all(says.mentions.flat().map((written) => draft.resolve(written)))).includes(path);
  if (!isMentioned && code.isRivalled(block, definedNames(content)) && !isChange) return;
  // A shorter version of a function, in an answer that speaks of no change, explains it.
  const text = (await textOf(draft.base, path)) ?? '';
  if (!code.saysChange && (await isShortened(content, text, path))) return;
  const file = await draft.open(path, undefined, { onlyIfPresent: true });
  if (!file) return;
  if (code.isAlternative(path, says)) return draft.refuse(path, MORE_THAN_ONE_WAY);
  if (!isChange && !isMentioned && !code.saysChange && (await cannotBePlaced(file, block))) return;
  await addToFile(draft, file, block, code.definedBeside(block));
}

/** A block that defines nothing of a file, under a sentence that speaks of a change to one file, or that names nothing but it. */
async function addToMentioned(draft: PatchDraft, block: CodeBlock, code: AnswerCode, isChange: boolean): Promise<void> {
  const { says, language, content } = block;
  if (isShell(language) || /^(?:output|diff)$/i.test(language)) return;
  const mentioned = new Set<string>();
  for (const written of says.mentions[0] ?? []) mentioned.add(await draft.resolve(written));
  const [path, ...others] = [...mentioned].filter((file) => isWrittenFor(language, file));
  if (path === undefined || others.length > 0) return;
  const text = await textOf(draft.base, path);
  if (text === undefined && !(isChange && /\b(?:creat|new|add)\w*|neue?|erstell|nouve|crea|新/i.test(says.near))) return;
  const how = { isLabelled: isLabel(says.near), isSaid: code.saysChange };
  if (!isChange && !isChangeOf(content, text ?? '', path, how)) return how.isLabelled && how.isSaid ? refuseIfAlone(draft, path, block, text ?? '') : undefined;
  await addCodeBlock(draft, { ...block, named: { path, explicit: true, fromFirstLine: false } }, code);
}

/** What has nothing of the file may be an example beside the change. */
function refuseIfAlone(draft: PatchDraft, path: string, block: CodeBlock, text: string): void {
  const placed = fragmentIn(block, text);
  if (typeof placed !== 'string') draft.refuseIfAlone(path, `The code block has no single place in the file: ${placed.reason}.`);
}

/** "In `src/a.js`:", "And in src/b.js, line 12:". */
function isLabel(near: string): boolean {
  const line = near.split('\n').at(-1) ?? '';
  if (line.length > 200 || !/:\W*$/.test(line)) return false;
  const words = line.replaceAll(/`[^`]*`|\S*[./]\S*/g, ' ').match(/[\p{L}\d]+/gu) ?? [];
  return words.every((word) => LABEL_WORDS.test(word));
}
const LABEL_WORDS = /^(?:in|and|also|then|next|for|at|of|on|the|file|lines?|near|around|inside|within|und|datei|dans|et|en|nel|em|no|\d+)$/i;

/** Whether a file has some of a block's lines, and lacks others. */
function isPartlyIn({ text: block }: MarkedBlock, text: string): boolean {
  const theirs = new Set(text.split('\n').map((line) => line.trim()));
  const telling = block.split('\n').filter((line) => !isMark(line) && ((line.match(/[\p{L}\d_$]+/gu) ?? []).length > 1 || /"\s*:/.test(line))).map((line) => line.trim());
  return telling.some((line) => theirs.has(line)) && telling.some((line) => !theirs.has(line));
}

/**
 * Whether a block below the name of a file is a change of it, although the sentence does not say so: it has lines of the file, and others; and it
 * leaves parts out, has a place, or is in an answer that speaks of a change and names the file alone above it.
 */
function isChangeOf(content: string, text: string, path: string, { isLabelled, isSaid }: { readonly isLabelled: boolean; readonly isSaid: boolean }): boolean {
  const marked = markElisions(content, text, languageOf(path));
  if (!isPartlyIn(marked, text)) return false;
  if (marked.first !== undefined || (isLabelled && isSaid)) return true;
  return (isLabelled || isSaid) && typeof unlessUnclear(() => placeFragment(content, text, { mayDelete: false })) === 'string';
}

async function cannotBePlaced(file: DraftFile, { content, says }: CodeBlock): Promise<boolean> {
  const language = languageOf(file.path);
  const [read, outline] = language && file.current !== null
    ? [await readCode(content, file.current, language), await outlineOf(file.current, language)] : [undefined, undefined];
  if (!language || !read || !outline || file.current === null) return true;
  const extent = extentOf(read, { text: file.current, items: outline.items }, { elsewhere: new Set(), says: says.near });
  if ('reason' in extent) return true;
  if (extent.is === 'fragment') return typeof unlessUnclear(() => placeFragment(content, file.current ?? '', { mayDelete: false })) !== 'string';
  return extent.is === 'part' && 'reason' in place(read, { text: file.current, items: outline.items, language }, { prose: says.above, mayAdd: false });
}

/** Whether a block defines a function or a type that the file defines, too. */
async function definesSome(content: string, blockLanguage: string, text: string, path: string): Promise<boolean> {
  const language = languageOf(path);
  if (!language || !isWrittenFor(blockLanguage, path)) return false;
  const read = await readCode(content, text, language);
  if (!read) return false;
  const own = [...namedItems(read.items)].filter(({ item }) => item.kind === 'function' || item.kind === 'type');
  if (own.length === 0) return false;
  const outline = await outlineOf(text, language);
  const theirs = [...namedItems(outline?.items ?? [])];
  return own.some(({ path: name, item }) =>
    theirs.some((entry) => entry.path === name || (item.kind === 'function' && entry.item.kind === 'function' && language !== 'go'
      && entry.path !== entry.item.name && simpleName(entry.item.name) === simpleName(item.name))));
}

async function isShortened(content: string, text: string, path: string): Promise<boolean> {
  const language = languageOf(path);
  const read = language && (await readCode(content, text, language));
  const outline = language && (await outlineOf(text, language));
  if (!read || !outline) return false;
  const theirs = [...namedItems(outline.items)];
  return [...namedItems(read.items)].some(({ path: name, item }) => {
    const same = theirs.find((entry) => (entry.path === name || simpleName(entry.item.name) === name) && entry.item.kind === item.kind)?.item;
    return same !== undefined && item.words.length < same.words.length * 0.6;
  });
}

const LANGUAGE_NAMES: Readonly<Record<Language, RegExp>> = {
  python: /^(?:py\w*|$)/i,
  javascript: /^(?:[cm]?jsx?|javascript\w*|node|$)/i,
  typescript: /^(?:[cm]?[jt]sx?|typescript\w*|javascript\w*|$)/i,
  tsx: /^(?:[jt]sx?|typescript\w*|javascript\w*|$)/i,
  go: /^(?:go(?:lang)?|$)/i,
  rust: /^(?:rs|rust|$)/i,
  java: /^(?:java|$)/i,
  php: /^(?:php\d?|$)/i,
  ruby: /^(?:ruby|rb|$)/i,
};

/** Whether a block's language could be that of a file. */
function isWrittenFor(blockLanguage: string, path: string): boolean {
  const language = languageOf(path);
  const word = blockLanguage.split(/[\s:{]/, 1)[0] ?? '';
  return language === undefined ? word === '' || path.toLowerCase().endsWith(`.${word.toLowerCase()}`) || word.length > 3 : LANGUAGE_NAMES[language].test(word);
}

/** A block that is cut off and names no file is refused if it began something of a file. */
export async function addCutOffBlock(draft: PatchDraft, { says, content, language }: Extract<AnswerBlock, { kind: 'cut-off' }>, code: AnswerCode): Promise<void> {
  const names = definedNames(content);
  const begins = (text: string, path: string): boolean => isWrittenFor(language, path) && definedNames(text).some((name) => names.includes(name));
  const [path] = names.length > 0 ? await filesThat(draft, begins, says.mentions, code.shown) : [];
  if (path !== undefined) draft.refuse(path, 'The code block is not closed: the answer seems to be cut off.');
}
