import type { Place } from '../../protocol/run-events.ts';
import { readTextFile, toPlainText } from '../files/text-file.ts';
import { refusalOnDisk } from '../files/workspace-path.ts';
import { ID_SEPARATOR } from '../runners/test-report.ts';
import { languageOf } from '../syntax/language.ts';
import { withTree, type Node } from '../syntax/parse.ts';
import { locateTests } from './locate-tests.ts';
import type { TestsToAlter } from './tests-to-alter.ts';

/** More files than this are not looked through; a Go package can have hundreds. */
const MAX_FILES = 200;
const MAX_LINE_LENGTH = 1_000;

/**
 * Where the sources of tests are, by id, as far as they are found. Nothing is changed. A place is a hint for a reader: a test whose name
 * is computed may be found where it is called, or not at all.
 */
export async function placesOfTests(tests: TestsToAlter): Promise<ReadonlyMap<string, readonly Place[]>> {
  const places = new Map<string, Place[]>();
  const files = (await locateTests(tests)).slice(0, MAX_FILES);
  for (const { file, wanted } of files) {
    if ((await refusalOnDisk(tests.folder, file)) !== undefined) continue;
    const read = await readTextFile(tests.folder, file);
    if (read.kind !== 'text') continue;
    const text = toPlainText(read.text);
    const lines = text.split('\n');
    for (const [id, name] of wanted) {
      const found = await placeIn({ path: file, text, lines }, name);
      if (found) places.set(id, [...(places.get(id) ?? []), found]);
    }
  }
  return places;
}

/** A file that fails as a whole has no name in it. */
async function placeIn({ path, text, lines }: { path: string; text: string; lines: readonly string[] }, name: string): Promise<Place | undefined> {
  if (name === '') return { path, startLine: 1, endLine: lines.length };
  const line = lineOfTest(lines, name);
  return line === undefined ? undefined : { path, startLine: line, endLine: await statementEnd(text, path, line) };
}

/** The line that names the test: by its innermost name, otherwise by the nearest one around it that is in the file. */
function lineOfTest(lines: readonly string[], name: string): number | undefined {
  for (const wanted of namesIn(name)) {
    const naming = lines.flatMap((line, index) => (line.length <= MAX_LINE_LENGTH && holds(line, wanted) ? [index] : []));
    const best = naming.find((index) => DECLARES.test(lines[index] ?? '')) ?? naming[0];
    if (best !== undefined) return best + 1;
  }
  return undefined;
}

/** Words with which tests are declared in the languages of the runners. */
const DECLARES = /\b(?:def|func|fn|fun|void|class|it|test|specify|describe|context|suite|Run|TEST\w*)\b/;

/** A test's own name first, then the names around it. Parameters and numbers that runners append are left out. */
function* namesIn(name: string): Iterable<string> {
  for (const part of name.split(ID_SEPARATOR).reverse()) {
    yield part;
    const plain = part.replace(/(?:\[.*\]| \(\d+\)|#\d+)$/s, '');
    if (plain !== part) yield plain;
    // Go and Rust join names; a title may contain the same signs, so it is tried whole first.
    const joined = plain.split(/\/|::/).reverse();
    if (joined.length > 1) yield* joined;
  }
}

/** Whether a line contains the name, and not as a part of a longer one. */
function holds(line: string, name: string): boolean {
  if (name.length < 2) return false;
  for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + 1)) {
    if (!isWord(line[at - 1], name[0]) && !isWord(line[at + name.length], name.at(-1))) return true;
  }
  return false;
}

const isWord = (beside: string | undefined, edge: string | undefined): boolean => /[\w$]/.test(beside ?? '') && /[\w$]/.test(edge ?? '');

/** Where the statement ends that begins in this line; the line itself if the file's syntax is not read. */
async function statementEnd(text: string, file: string, line: number): Promise<number> {
  const language = languageOf(file);
  const row = line - 1;
  const end = language && (await withTree(text, language, (root) => {
    let node: Node = root;
    // Down the tree to the outermost node that begins in the line. Each step takes the only child that can contain it.
    for (;;) {
      const next = node.namedChildren.find((child) => child !== null && child.endPosition.row >= row);
      if (!next || next.startPosition.row > row) return undefined;
      if (next.startPosition.row === row) return next.endPosition.row + 1;
      node = next;
    }
  }));
  return end ?? line;
}
