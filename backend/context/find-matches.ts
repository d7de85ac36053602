import { DEFINING_WORDS, escapeForRegExp } from './definitions.ts';
import { stemOf } from './file-names.ts';
import { ignoreArguments, skipArguments } from './list-files.ts';
import { RipgrepUnavailableError, type Ripgrep, type RipgrepEnd } from './ripgrep.ts';
import type { Term } from './terms.ts';
import type { Workspace } from './workspace.ts';

/* Finds lines of the workspace that may contain the search terms. The caller classifies them. */

const MAX_MATCHES_PER_FILE = 60;
/** If a search prints too much, it is repeated without the names that occur in more files than this. */
const COMMON_NAME_FILES = 100;
/** Longer lines are minified code. */
const MAX_LINE_LENGTH = 1_000;

export interface SearchRequest {
  readonly workspace: Workspace;
  readonly ripgrep: Ripgrep;
  /** Names are searched for exactly, words (lower case) in the names of definitions alone. */
  readonly terms: { readonly identifiers: readonly Term[]; readonly words: readonly Term[] };
  /** Paths of the requested files, whose tests are searched for. */
  readonly asked: readonly string[];
  readonly signal: AbortSignal;
}

export interface Match {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface Matches {
  /** Sorted by path and line. */
  readonly matches: readonly Match[];
  /** Why the search is incomplete, for users. */
  readonly problem?: string | undefined;
}

/** @throws the signal's reason once it aborts */
export async function findMatches(request: SearchRequest): Promise<Matches> {
  const { terms: { identifiers, words }, asked } = request;
  let names = identifiers.map(({ text }) => text);
  const others = [
    ...(words.length > 0 ? [definitionPattern(words.map(({ text }) => text))] : []),
    ...asked.filter(isImportable).map(importPattern),
  ];
  for (;;) {
    const patterns = [...names.map(wordPattern), ...others];
    if (patterns.length === 0) return { matches: [] };
    try {
      const { matches, end } = await search(request, patterns);
      if (end === 'complete') return { matches };
      const common = commonNames(matches, names);
      if (end === 'timeout' || common.size === 0) {
        return { matches, problem: 'The search took too long or found too much; part of the workspace was not searched' };
      }
      names = names.filter((name) => !common.has(name));
    } catch (error) {
      if (!(error instanceof RipgrepUnavailableError)) throw error;
      return { matches: [], problem: error.message };
    }
  }
}

async function search(
  { workspace, ripgrep, signal }: SearchRequest, patterns: readonly string[],
): Promise<{ matches: Match[]; end: RipgrepEnd }> {
  const matches: Match[] = [];
  const end = await ripgrep.run({
    args: [
      ...(await ignoreArguments(workspace.root)), ...skipArguments(),
      '--json', '--sort', 'path', '--no-messages', '--path-separator', '/',
      '--max-count', String(MAX_MATCHES_PER_FILE), '--max-filesize', '1M',
      ...patterns.flatMap((pattern) => ['--regexp', pattern]), '--', './',
    ],
    folder: workspace.root,
    separator: '\n',
    onRecord: (record) => {
      const match = matchOf(record);
      // The list of files respects all ignore files; the search does not.
      if (match && workspace.has(match.path)) matches.push(match);
    },
    signal,
  });
  return { matches, end };
}

/** Parses a `match` message of `rg --json`. Returns undefined for other messages and for paths that are not UTF-8. */
function matchOf(record: string): Match | undefined {
  if (!record.startsWith('{"type":"match"')) return undefined;
  const { data } = JSON.parse(record) as { data: { path: { text?: string }; lines: { text?: string }; line_number: number } };
  const { path: { text: file }, lines: { text } } = data;
  if (file === undefined || text === undefined || text.length > MAX_LINE_LENGTH) return undefined;
  return { path: file.replace(/^\.\//, ''), line: data.line_number, text: text.replace(/\r?\n$/, '') };
}

function wordPattern(name: string): string {
  const before = /^\w/.test(name) ? '\\b' : '';
  const after = /\w$/.test(name) ? '\\b' : '';
  return `${before}${escapeForRegExp(name)}${after}`;
}

/** Matches definitions whose name contains one of the words. */
function definitionPattern(words: readonly string[]): string {
  return `(?i:(?:^|[\\s({;])(?:${DEFINING_WORDS.join('|')})\\*?\\s+[\\w$]*(?:${words.map(escapeForRegExp).join('|')}))`;
}

/** Matches lines that import the file by its name without extension. Valid for both JavaScript and ripgrep. */
export function importPattern(file: string): string {
  return `\\b(?:import|from|require|use|include|mock)\\b.*\\b${escapeForRegExp(stemOf(file))}\\b`;
}

/** Whether the file's path can occur in a line of code. */
export function isImportable(file: string): boolean {
  return !/\p{Cc}/u.test(file);
}

function commonNames(matches: readonly Match[], names: readonly string[]): Set<string> {
  const filesWith = new Map<string, Set<string>>();
  for (const { path: file, text } of matches) {
    for (const name of names) {
      if (text.includes(name)) filesWith.set(name, (filesWith.get(name) ?? new Set()).add(file));
    }
  }
  return new Set([...filesWith].filter(([, files]) => files.size > COMMON_NAME_FILES).map(([name]) => name));
}

