import type { Need } from '../context/needed-pieces.ts';

/*
 * A step that lacks a part of the project asks for it with lines such as `NEED: src/route.go Route.match`. They are untrusted: here they
 * are only read; what may be sent is decided by the rules of the context.
 */

/** In the words of the worker's prompt. */
export const NEED_WORDS =
  'If you cannot do your subtask without code of the project that you are not shown, do not guess: reply with nothing but lines such as ' +
  'NEED: src/route.js Route.match (a path and a name in it), NEED: src/route.js:40-90 (lines), NEED: src/route.js (a file) or ' +
  'NEED: Route.match (a name). You are given them once and then asked again.';

const MAX_NEEDS = 8;
const MAX_WORDS = 6;
const MAX_LINE_LENGTH = 400;
/** More text beside the lines is an answer, in which a line happens to begin so. */
const MAX_OTHER_CHARACTERS = 600;

const NEED_LINE = /^[\s>*`-]{0,12}NEED:\s*(\S.*)$/;
const LINES = /(?::|#L|\s+lines?\s+)(\d{1,7})(?:\s*(?:-L?|–|to)\s*(\d{1,7}))?/i;

/** What a reply asks for; empty if it is an answer. */
export function needsIn(reply: string): Need[] {
  const lines = withoutThinking(reply).split('\n').map((line) => line.trim()).filter((line) => line !== '' && !/^`{3,}\w*$/.test(line));
  const asked = lines.flatMap((line) => (line.length <= MAX_LINE_LENGTH ? [NEED_LINE.exec(line)?.[1] ?? []].flat() : []));
  const others = lines.filter((line) => !NEED_LINE.test(line));
  if (asked.length === 0 || others.join('\n').length > MAX_OTHER_CHARACTERS || isCode(reply, asked.length)) return [];
  return asked.slice(0, MAX_NEEDS).flatMap(needOf);
}

/** Some servers send a model's thinking as a part of its text. */
const withoutThinking = (text: string): string => text.replace(/^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/, '');

/** Whether there is code beside the lines, so that the reply is an answer. A fence around the lines alone is none. */
function isCode(reply: string, needs: number): boolean {
  const fenced = [...withoutThinking(reply).matchAll(/^`{3,}.*\n([\s\S]*?)^`{3,}/gm)].map(([, code = '']) => code);
  const inFences = fenced.join('\n').split('\n').filter((line) => line.trim() !== '');
  return inFences.some((line) => !NEED_LINE.test(line)) || (needs > 0 && /^(?:<{5,7} SEARCH|\*{3} Begin Patch|@@ )/m.test(reply));
}

/** Nothing for a line without a word. */
function needOf(line: string): Need[] {
  const plain = line.replaceAll(/[*`'"“”()[\]{}]/g, ' ').replace(/[.,;:]+\s*$/, '').trim();
  const lines = LINES.exec(plain);
  const words = plain.replace(LINES, ' ').split(/[\s,;]+/).filter((word) => /[\p{L}\p{N}]/u.test(word) && !FILLER.has(word.toLowerCase()));
  if (words.length === 0) return [];
  return [{
    words: words.slice(0, MAX_WORDS),
    ...(lines && { startLine: Math.max(1, Number(lines[1])), endLine: Math.max(1, Number(lines[2] ?? lines[1])) }),
  }];
}

/** Words between a path and a name. */
const FILLER: ReadonlySet<string> = new Set([
  'the', 'a', 'an', 'of', 'in', 'from', 'for', 'and', 'function', 'method', 'class', 'type', 'file', 'definition', 'implementation', 'source', 'code', 'whole', 'all', 'body',
]);
