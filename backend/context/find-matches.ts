import { DEFINING_WORDS, escapeForRegExp } from './definitions.ts';
import { stemOf } from './file-names.ts';
import { ignoreArguments, skipArguments } from './list-files.ts';
import { RipgrepUnavailableError, type Ripgrep, type RipgrepEnd } from './ripgrep.ts';
import type { Terms } from './terms.ts';
import type { Workspace } from './workspace.ts';

/* The lines of the workspace that may say something of the terms. What they say is for `search-workspace.ts` to tell. */

const MAX_MATCHES_PER_FILE = 60;
/** When a search prints too much, names that are in more files than this are given up and it is made again. */
const COMMON_NAME_FILES = 100;
/** Nobody reads longer lines; they are minified. */
const MAX_LINE_LENGTH = 1_000;

export interface SearchRequest {
  readonly workspace: Workspace;
  readonly ripgrep: Ripgrep;
  readonly terms: Terms;
  /** Paths of the files that were asked about, whose tests are looked for. */
  readonly asked: readonly string[];
  readonly signal: AbortSignal;
}

export interface Match {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface Matches {
  /** In the order of paths and lines. */
  readonly matches: readonly Match[];
  /** Why not everything was searched, for people. */
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
      // The list of files knows all ignore files; the search does not.
      if (match && workspace.has(match.path)) matches.push(match);
    },
    signal,
  });
  return { matches, end };
}

/** A `match` message of `rg --json`; others, and paths that are not UTF-8, give undefined. */
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

/** A line that defines something whose name holds one of the words. */
function definitionPattern(words: readonly string[]): string {
  return `(?i:(?:^|[\\s({;])(?:${DEFINING_WORDS.join('|')})\\*?\\s+[\\w$]*(?:${words.map(escapeForRegExp).join('|')}))`;
}

/** A line that imports a module by the file's name without its extension; for JavaScript and for ripgrep alike. */
export function importPattern(file: string): string {
  return `\\b(?:import|from|require|use|include|mock)\\b.*\\b${escapeForRegExp(stemOf(file))}\\b`;
}

/** Whether a line of code could name the file. */
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

