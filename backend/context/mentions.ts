/*
 * Finds places named in a text. `#src/a.ts`, `#a.ts:10-20` and `#"my file.ts"` are explicit names of files; `src/a.ts` in a sentence is
 * only a possible one. Test output names lines in stack frames and compiler messages.
 */

export interface MentionedPlace {
  readonly path: string;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
}

const MAX_MENTIONS = 64;
const MAX_LINE_LENGTH = 2_000;
/** `#name`, `#file:name` or `#"name"`, each optionally with lines; not inside a word or URL, and not after another #. */
const HASH_MENTION = new RegExp(
  '(?<![\\w#&/])#(?:file:)?(?:"([^"\\n]{1,1024})"|([^\\s#`\'"()<>[\\]{},;|]{1,1024}))(:\\d[\\d:-]{0,20})?', 'gu',
);
const PATH_WITH_LINE = /((?:file:\/\/|[A-Za-z]:[\\/])?[\w@.~+$/\\%-]{1,400}\.[A-Za-z]\w{0,7})(?::line |:|\()(\d{1,7})/gu;
/** `https://host/owner/name/blob/main/src/a.ts#L10-L20`, and the end of it. */
const LINK = /([\w@.~+$/%:-]{1,800}\.[A-Za-z]\w{0,7})#L(\d{1,7})(?:C\d{1,5})?(?:-L?(\d{1,7}))?/gu;
/** Reports of linters have the path on a line of its own, and below it `10:5  error  …`. */
const PATH_ALONE = /^\s{0,4}([\w@.~+$/\\%:-]{1,400}\.[A-Za-z]\w{0,7})\s*$/u;
const LINE_BELOW = /^\s{1,8}(\d{1,7}):\d{1,7}\s/;
const WORD_IN_PROSE = /(^|[\s`'"(<[{,;=])([\w@.~+$/-][\w@.~+$/\\:-]{1,400})/gu;
const LINES = /:(\d{1,7})(?:-(\d{1,7})|:\d{1,7})?$/;

/** Files named with `#`. Numbers (`#12`) are issues. Words without a dot or slash are not files, unless they are in quotes. */
export function hashMentions(question: string): MentionedPlace[] {
  const mentions: MentionedPlace[] = [];
  for (const match of question.matchAll(HASH_MENTION)) {
    const [, quoted, bare, lines = ''] = match;
    const name = quoted ?? trimSentence(bare ?? '');
    if (quoted === undefined && !/[./\\]/.test(name.replace(LINES, ''))) continue;
    const place = placeOf(quoted === undefined ? name : `${name}${lines}`);
    if (place.path !== '') mentions.push(place);
  }
  return distinct(mentions);
}

/** Words that look like a path: they have a slash or an extension. Most of them are not files. */
export function pathsInProse(question: string): MentionedPlace[] {
  const places: MentionedPlace[] = [];
  for (const [, , token = ''] of question.matchAll(WORD_IN_PROSE)) {
    const place = placeOf(trimSentence(token));
    if (looksLikePath(place.path)) places.push(place);
  }
  return distinct(places);
}

/** Lines that a link to a web page of the repository names. The branch or commit in it may differ: only the path counts. */
export function linkedPlaces(question: string): MentionedPlace[] {
  return distinct([...question.matchAll(LINK)].map(([, link = '', start, end]) => {
    const path = link.replace(/^https?:\/\/[^/]*\/(?:.*?\/)?(?:blob|tree|blame|src|raw)\/(?=[^/]+\/)/, '/');
    return { path, startLine: Math.max(1, Number(start)), endLine: end === undefined ? undefined : Number(end) };
  }));
}

export function withoutHashMentions(question: string): string {
  return question.replace(HASH_MENTION, ' ');
}

/** The question without the names of files, so that parts of paths are not mistaken for identifiers. */
export function withoutPlaces(question: string, isFile: (path: string) => boolean): string {
  return question.replace(HASH_MENTION, ' ').replace(WORD_IN_PROSE, (whole, before: string, token: string) => {
    const { path } = placeOf(trimSentence(token));
    return looksLikePath(path) && isFile(path) ? `${before} ` : whole;
  });
}

function looksLikePath(token: string): boolean {
  return /[/\\]/.test(token) || /\w\.[A-Za-z]\w{0,7}$/.test(token);
}

/**
 * The lines that test output points at, nearest to the failure first. Formats: `at f (file:///w/a.js:3:1)` (Node), `File "a.py", line 3`
 * (Python, whose tracebacks end with the nearest line), `a.go:3`, `a.ts(3,1)` (tsc), `--> a.rs:3:1` (Rust), `(A.java:3)`, `A.cs:line 3`, and
 * ESLint's, which has the path above the lines.
 */
export function placesInTestOutput(output: string): MentionedPlace[] {
  const places: MentionedPlace[] = [];
  let above: string | undefined;
  for (const line of output.split('\n')) {
    const text = line.slice(0, MAX_LINE_LENGTH);
    const below = LINE_BELOW.exec(text)?.[1];
    if (below === undefined) above = PATH_ALONE.exec(text)?.[1];
    else if (above !== undefined) places.push({ path: above, startLine: Number(below) });
    for (const [, path = '', startLine] of text.matchAll(/File "([^"\n]{1,1024})", line (\d{1,7})/g)) {
      places.unshift({ path, startLine: Number(startLine) });
    }
    for (const [, path = '', startLine] of text.matchAll(PATH_WITH_LINE)) {
      places.push({ path, startLine: Number(startLine) });
    }
    if (places.length > 4 * MAX_MENTIONS) break;
  }
  return distinct(places);
}

function placeOf(token: string): MentionedPlace {
  const match = LINES.exec(token);
  if (!match) return { path: token };
  const [suffix, start, end] = match;
  return { path: token.slice(0, -suffix.length), startLine: Math.max(1, Number(start)), endLine: end ? Number(end) : undefined };
}

/** Removes punctuation at the end of a sentence. */
function trimSentence(token: string): string {
  return token.replace(/[.?!:]{1,8}$/, '');
}

function distinct(places: readonly MentionedPlace[]): MentionedPlace[] {
  const byKey = new Map(places.map((place) => [JSON.stringify([place.path, place.startLine, place.endLine]), place]));
  return [...byKey.values()].slice(0, MAX_MENTIONS);
}
