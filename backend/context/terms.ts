import { compare } from './text-order.ts';
import type { TextFile } from './workspace.ts';

/* Extracts the names of code that a request holds, and how much each says. */

/** A name and its weight, see below. */
export interface Term {
  readonly text: string;
  readonly weight: number;
}

export interface Terms {
  readonly identifiers: readonly Term[];
}

const WEIGHTS = { questionCode: 10, diagnosticQuoted: 6, testOutputCode: 4, selection: 3 } as const;
const MAX_IDENTIFIERS = 32;
const MAX_FROM_ONE_SOURCE = 24;
const MAX_IDENTIFIER_LENGTH = 80;
const MAX_SCANNED_LENGTH = 40_000;

export interface TermSources {
  readonly question: string;
  readonly selected: readonly string[];
  readonly diagnostics: readonly string[];
  readonly testOutput: string;
}

export function termsOf({ question, selected, diagnostics, testOutput }: TermSources): Terms {
  const weights = new Map<string, number>();
  const add = (names: Iterable<string>, weight: number): void => {
    let added = 0;
    for (const name of names) {
      if (added === MAX_FROM_ONE_SOURCE) return;
      if (!isWorthSearching(name) || (weights.get(name) ?? 0) >= weight) continue;
      weights.set(name, weight);
      added += 1;
    }
  };
  const prose = bounded(question);
  add(codeIn(prose), WEIGHTS.questionCode);
  add(diagnostics.flatMap((message) => [...quotedIn(bounded(message))]), WEIGHTS.diagnosticQuoted);
  add(codeIn(bounded(testOutput)), WEIGHTS.testOutputCode);
  add(identifiersIn(bounded(selected.join('\n'))), WEIGHTS.selection);

  return {
    identifiers: [...weights].map(([text, weight]) => ({ text, weight }))
      .sort((a, b) => b.weight - a.weight || compare(a.text, b.text)).slice(0, MAX_IDENTIFIERS),
  };
}

/** The lines of the file that contain one of the identifiers, ascending. */
export function linesWith(file: TextFile, terms: Terms): number[] {
  const wanted = new Set(terms.identifiers.map(({ text }) => text));
  const holds = (line: string): boolean => identifiersIn(line.slice(0, 2_000)).some((name) => wanted.has(name));
  return file.lines.flatMap((line, index) => (holds(line) ? [index + 1] : []));
}

const IDENTIFIER = /[\p{L}_$][\p{L}\p{N}_$]*/gu;

function identifiersIn(text: string): string[] {
  return text.match(IDENTIFIER) ?? [];
}

/** Names that are clearly code: in quotes or backticks, called, accessed with a dot, or in camel case or snake case. */
function* codeIn(text: string): Iterable<string> {
  yield* quotedIn(text);
  for (const match of text.matchAll(IDENTIFIER)) {
    const [name] = match;
    const before = text[match.index - 1] ?? '';
    const after = text[match.index + name.length] ?? '';
    const ownsMember = after === '.' && /\w/.test(text[match.index + name.length + 1] ?? '');
    const isMember = before === '.' && /[\w)\]]/.test(text[match.index - 2] ?? '');
    if (after === '(' || ownsMember || isMember || /[^_]_[^_]|\p{Ll}\p{Lu}|\$|\p{Lu}\p{Lu}+\p{Ll}/u.test(name)) yield name;
  }
}

function* quotedIn(text: string): Iterable<string> {
  for (const [, quoted = ''] of text.matchAll(/[`'"‘“]([^`'"’”\s]{2,120})[`'"’”]/g)) yield* identifiersIn(quoted);
}

function bounded(text: string): string {
  return text.slice(0, MAX_SCANNED_LENGTH);
}

function isWorthSearching(name: string): boolean {
  return name.length >= 3 && name.length <= MAX_IDENTIFIER_LENGTH && !KEYWORDS.has(name.toLowerCase()) && /\p{L}/u.test(name);
}

/** Keywords and names that almost every program uses. A search for them would match everything. */
const KEYWORDS: ReadonlySet<string> = new Set(`
  abstract any args array assert async await bool boolean break byte case catch char class console const constructor continue
  def default del delete dict double elif else enum error except exception export extends false final finally float for foreach
  from func function get global goto if implements import in include instanceof int integer interface is lambda len length let
  list log long main map match module mut namespace new nil none not null number object of only open operator or override
  package pass print printf println private process promise protected public raise range readonly record require return self set
  short size static str string struct super switch symbol sync test tests then there this throw throws trait true try type
  typedef typeof undefined union unknown use using val value var void when where while with yield describe expect expected
  actual received equal equals tobe toequal data dist file index item items key keys lib line name names node path result
  results src
`.split(/\s+/));
