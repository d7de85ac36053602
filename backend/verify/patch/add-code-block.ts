import { languageOf, type Language } from '../syntax/language.ts';
import { namedItems, outlineOf, simpleName, type Item } from '../syntax/outline.ts';
import type { AnswerBlock, Surroundings } from './answer-block.ts';
import { fillElisions, markElisions, withStubs } from './elisions.ts';
import { dedented, inTabsOrSpacesOf } from './indentation.ts';
import { NoSinglePlace } from './no-single-place.ts';
import type { DraftFile, PatchDraft } from './patch-draft.ts';
import { placeCode } from './place-code.ts';
import { readCode, type ReadCode } from './read-code.ts';
import { saysAddition, saysAlternative, saysChange, saysIllustration } from './spoken-intent.ts';
import { filesThat, textOf } from './which-file.ts';
import { extentOf } from './whole-or-part.ts';

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

async function addToFile(draft: PatchDraft, file: DraftFile, { content, says }: CodeBlock, elsewhere: ReadonlySet<string>): Promise<void> {
  const language = languageOf(file.path);
  const refuseGap = (gap: string, why: string): void => draft.refuse(file.path, `The code block leaves parts of the file out (${JSON.stringify(gap)}), and ${why}.`);
  const current = file.current;
  if (current === null) {
    const { first } = markElisions(content, file.original ?? '', { isPython: language === 'python' });
    if (first !== undefined) return refuseGap(first, 'there is no such file to fill them in from');
    const read = language && (await readCode(content, '', language));
    return setWhole(draft, file, read && !read.isInside ? cleaned(content, read) : content);
  }
  const read = language && (await readCode(content, current, language));
  const outline = language && read && (await outlineOf(current, language));
  if (!language || !read || !outline) {
    const marked = markElisions(content, current, { isPython: language === 'python' });
    if (marked.first === undefined) return setWhole(draft, file, content);
    const filled = fillElisions(inTabsOrSpacesOf(current, marked.text).split('\n'), current.split('\n'), { anchored: false });
    return 'reason' in filled ? refuseGap(marked.first, filled.reason) : setParts(draft, file, filled.lines.join('\n'));
  }
  const extent = extentOf(read, { text: current, items: outline.items }, { elsewhere, says: says.near });
  if ('reason' in extent) return draft.refuse(file.path, `The code block could be the whole file or a part of it: ${extent.reason}.`);
  if (extent.is === 'whole') return setWhole(draft, file, inTabsOrSpacesOf(current, cleaned(content, read)));
  const placed = place(read, { text: current, items: outline.items, language }, { prose: says.above, mayAdd: saysAddition(says.above) });
  if ('reason' in placed) {
    if (read.elision !== undefined) return refuseGap(read.elision, placed.reason);
    return draft.refuse(file.path, `The code block has no single place in the file: ${placed.reason}.`);
  }
  setParts(draft, file, placed.text);
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
  try {
    return { text: placeCode(read, file, hints) };
  } catch (error) {
    if (!(error instanceof NoSinglePlace)) throw error;
    if (read.elision === undefined || read.isInside) return { reason: error.message };
    const filled = fillElisions(inTabsOrSpacesOf(file.text, read.text).split('\n'), file.text.replace(/\n$/, '').split('\n'), { anchored: false });
    if ('reason' in filled) return { reason: error.message };
    return { text: `${filled.lines.join('\n').replace(/\n+$/, '')}\n` };
  }
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

/** A block that defines nothing of a file, under a sentence that speaks of a change to one file. */
async function addToMentioned(draft: PatchDraft, block: CodeBlock, code: AnswerCode, isChange: boolean): Promise<void> {
  const { says, language } = block;
  if (!isChange || /^(?:bash|sh|shell|zsh|console|powershell|ps1|cmd|bat|output|diff)$/i.test(language)) return;
  const mentioned = new Set<string>();
  for (const written of says.mentions[0] ?? []) mentioned.add(await draft.resolve(written));
  const [path, ...others] = [...mentioned].filter((file) => isWrittenFor(language, file));
  if (path === undefined || others.length > 0) return;
  const text = await textOf(draft.base, path);
  if (text === undefined && !/\b(?:creat|new|add)\w*|neue?|erstell|nouve|crea|新/i.test(says.near)) return;
  await addCodeBlock(draft, { ...block, named: { path, explicit: true, fromFirstLine: false } }, code);
}

async function cannotBePlaced(file: DraftFile, { content, says }: CodeBlock): Promise<boolean> {
  const language = languageOf(file.path);
  const [read, outline] = language && file.current !== null
    ? [await readCode(content, file.current, language), await outlineOf(file.current, language)] : [undefined, undefined];
  if (!language || !read || !outline || file.current === null) return true;
  const extent = extentOf(read, { text: file.current, items: outline.items }, { elsewhere: new Set(), says: says.near });
  if ('reason' in extent) return true;
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
