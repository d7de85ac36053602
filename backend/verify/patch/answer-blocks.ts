import type { AnswerBlock, Surroundings } from './answer-block.ts';
import { hasPatchOperations, readPatchOperations, splitPatches } from './begin-patch.ts';
import { withoutEntities } from './copied-signs.ts';
import { diffsOutsideFences, isCutShort, looksLikeDiff, looksLikeHunk, readHunks } from './diff-text.ts';
import { blocksOf } from './edit-record.ts';
import { splitFences, type Fence } from './fences.ts';
import { jsonEdits, looksLikeJsonEdits } from './json-edits.ts';
import { looksLikePath, namedPath, pathsIn } from './named-path.ts';
import { hasConflictMarkers, readReplacements } from './replace-blocks.ts';
import { isShell, looksLikeScript, scriptBlocks } from './shell-script.ts';
import { saysAfter, saysBefore } from './spoken-intent.ts';
import { splitTags } from './tagged-edits.ts';

const CUT_OFF = 'The code block is not closed: the answer seems to be cut off.';
const NOTHING_SAID: Surroundings = { above: '', near: '', mentions: [] };
const MAX_NESTED = 3;

/** Finds all possible edits in an answer: code blocks, diffs, search/replace blocks, patches, tags and JSON, with or without fences. */
export function findBlocks(answer: string): AnswerBlock[] {
  return blocksIn(withoutThinking(asPlainText(answer)), 0);
}

function asPlainText(answer: string): string {
  const text = answer.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  // An answer that was escaped as a whole has no signs of its own.
  return /[<>]/.test(text) ? text : (withoutEntities(text) ?? text);
}

/** Some models think aloud before the answer. What they try there is no answer. */
function withoutThinking(text: string): string {
  const name = '(?:think|thinking|thought|thoughts|reasoning|scratchpad|analysis|reflection)';
  const whole = new RegExp(`^\\s*<(${name})>[\\s\\S]*?\\n?\\s*</\\1>`, 'i').exec(text);
  if (whole) return text.slice(whole[0].length);
  // A server's template may have taken the opening tag away.
  const end = new RegExp(`^[^\\S\\n]*</${name}>[^\\S\\n]*$`, 'im').exec(text);
  return end && !new RegExp(`<${name}>`, 'i').test(text.slice(0, end.index)) ? text.slice(end.index + end[0].length) : text;
}

function blocksIn(text: string, depth: number): AnswerBlock[] {
  const blocks: AnswerBlock[] = [];
  let heading = '';
  const parts = splitTags(text);
  for (const part of parts) {
    if (part.kind === 'cut-off') blocks.push({ kind: 'broken', path: part.path, reason: 'The edit has no closing tag: the answer seems to be cut off.' });
    else if (part.kind === 'edits') {
      for (const record of part.records) {
        // Siblings without a path stand below a line that names it.
        const named = record.path ?? pathsIn(heading).at(0);
        blocks.push(...blocksOf({ ...record, path: named }, (inner, path) => blocksOfDiff(inner, path, depth)));
      }
    } else {
      blocks.push(...inMarkdown(part.text, depth, part === parts.at(-1)));
      heading = part.text.trimEnd().split('\n').at(-1) ?? '';
    }
  }
  return blocks;
}

/** A diff, search/replace blocks or a patch in a field of an edit. */
function blocksOfDiff(text: string, path: string | undefined, depth: number): AnswerBlock[] {
  const lines = text.split('\n');
  if (hasPatchOperations(lines)) return operationsOf(lines, false);
  if (looksLikeDiff(lines)) return [{ kind: 'diff', text }];
  if (hasConflictMarkers(lines)) return fromReplacements(lines, path, NOTHING_SAID);
  if (looksLikeHunk(lines)) return [{ kind: 'hunks', path, says: NOTHING_SAID, hunks: readHunks(lines) }];
  return depth < MAX_NESTED ? blocksIn(text, depth + 1) : [];
}

function inMarkdown(text: string, depth: number, isLast: boolean): AnswerBlock[] {
  const blocks: AnswerBlock[] = [];
  const said = new Said();
  const parts = splitFences(text);
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index];
    if (!part) continue;
    if (part.kind === 'prose') {
      said.add(part.lines);
      blocks.push(...fromProse(part.lines, said.surroundings(), isLast && index === parts.length - 1));
      continue;
    }
    const says = said.surroundings();
    const [between, next] = [parts[index + 1], parts[index + 2]];
    const follower = between?.kind === 'fence' ? between : between?.kind === 'prose' && next?.kind === 'fence' ? next : undefined;
    const words = between?.kind === 'prose' ? between.lines.filter((line) => line.trim() !== '').join('\n') : '';
    if (follower && !part.unclosed && !follower.unclosed && isPair(part, says, words, follower)) {
      const named = namedPath(part)?.path ?? namedPath(follower)?.path;
      const replacement = { search: part.lines.join('\n'), replace: follower.lines.join('\n') };
      said.pass();
      if (between?.kind === 'prose') said.add(between.lines);
      const alone = [...fromFence(part, says, depth, false), ...fromFence(follower, said.surroundings(), depth, false)];
      blocks.push({ kind: 'pair', named, says, replacement, alone });
      said.pass();
      index += follower === next ? 2 : 1;
      continue;
    }
    blocks.push(...fromFence(part, says, depth, holdsLaterFences(parts.slice(index + 1))));
    said.pass();
  }
  return blocks;
}

/** Whether two blocks are the old and the new text, by what is said above each. */
function isPair(first: Fence, says: Surroundings, words: string, second: Fence): boolean {
  const isPlain = ({ lines }: Fence): boolean => !looksLikeDiff(lines) && !hasConflictMarkers(lines) && !hasPatchOperations(lines) && lines.some((line) => line.trim() !== '');
  return isPlain(first) && isPlain(second) && words.length < 300 && saysBefore(says.near) && saysAfter(words);
}

/** What was said so far, as far as it is about the next block. */
class Said {
  #headings: string[] = [];
  #lines: string[] = [];

  add(lines: readonly string[]): void {
    for (const line of lines) {
      const level = /^\s{0,3}(#{1,6})\s/.exec(line)?.[1]?.length;
      if (level !== undefined) {
        this.#headings = this.#headings.slice(0, level - 1);
        this.#headings[level - 1] = line;
        this.#lines = [];
      }
      this.#lines.push(line);
    }
  }

  /** A block ends what was said about it. */
  pass(): void {
    this.#lines = [];
  }

  surroundings(): Surroundings {
    const lines = this.#lines.filter((line) => line.trim() !== '').slice(-8);
    const all = [...this.#headings.filter((line) => line !== undefined && !lines.includes(line)), ...lines];
    const end = this.#lines.findLastIndex((line) => line.trim() !== '');
    const start = this.#lines.findLastIndex((line, index) => index < end && line.trim() === '');
    return {
      above: all.join('\n').slice(-4_000),
      near: this.#lines.slice(start + 1, end + 1).join('\n').slice(-2_000),
      mentions: all.toReversed().map(pathsIn).filter((paths) => paths.length > 0),
    };
  }
}

/** Whether more fences follow that no language opens: they may belong to a block of Markdown that was closed too early. */
function holdsLaterFences(parts: readonly (ReturnType<typeof splitFences>)[number][]): boolean {
  return parts.some((part) => part.kind === 'fence' && part.info === '' && namedPath(part) === undefined);
}

/** @param isLast whether the answer ends with these lines */
function fromProse(written: readonly string[], says: Surroundings, isLast: boolean): AnswerBlock[] {
  const blocks: AnswerBlock[] = [];
  for (const { isPatch, lines } of splitPatches(fromList(written))) {
    if (isPatch) blocks.push(...operationsOf(lines, true));
    else {
      const end = isLast ? lines.join('\n').trimEnd() : undefined;
      for (const text of diffsOutsideFences(lines)) {
        const path = end?.endsWith(text.trimEnd()) && isCutShort(text) ? /^\+\+\+ (?:b\/)?(\S+)/m.exec(text)?.[1] : undefined;
        blocks.push(path === undefined ? { kind: 'diff', text } : { kind: 'broken', path, reason: 'The diff is shorter than it says: the answer seems to be cut off.' });
      }
      if (hasConflictMarkers(lines)) blocks.push(...fromReplacements(lines, undefined, says));
      else blocks.push(...fromJson(jsonLines(lines)));
    }
  }
  return blocks;
}

/** In a list, what follows is indented. */
function fromList(lines: readonly string[]): readonly string[] {
  const first = lines.find((line) => /^\s+(?:--- \S|diff --git |\*\*\* (?:Begin|Update|Add|Delete) |<{5,9} SEARCH)/.test(line));
  const indent = first === undefined ? 0 : first.length - first.trimStart().length;
  return indent === 0 ? lines : lines.map((line) => (line.slice(0, indent).trim() === '' ? line.slice(indent) : line));
}

function operationsOf(lines: readonly string[], mustEnd: boolean): AnswerBlock[] {
  return readPatchOperations(lines, { mustEnd }).map((operation) => ({ kind: 'operation', operation }));
}

/** The lines from an opening bracket to the last closing one. */
function jsonLines(lines: readonly string[]): string {
  const start = lines.findIndex((line) => /^\s*(?:\{|\[\s*(?:\{|$))/.test(line));
  const end = lines.findLastIndex((line) => /[}\]]\s*$/.test(line));
  return start < 0 ? '' : lines.slice(start, end < start ? lines.length : end + 1).join('\n').trim();
}

function fromJson(text: string): AnswerBlock[] {
  const records = jsonEdits(text);
  if (records) return records.flatMap((record) => blocksOf(record, (inner, path) => blocksOfDiff(inner, path, MAX_NESTED)));
  if (!looksLikeJsonEdits(text)) return [];
  const path = /"(?:\w*path|file\w*)"\s*:\s*"([^"\n]{1,300}\.\w{1,12})"/i.exec(text)?.[1];
  return path === undefined || !looksLikePath(path) ? [] : [{ kind: 'broken', path, reason: 'The JSON cannot be parsed: it is not valid, or the answer was cut off.' }];
}

function fromFence(fence: Fence, says: Surroundings, depth: number, isFollowed: boolean): AnswerBlock[] {
  const { language, lines } = fence;
  const named = namedPath(fence);
  const path = named?.path;
  if (fence.unclosed) return cutOff(fence, says, path);
  if (hasPatchOperations(lines)) return operationsOf(lines, false);
  if (looksLikeDiff(lines)) return [{ kind: 'diff', text: lines.join('\n') }];
  if (hasConflictMarkers(lines)) return fromReplacements(lines, path, says);
  const isDiff = /^(?:diff|patch|udiff)$/i.test(language);
  if (isDiff || (looksLikeHunk(lines) && (lines.some((line) => line.startsWith('@@')) || isMarkedCode(fence))))
    return [{ kind: 'hunks', path, says, hunks: readHunks(named?.fromFirstLine ? lines.slice(1) : lines) }];
  if (isShell(language) || (language === '' && looksLikeScript(lines))) {
    const found = scriptBlocks(lines);
    if (found.length > 0 && !/\.(?:sh|bash|zsh)$/.test(path ?? '')) return found;
  }
  const content = lines.join('\n');
  if (named === undefined) {
    const json = /^(?:json\w*|)$/i.test(language) ? fromJson(content.trim()) : [];
    if (json.length > 0) return json;
    const holdsBlocks = /^(?:xml|html|text|txt|plaintext|md|markdown|tool_\w+|)$/i.test(language) && /^\s*(?:<[A-Za-z]|`{3}|~{3})/m.test(content);
    const inside = holdsBlocks && depth < MAX_NESTED ? blocksIn(content, depth + 1).filter(({ kind }) => kind !== 'code') : [];
    const nested = holdsBlocks && depth < MAX_NESTED && /^\s*(?:`{3}|~{3})\w/m.test(content) ? blocksIn(content, depth + 1) : inside;
    return nested.length > 0 ? nested : [{ kind: 'code', named, says, language, content }];
  }
  if (named.conflict !== undefined)
    return [{ kind: 'broken', path: named.path, reason: `The code block names two files, this one and ${named.conflict}.` }];
  if (isFollowed && /\.(?:md|mdx|markdown|rst|txt)$/i.test(named.path) && fence.info !== '' && /^\s*(?:`{3}|~{3})/m.test(content) === false)
    return [{ kind: 'broken', path: named.path, reason: 'It is not clear where the code block ends, because more fences follow; a fence of four signs holds others.' }];
  return [{ kind: 'code', named, says, language, content: (named.fromFirstLine ? lines.slice(1) : lines).join('\n') }];
}

/** Code whose lines were deleted and added by signs, in a block of its own language. No line of such code begins with both signs. */
function isMarkedCode({ language, lines }: Fence): boolean {
  const has = (sign: string): boolean => lines.some((line) => line.startsWith(sign));
  return /^(?:[cm]?[jt]sx?|javascript\w*|typescript\w*|py\w*|go|golang|rs|rust|java)$/i.test(language) && has('-') && has('+');
}

/** A block that is not closed is never used, but it is said which file was meant. */
function cutOff(fence: Fence, says: Surroundings, path: string | undefined): AnswerBlock[] {
  const { lines, language } = fence;
  const inside = path ?? /^(?:\+\+\+ (?:b\/)?|\*\*\* (?:Add|Update) File: )(\S+)/m.exec(lines.join('\n'))?.[1];
  if (inside !== undefined) return [{ kind: 'broken', path: inside, reason: CUT_OFF }];
  if (lines.every((line) => line.trim() === '')) return [];
  const json = looksLikeJsonEdits(lines.join('\n')) ? fromJson(lines.join('\n')) : [];
  return json.length > 0 ? [{ kind: 'broken', path: json.flatMap((block) => ('path' in block && block.path !== undefined ? [block.path] : []))[0] ?? '(JSON)', reason: CUT_OFF }]
    : [{ kind: 'cut-off', says, language, content: lines.join('\n') }];
}

function fromReplacements(lines: readonly string[], path: string | undefined, says: Surroundings): AnswerBlock[] {
  return readReplacements(lines, path).map((found) =>
    'reason' in found
      ? { kind: 'broken', path: found.path ?? path ?? '(no path)', reason: found.reason }
      : { kind: 'replacements', path: found.path, says, replacements: [found.replacement] },
  );
}
