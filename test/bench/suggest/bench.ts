import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import { SymbolIndexes } from '../../../backend/context/symbols/symbol-indexes.ts';
import { tokensOf } from '../../../backend/context/tokens.ts';
import { MAX_TOLD_AFTER, MAX_TOLD_BEFORE } from '../../../backend/protocol/suggestion-limits.ts';
import { ProjectPieces } from '../../../backend/suggest/project-pieces.ts';
import { SendableFiles } from '../../../backend/suggest/sendable-files.ts';
import { suggestionPrompt } from '../../../backend/suggest/suggestion-prompt.ts';
import { fillInPrompt } from '../../../backend/workers/adapters/fill-in-templates.ts';
import type { GapPiece } from '../../../backend/workers/model.ts';
import type { Line } from './lines.ts';
import { checkOut } from './repositories.ts';

/*
 * How often a suggestion is shown the definition that its line needs, how long that takes, and how much of the text a server can keep from
 * key to key. See README.md.
 */

const MODEL = 'qwen2.5-coder:1.5b';
/** Every so many lines, the lines above and the line itself are typed key by key. */
const TYPED_EVERY = 8;
const TYPED_LINES = 4;
const OPEN_LETTERS = 3;

interface Project {
  readonly root: string;
  readonly files: SendableFiles;
  readonly indexes: SymbolIndexes;
}

interface Prompt {
  /** Up to the gap. */
  readonly before: string;
  readonly pieces: readonly GapPiece[];
  readonly ms: number;
}

/** What is counted of one way to be at a line. */
class Tally {
  lines = 0;
  hits = 0;
  readonly tokens: number[] = [];
  readonly ms: number[] = [];
  add(line: Line, definition: string, { pieces, ms }: Prompt): void {
    this.lines += 1;
    if (shows(pieces, line, definition)) this.hits += 1;
    this.tokens.push(pieces.reduce((sum, piece) => sum + tokensOf(`${piece.path}\n${piece.text}`), 0));
    this.ms.push(ms);
  }
}

const { positionals: [bare], values } = parseArgs({
  allowPositionals: true,
  options: { checkouts: { type: 'string' }, lines: { type: 'string', default: path.join(import.meta.dirname, 'lines.json') } },
});
if (bare === undefined || values.checkouts === undefined) throw new Error('Usage: bench.ts FOLDER-OF-BARE-REPOSITORIES --checkouts FOLDER');
const lines = JSON.parse(readFileSync(values.lines, 'utf8')) as readonly Line[];

const projects = new Map<string, Promise<Project>>();
const tallies = new Map<string, { bare: Tally; begun: Tally }>();
const keys = { ms: [] as number[], shared: 0, length: 0, changed: 0, hits: 0, lines: 0 };
const load = loadavg()[0] ?? 0;

for (const [number, line] of lines.entries()) {
  const project = await projectOf(line);
  const text = readFileSync(path.join(project.root, line.path), 'utf8').split('\n');
  const definition = readFileSync(path.join(project.root, line.definition.path), 'utf8').split('\n')[line.definition.line] ?? '';
  const tally = tallies.get(line.language) ?? { bare: new Tally(), begun: new Tally() };
  tallies.set(line.language, tally);
  const indent = /^\s*/.exec(text[line.line] ?? '')?.[0] ?? '';
  tally.bare.add(line, definition, await promptAt(await freshPieces(project), project, { line, text, at: line.line, typed: indent }));
  const begun = (text[line.line] ?? '').slice(0, line.column + OPEN_LETTERS);
  tally.begun.add(line, definition, await promptAt(await freshPieces(project), project, { line, text, at: line.line, typed: begun }));
  if (number % TYPED_EVERY === 0) await typeUpTo(line, { project, text, definition });
}
report();

function projectOf(line: Line): Promise<Project> {
  const key = `${line.repository} ${line.commit}`;
  let project = projects.get(key);
  if (!project) {
    project = openProject(checkOut(bare ?? '', line.repository, { commit: line.commit, into: values.checkouts ?? '' }));
    projects.set(key, project);
  }
  return project;
}

async function openProject(root: string): Promise<Project> {
  // At a clock that stands still, so that no listing is renewed while another is measured.
  const project = { root, files: new SendableFiles({ ripgrepPath: rgPath, now: () => 0 }), indexes: new SymbolIndexes() };
  await (await freshPieces(project)).warmUp(root);
  return project;
}

/** As after the start of a window: the index is there, and nothing was suggested in any file yet. */
async function freshPieces({ root, files, indexes }: Project): Promise<ProjectPieces> {
  const pieces = new ProjectPieces({ files, indexes, log: (problem) => console.error(problem) });
  await pieces.warmUp(root);
  return pieces;
}

async function promptAt(
  pieces: ProjectPieces, { root, files }: Project, { line, text, at, typed }: { line: Line; text: readonly string[]; at: number; typed: string },
): Promise<Prompt> {
  const place = {
    workspace: root, path: path.join(root, line.path), language: line.language, multiline: false, openFiles: [], edits: [],
    before: [...text.slice(0, at), typed].join('\n').slice(-MAX_TOLD_BEFORE),
    after: ['', ...text.slice(line.line + 1)].join('\n').slice(0, MAX_TOLD_AFTER),
  };
  const start = performance.now();
  const refusal = await files.whyNot(root, place.path);
  if (refusal !== undefined) throw new Error(`${line.path}: ${refusal}`);
  const found = await pieces.of(place);
  const prompt = suggestionPrompt({ ...place, path: line.path }, found);
  const sent = prompt && fillInPrompt(MODEL, prompt.fillIn)?.prompt;
  const ms = performance.now() - start;
  return { before: (sent ?? '').split('<|fim_suffix|>')[0] ?? '', pieces: found, ms };
}

/** Types some lines key by key, as a person would who typed without mistakes, the last of them up to the name. */
async function typeUpTo(line: Line, { project, text, definition }: { project: Project; text: readonly string[]; definition: string }): Promise<void> {
  const pieces = await freshPieces(project);
  let last: string | undefined;
  let shown: readonly GapPiece[] = [];
  for (let at = Math.max(0, line.line - TYPED_LINES); at <= line.line; at += 1) {
    const whole = at === line.line ? (text[at] ?? '').slice(0, line.column) : text[at] ?? '';
    for (let length = 0; length <= whole.length; length += 1) {
      const prompt = await promptAt(pieces, project, { line, text, at, typed: whole.slice(0, length) });
      keys.ms.push(prompt.ms);
      if (last !== undefined) {
        const shared = sharedLength(last, prompt.before);
        keys.shared += shared;
        keys.length += last.length;
        if (shared < last.length) keys.changed += 1;
      }
      last = prompt.before;
      shown = prompt.pieces;
    }
  }
  keys.lines += 1;
  if (shows(shown, line, definition)) keys.hits += 1;
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/**
 * Whether a piece of the file that defines the name holds the definition as it stands there: from the word before the name on, as far as 24
 * characters after it, without regard to space.
 */
function shows(pieces: readonly GapPiece[], { name, definition: { path: file } }: Line, definition: string): boolean {
  const escaped = name.replaceAll('$', String.raw`\$`);
  const [found] = new RegExp(`(?:[\\w$.*)]+\\s+)?(?<![\\w$])${escaped}(?![\\w$])[^{]{0,24}`).exec(definition) ?? [name];
  const wanted = squeezed(found).replace(/[:;,]$/, '');
  return pieces.some(({ path: shown, text }) => shown === file && squeezed(text).includes(wanted));
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, '');
}

function quantile(values_: readonly number[], share: number): number {
  const sorted = values_.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function report(): void {
  const percent = (part: number, whole: number): string => `${(100 * part / whole).toFixed(0)} %`;
  console.log(`Load at the beginning: ${load.toFixed(1)}. ${lines.length} lines.\n`);
  console.log('| language | lines | nothing of the line is typed | 3 letters of the name are typed | tokens, most |\n|---|---|---|---|---|');
  const all = { bare: new Tally(), begun: new Tally() };
  for (const [language, { bare: nothing, begun }] of [...tallies].sort()) {
    console.log(`| ${language} | ${nothing.lines} | ${percent(nothing.hits, nothing.lines)} | ${percent(begun.hits, begun.lines)} | ${Math.max(...nothing.tokens, ...begun.tokens)} |`);
    for (const [sum, one] of [[all.bare, nothing], [all.begun, begun]] as const) {
      sum.lines += one.lines;
      sum.hits += one.hits;
      sum.tokens.push(...one.tokens);
      sum.ms.push(...one.ms);
    }
  }
  console.log(`| **all** | ${all.bare.lines} | **${percent(all.bare.hits, all.bare.lines)}** | **${percent(all.begun.hits, all.begun.lines)}** | ${Math.max(...all.bare.tokens, ...all.begun.tokens)} |\n`);
  const times = (name: string, ms: readonly number[]): void =>
    console.log(`${name}: median ${quantile(ms, 0.5).toFixed(1)} ms, 95 of 100 within ${quantile(ms, 0.95).toFixed(1)} ms, longest ${Math.max(...ms).toFixed(1)} ms`);
  times('From request to prompt, the first in a file', [...all.bare.ms, ...all.begun.ms]);
  times(`From request to prompt, each of ${keys.ms.length} keys`, keys.ms);
  console.log(`Typed key by key: ${percent(keys.shared, keys.length)} of the text before the gap is that of the key before; it differs before its end after ${percent(keys.changed, keys.ms.length)} of the keys`);
  console.log(`Typed up to the name: the definition is shown in ${percent(keys.hits, keys.lines)} of ${keys.lines} lines`);
}
