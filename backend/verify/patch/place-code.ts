import { listed } from '../../common/listed.ts';
import { withEdits, type Edit } from '../syntax/edits.ts';
import type { Language } from '../syntax/language.ts';
import { namedItems, simpleName, type Item } from '../syntax/outline.ts';
import { fillElisions, isMark, withStubs } from './elisions.ts';
import { indentedLike, indentOf, indentUnit } from './indentation.ts';
import { NoSinglePlace } from './no-single-place.ts';
import { importEdits } from './place-imports.ts';
import { isSuite, isTest, isThere, sameOpening, suiteFor } from './place-statements.ts';
import type { ReadCode } from './read-code.ts';

/** A file and its parts. */
export interface CodeFile {
  readonly text: string;
  readonly items: readonly Item[];
  readonly language: Language;
}

export interface PlaceHints {
  /** What the answer says above the block: it may name the type that a method belongs to. */
  readonly prose: string;
  /** Whether a definition that the file lacks is to be added. */
  readonly mayAdd: boolean;
}

/**
 * The file with a block's definitions in the places of those of their names. Types whose members are given in part keep their other members;
 * what the block leaves out is filled in. @throws NoSinglePlace
 */
export function placeCode(block: ReadCode, file: CodeFile, hints: PlaceHints): string {
  const placer = new Placer(block, file, hints);
  const text = withEdits(file.text, placer.edits());
  if (text === undefined) throw new NoSinglePlace('it changes the same lines twice');
  return text;
}

class Placer {
  readonly #block: ReadCode;
  readonly #file: CodeFile;
  readonly #hints: PlaceHints;
  readonly #styles: { from: string; to: string };

  constructor(block: ReadCode, file: CodeFile, hints: PlaceHints) {
    this.#block = block;
    this.#file = file;
    this.#hints = hints;
    this.#styles = { from: indentUnit(block.text.split('\n')), to: indentUnit(file.text.split('\n')) };
  }

  edits(): Edit[] {
    const { items, isInside } = this.#block;
    if (!isInside) {
      const imports = importEdits(this.#block, this.#file);
      return [...imports, ...this.#group(items, this.#file.items, undefined)];
    }
    // Methods without their type: each has its own place.
    return this.#group(items, undefined, undefined);
  }

  /** Places the items of one body. `theirs`: the file's items of that body; undefined if it is not known which body it is. */
  #group(items: readonly Item[], theirs: readonly Item[] | undefined, container: Item | undefined): Edit[] {
    const edits: Edit[] = [];
    const added: { item: Item; after: Item | undefined; index: number }[] = [];
    /** For each placed item its counterpart in the file. */
    const counterparts = new Map<Item, Item>();
    let last: Item | undefined;
    // Beside a gap that stands for the rest, a definition that the file lacks is a new one.
    const mayAdd = this.#hints.mayAdd || items.some(isGap);
    for (const [index, item] of items.entries()) {
      if (item.kind === 'comment' || item.kind === 'import' || item.kind === 'package') continue;
      const isNamed = item.name !== '';
      if (!isNamed && isThere(item, theirs ?? this.#file.items)) continue;
      const target = isNamed ? this.#counterpart(item, theirs, items) : sameOpening(this.#block.text, item, this.#file.text, theirs ?? this.#file.items);
      if (!target && !isNamed) {
        const suite = theirs === this.#file.items && isTest(this.#block.text, item) ? suiteFor(this.#file, this.#hints.prose) : undefined;
        if (suite) {
          edits.push(...this.#group([item], suite.inside ?? [], suite));
          continue;
        }
        if (!theirs || !(isTest(this.#block.text, item) || isSuite(this.#block.text, item)) || !mayAdd)
          throw new NoSinglePlace(`it is not clear where ${shown(this.#block.text.slice(item.start, item.end))} belongs`);
      }
      if (!target) {
        added.push({ item, after: last, index });
        continue;
      }
      if ([...counterparts.values()].includes(target)) {
        // A later definition of the same name is the one that holds.
        const [earlier] = [...counterparts].find(([, found]) => found === target) ?? [];
        if (earlier) edits.splice(0, edits.length, ...edits.filter(({ start, end }) => start < target.leadStart || end > target.end));
      }
      counterparts.set(item, target);
      edits.push(...this.#exchange(item, target));
      last = target;
    }
    for (const { item, after, index } of added) {
      const before = items.slice(index + 1).map((next) => counterparts.get(next)).find((next) => next !== undefined);
      edits.push(this.#insertion(item, { after, before, theirs, container, mayAdd }));
    }
    return edits;
  }

  /** The part of the file that an item stands for. */
  #counterpart(item: Item, theirs: readonly Item[] | undefined, siblings: readonly Item[]): Item | undefined {
    const direct = (theirs ?? []).filter(({ name, kind }) => name === item.name && kind !== 'import');
    const isMethod = this.#block.isInside || /^[^(]*\(\s*(?:&\s*(?:'\w+\s+)?(?:mut\s+)?|mut\s+)?(?:self|cls)\b/.test(item.header);
    if (direct.length > 0 && !(isMethod && theirs === this.#file.items)) return this.#oneOf(direct, item, siblings);
    if (theirs !== undefined && theirs !== this.#file.items) return undefined;
    // A method alone, or a function that only a type of the file has.
    if (item.kind !== 'function' && !this.#block.isInside) return this.#grouped(item);
    if (this.#file.language === 'go') return undefined;
    const methods = [...namedItems(this.#file.items)]
      .filter(({ path, item: found }) => path !== found.name && simpleName(found.name) === simpleName(item.name))
      .map(({ item: found }) => found);
    if (methods.length > 0) return this.#oneOf(methods, item, siblings);
    return direct.length > 0 ? this.#oneOf(direct, item, siblings) : undefined;
  }

  /** A constant of a group that is declared together cannot be told from its neighbours. */
  #grouped(item: Item): undefined {
    if (this.#file.items.some(({ name }) => name.includes(',') && name.split(',').some((part) => item.name.split(',').includes(part))))
      throw new NoSinglePlace(`${item.name} is declared together with others in the file`);
    return undefined;
  }

  #oneOf(found: readonly Item[], item: Item, siblings: readonly Item[]): Item {
    if (found.length === 1 && found[0]) return found[0];
    const parameters = (header: string): string => /\(.*\)/s.exec(header)?.[0] ?? header;
    const narrowed = [
      found.filter(({ header }) => header === item.header),
      found.filter(({ header }) => parameters(header) === parameters(item.header) && /\b[gs]et\b/.exec(header)?.[0] === /\b[gs]et\b/.exec(item.header)?.[0]),
      found.filter((candidate) => this.#isNamedInProse(candidate)),
    ].find((kept) => kept.length === 1);
    if (narrowed?.[0]) return narrowed[0];
    // Overloads that are all given stand in their order.
    const same = siblings.filter(({ name }) => name === item.name);
    const inOrder = same.length === found.length ? found[same.indexOf(item)] : undefined;
    if (inOrder) return inOrder;
    throw new NoSinglePlace(`the file has more than one ${simpleName(item.name)}`);
  }

  /** Whether the sentence above the block names the type that an item belongs to. */
  #isNamedInProse(item: Item): boolean {
    const owner = [...namedItems(this.#file.items)].find((entry) => entry.item === item)?.path.split('.').at(-2);
    const word = owner?.split(' ').at(-1)?.replaceAll(/\W.*/g, '');
    return word !== undefined && word !== '' && new RegExp(`\\b${word}\\b`).test(this.#hints.prose);
  }

  /** Puts an item in the place of its counterpart. */
  #exchange(item: Item, target: Item): Edit[] {
    if (item.words === target.words && !this.#hasGap(item) && !this.#addsComments(item, target)) return [];
    if (item.inside && target.inside && this.#hasGap(item) && isSuite(this.#block.text, item)) return this.#group(item.inside, target.inside, target);
    if (item.members && target.members && this.#isPart(item, target)) return this.#merge(item, target);
    const lead = this.#leadOf(item);
    const start = lead === '' ? target.start : target.leadStart;
    const original = this.#linesOf(this.#file.text, { start, end: target.end });
    const own = this.#text(item, target, lead);
    const moved = indentedLike(own, original, this.#styles);
    const lines = moved.some(isMark) ? this.#filled(moved, original) : moved;
    const indent = indentOf(original[0] ?? '');
    return [{ start, end: target.end, text: lines.join('\n').slice(indent.length) }];
  }

  #filled(lines: readonly string[], original: readonly string[]): readonly string[] {
    const filled = fillElisions(lines, original, { anchored: true });
    if ('reason' in filled) throw new NoSinglePlace(filled.reason);
    return filled.lines;
  }

  /** Whether an item of the same code has comments that the file lacks, and no fewer of the file's own. */
  #addsComments(item: Item, target: Item): boolean {
    const trimmed = (text: string): string[] => text.split('\n').map((line) => line.trim()).filter((line) => line !== '');
    const lead = this.#leadOf(item);
    const own = trimmed(`${lead}\n${this.#block.text.slice(item.start, item.end)}`);
    const theirs = trimmed(this.#file.text.slice(lead.trim() === '' ? target.start : target.leadStart, target.end));
    return own.join('').replaceAll(/\s/g, '') !== theirs.join('').replaceAll(/\s/g, '') && theirs.every((line) => own.includes(line));
  }

  #hasGap(item: Item): boolean {
    return isMark(this.#block.text.slice(item.start, this.#endOf(item)));
  }

  /** In Python a comment at the end of a body stands behind it for the grammar. A mark that is indented deeper belongs to the body. */
  #endOf({ start, end }: Item): number {
    if (this.#file.language !== 'python') return end;
    const { text } = this.#block;
    const column = (at: number): number => at - text.lastIndexOf('\n', at - 1) - 1;
    const below = /^(?:[ \t]*\n)*([ \t]*)#[^\n]*/.exec(text.slice(end));
    return below && isMark(below[0]) && (below[1] ?? '').length > column(start) ? end + below[0].length : end;
  }

  /** The comments above an item, unless they only say that something was left out. */
  #leadOf({ leadStart, start }: Item): string {
    const lead = this.#block.text.slice(leadStart, start);
    const afterMark = lead.slice(lead.lastIndexOf('\n', lead.search(/\n[^\n]*$/)) + 1);
    if (!isMark(lead)) return lead;
    const lines = lead.split('\n');
    const kept = lines.slice(lines.findLastIndex(isMark) + 1).join('\n');
    return kept.trim() === '' ? '' : afterMark === kept ? afterMark : kept;
  }

  /** The item's lines. What it lacks of the file's `export` and decorators stays: models leave them out. */
  #text(item: Item, target: Item, lead: string): string[] {
    const { text } = this.#block;
    const own = text.slice(item.start, this.#endOf(item));
    const indent = /[^\n]*$/.exec(text.slice(0, item.start))?.[0] ?? '';
    const theirs = this.#file.text.slice(target.start, target.end);
    const isCode = indent.trim() === '';
    const kept = keptBefore(own, theirs);
    const body = kept.inline === '' ? own : `${kept.inline}${own}`;
    const leading = lead.trimEnd() === '' ? '' : `${indentOf(lead) === '' ? indent : ''}${lead.trimEnd()}\n`;
    const decorators = kept.lines.map((line) => `${isCode ? indent : ''}${line.trim()}\n`).join('');
    return `${leading}${decorators}${isCode ? indent : ''}${body}`.split('\n');
  }

  /** The lines of a range, the first one with its indentation. */
  #linesOf(text: string, { start, end }: { readonly start: number; readonly end: number }): string[] {
    const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
    return `${before.trim() === '' ? before : ''}${text.slice(start, end)}`.split('\n');
  }

  /** Whether a type is given in part: with gaps, or with nothing but members that change. */
  #isPart(item: Item, target: Item): boolean {
    const [own, theirs] = [item.members ?? [], target.members ?? []];
    if (own.some(isGap)) return true;
    const missing = missingFrom(own, theirs);
    if (missing.length === 0) return own.some((member) => this.#hasGap(member));
    const named = own.filter(({ name }) => name !== '');
    if (named.length === 0) throw new NoSinglePlace(`it has nothing of ${target.name}`);
    if (named.some((member) => theirs.some(({ name, words }) => name === member.name && words === member.words)))
      throw new NoSinglePlace(`it lacks ${listed(missing)} of ${target.name}, and does not say whether that is to be deleted`);
    return true;
  }

  #merge(item: Item, target: Item): Edit[] {
    const edits = this.#group(item.members ?? [], target.members ?? [], target);
    return [...this.#headerEdit(item, target), ...edits];
  }

  /** A header that says more than the file's is a change; one that says less is an abbreviation. */
  #headerEdit(item: Item, target: Item): Edit[] {
    if (!item.body || !target.body || item.header === target.header) return [];
    const theirs = new Set(target.header.split(' '));
    if (item.header.split(' ').every((word) => theirs.has(word))) return [];
    if (this.#file.language === 'python') throw new NoSinglePlace(`it changes the first line of ${target.name} and leaves parts out`);
    const text = this.#block.text.slice(item.start, item.body.start);
    return [{ start: target.start, end: target.body.start, text }];
  }

  #insertion(
    item: Item,
    { after, before, theirs, container, mayAdd }:
    { after: Item | undefined; before: Item | undefined; theirs: readonly Item[] | undefined; container: Item | undefined; mayAdd: boolean },
  ): Edit {
    const { text } = this.#file;
    const name = simpleName(item.name);
    if (!mayAdd && !after && !before) throw new NoSinglePlace(`the file defines no ${name}`);
    if (theirs === undefined && !after && !before) throw new NoSinglePlace(`it is not clear which type ${name} belongs to`);
    const isKnown = new RegExp(`\\b(?:function\\*?|def|fn|func|class|const|let|var|interface|struct|enum|trait|type)\\s+${name.replaceAll('$', '\\$')}\\b`);
    if (!container && /^[\w$]+$/.test(name) && isKnown.test(text)) throw new NoSinglePlace(`${name} is defined inside something else in the file`);
    const siblings = (theirs ?? []).filter(({ kind }) => kind !== 'comment');
    const lead = this.#leadOf(item);
    const lines = this.#text(item, { ...item, start: 0, end: 0 }, lead);
    const whole = withStubs(lines.join('\n'));
    if (whole === undefined) throw new NoSinglePlace(`it leaves out parts of ${name}, which the file does not have`);
    const anchor = after ?? (before ? undefined : siblings.findLast((sibling) => !isMainGuard(text.slice(sibling.start, sibling.end))));
    if (container && !anchor && !before) throw new NoSinglePlace(`${container.name || 'the suite'} has nothing beside which ${name || 'the test'} could stand`);
    const beside = anchor ?? before;
    const indent = beside ? (this.#linesOf(text, { start: beside.leadStart, end: beside.end })[0] ?? '') : '';
    const moved = indentedLike(whole.split('\n'), [indentOf(indent)], this.#styles).join('\n');
    const isBig = item.kind === 'function' || item.kind === 'type' || item.kind === 'statement';
    const gap = isBig ? (this.#file.language === 'python' && !container ? '\n\n\n' : '\n\n') : '\n';
    if (anchor) {
      const end = lineEndWith(text, anchor.end);
      return { start: end, end, text: `${gap}${moved}` };
    }
    const at = beside ? beside.leadStart - indentOf(indent).length : text.length;
    return { start: at, end: at, text: beside ? `${moved}${gap}` : `${text === '' || text.endsWith('\n') ? '' : '\n'}${moved}\n` };
  }
}

/** Behind `,` or `;` and a comment that end the line with it. */
function lineEndWith(text: string, at: number): number {
  const rest = /^[ \t]*[,;]?[ \t]*(?:(?:\/\/|#)[^\n]*)?/.exec(text.slice(at))?.[0] ?? '';
  const next = text[at + rest.length];
  return next === undefined || next === '\n' ? at + rest.trimEnd().length : at;
}

const isGap = ({ kind, words }: Item): boolean => kind === 'comment' && isMark(words);

const isMainGuard = (text: string): boolean => /^if\s+__name__\s*==/.test(text) || /^module\.exports\b/.test(text) || /^export\s*(?:\{|default\s+\w+\s*;?$)/.test(text);

/** The file's `export` and decorators that a definition of the block lacks. */
function keptBefore(own: string, theirs: string): { readonly inline: string; readonly lines: readonly string[] } {
  const exported = /^export\s+(?:default\s+)?(?=(?:async\s+)?(?:function|class|const|let|var|abstract|interface|type|enum)\b)/.exec(theirs)?.[0] ?? '';
  const inline = exported !== '' && !/^export\b/.test(own) ? exported : '';
  const decorators = theirs.startsWith('@') && !own.startsWith('@') ? /^(?:@[^\n]*\n\s*)+/.exec(theirs)?.[0] : undefined;
  // An annotation of Java stands among the modifiers; one of several lines is not cut.
  if (decorators === undefined || /\($/m.test(decorators)) return { inline, lines: [] };
  return { inline, lines: decorators.trimEnd().split('\n') };
}

/** The names of the file's members that the block lacks. */
export function missingFrom(own: readonly Item[], theirs: readonly Item[]): string[] {
  const names = new Set(own.flatMap(({ name }) => name.split(',')));
  return [...new Set(theirs.flatMap(({ name, kind }) => (kind === 'import' ? [] : name.split(','))))].filter((name) => name !== '' && !names.has(name));
}

const shown = (text: string): string => JSON.stringify((text.trim().split('\n', 1)[0] ?? '').slice(0, 60));
