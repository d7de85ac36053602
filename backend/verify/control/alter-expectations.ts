import { createHash } from 'node:crypto';
import { withEdits, type Edit } from '../syntax/edits.ts';
import { languageOf, type Language } from '../syntax/language.ts';
import { nodesIn } from '../syntax/nodes.ts';
import { withTree, withTrees } from '../syntax/parse.ts';
import { ID_SEPARATOR } from '../runners/test-report.ts';
import { readTextFile } from '../files/text-file.ts';
import { refusalOnDisk } from '../files/workspace-path.ts';
import { secretDice } from './dice.ts';
import { locateTests, type FileOfTests } from './locate-tests.ts';
import { readImported, type FindImports } from './imported-files.ts';
import { scriptImports } from './javascript-imports.ts';
import { phpImports } from './php-imports.ts';
import { pythonImports } from './python-imports.ts';
import { testsIn } from './source-tests.ts';
import type { SourceFile, SourceTest } from './source-test.ts';
import { testsNamed, withSubtests } from './tests-named.ts';
import type { TestsToAlter } from './tests-to-alter.ts';

/** Tests with altered expectations. */
export interface AlteredTests {
  /** Ids of the tests that are certain to fail if the code is honest; the others are unchanged. */
  readonly certain: ReadonlySet<string>;
  /** The texts of the files with these tests, by path. They are not written yet. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Alters the expectations of tests so that each test must fail if the code is honest. An altered test is the same test with another literal in the
 * place of one that is expected, in an assertion that every run of the test reaches.
 *
 * In Go, Rust and Java, where no assertion is certain to be reached, each assertion runs with another expectation, and its failure is
 * caught. An assertion that passes anyway is counted as held, and a test fails at its end if none held. An honest test thus fails
 * whichever assertions it reaches. A comparison that the product defines is tested with another value as well, not only negated.
 */
export async function alterExpectations(tests: TestsToAlter): Promise<AlteredTests> {
  const certain = new Map<string, boolean>();
  const texts = new Map<string, string>();
  for (const { file, wanted, among } of await locatedTests(tests)) {
    const altered = await alterFile(tests, file, { names: new Set(wanted.values()), among: among && new Set(among.values()) });
    if (altered?.text !== undefined) texts.set(file, altered.text);
    for (const [id, name] of among ?? wanted) {
      const found = altered?.tests.get(name);
      if (found !== undefined) certain.set(id, found && certain.get(id) !== false);
    }
  }
  return { certain: new Set([...certain].filter(([, isCertain]) => isCertain).map(([id]) => id)), texts };
}

interface LocatedTests extends FileOfTests {
  /** All tests that run of this file, if nothing outside of tests is altered. */
  readonly among?: ReadonlyMap<string, string>;
}

async function locatedTests(tests: TestsToAlter): Promise<readonly LocatedTests[]> {
  const located = await locateTests(tests);
  if (!tests.among) return located;
  const own = located.flatMap(ownTests);
  const files = new Set(own.map(({ file }) => file));
  const rest = await locateTests({ ...tests, ids: tests.among.filter((id) => files.has(fileOf(id))) });
  const all = new Map(rest.flatMap(ownTests).map(({ file, wanted }) => [file, wanted]));
  return own.map(({ file, wanted }) => ({ file, wanted, among: new Map([...wanted, ...(all.get(file) ?? [])]) }));
}

/** The tests of a file without those that another file takes from it. */
function ownTests({ file, wanted }: FileOfTests): readonly FileOfTests[] {
  const own = new Map([...wanted].filter(([id]) => fileOf(id) === file));
  return own.size > 0 ? [{ file, wanted: own }] : [];
}

const fileOf = (id: string): string => id.split(ID_SEPARATOR, 1)[0] ?? '';

interface AlteredFile {
  readonly text: string | undefined;
  /** Whether each test was altered, by name, for the tests found in the file. */
  readonly tests: ReadonlyMap<string, boolean>;
}

/** Finds the files from which a file of tests takes its helpers, by its language. */
const IMPORTS: Readonly<Partial<Record<Language, FindImports>>> = {
  python: pythonImports, javascript: scriptImports, typescript: scriptImports, tsx: scriptImports, php: phpImports,
};

/** @param named the names of the tests to alter, and of all tests if nothing outside of them is altered */
async function alterFile(tests: TestsToAlter, file: string, named: NamedTests): Promise<AlteredFile | undefined> {
  const language = languageOf(file);
  const source = await readSource(tests, file);
  if (!language || !source) return undefined;
  const imports = IMPORTS[language]?.(file, source.text, tests.paths) ?? [];
  const imported = await readImported(imports, async (path) => (await readSource(tests, path))?.text);
  const plan = await withTrees([source.text, ...imported.map(({ text }) => text)], language, ([root, ...roots]) => {
    const trees = imported.flatMap((each, index) => (roots[index] ? [{ ...each, root: roots[index] }] : []));
    return root && planOf(testsIn(root, language, source, trees), named, countErrors(root));
  });
  if (!plan) return undefined;
  const text = await alteredText(source.text, language, plan);
  return { text: text?.altered, tests: certainties(plan, text?.tests ?? new Set()) };
}

/** A test without assertions of its own fails if one of its subtests ran and was altered. */
function certainties({ tests }: Plan, altered: ReadonlySet<number>): ReadonlyMap<string, boolean> {
  const certain = new Map<string, boolean>();
  for (const [name, found] of [...tests].sort(([a], [b]) => b.length - a.length)) {
    const isBelow = (other: string): boolean => other.startsWith(`${name}/`) || other.startsWith(name + ID_SEPARATOR);
    const hasBelow = (): boolean => [...certain].some(([other, isCertain]) => isCertain && isBelow(other));
    certain.set(name, found.every(({ number, hasSubtests }) => altered.has(number) || (hasSubtests && hasBelow())));
  }
  return certain;
}

export async function readSource({ folder, runner }: TestsToAlter, file: string): Promise<SourceFile | undefined> {
  if ((await refusalOnDisk(folder, file)) !== undefined) return undefined;
  const found = await readTextFile(folder, file);
  if (found.kind !== 'text') return undefined;
  let hash = createHash('sha256').update(found.text).digest('hex');
  while (found.text.includes(heldName(hash))) hash = createHash('sha256').update(hash).digest('hex');
  return { path: file, text: found.text, runner: runner.name, held: heldName(hash), dice: secretDice };
}

const heldName = (hash: string): string => `held_${hash.slice(0, 8)}`;

interface Plan {
  /** The tests of the file by name. */
  readonly tests: ReadonlyMap<string, readonly PlannedTest[]>;
  /** The edits of each test that can be altered, by its number. */
  readonly edits: ReadonlyMap<number, readonly Edit[]>;
  /** Syntax errors in the original text, as this grammar sees it. */
  readonly errors: number;
}

interface PlannedTest {
  readonly number: number;
  readonly hasSubtests: boolean;
}

interface NamedTests {
  readonly names: ReadonlySet<string>;
  readonly among?: ReadonlySet<string> | undefined;
}

function planOf(all: readonly SourceTest[], { names, among }: NamedTests, errors: number): Plan {
  const planned = new Map<SourceTest | string, PlannedTest>();
  const edits = new Map<number, readonly Edit[]>();
  const tests = new Map<string, readonly PlannedTest[]>();
  const keyOf = (test: SourceTest): SourceTest | string => (among ? bodyOf(test) : test);
  for (const name of names) {
    const found = testsNamed(all, name);
    for (const test of found) {
      if (planned.has(keyOf(test))) continue;
      const number = planned.size;
      planned.set(keyOf(test), { number, hasSubtests: (test.subtests ?? []).length > 0 });
      const made = test.alter();
      if (made && (!among || isConfined(made, test))) edits.set(number, made);
    }
    if (found.length > 0) tests.set(name, found.flatMap((test) => planned.get(keyOf(test)) ?? []));
  }
  return { tests: among ? withRows(tests, { all, among, planned, edits }) : tests, edits, errors };
}

const bodyOf = ({ body }: SourceTest): string => `${body?.startIndex} ${body?.endIndex}`;

/** Whether edits are in a test's own body. A test that declares others is left as it is: where it fails, they may be missing. */
const isConfined = (edits: readonly Edit[], { body, subtests = [] }: SourceTest): boolean =>
  body !== undefined && subtests.length === 0 && edits.every(({ start, end }) => body.startIndex <= start && end <= body.endIndex);

/** More rows take long to fail. */
const MOST_ROWS = 20;
const UNALTERED: PlannedTest = { number: -1, hasSubtests: false };

/** Adds the tests that share a body with an altered one: other rows of its table, or the same test in another class. A body that too many share is left as it is. */
function withRows(tests: Plan['tests'], { all, among, planned, edits }: {
  readonly all: readonly SourceTest[]; readonly among: ReadonlySet<string>; readonly planned: ReadonlyMap<SourceTest | string, PlannedTest>; readonly edits: Map<number, readonly Edit[]>;
}): Plan['tests'] {
  const rows = new Map(tests);
  const counts = new Map<number, number>();
  // To look for each of thousands of names among as many tests would take seconds.
  const sharing = withSubtests(all).filter((test) => planned.has(bodyOf(test)));
  for (const name of among) {
    if (testsNamed(sharing, name).length === 0) continue;
    const found = testsNamed(all, name).map((test) => planned.get(bodyOf(test)) ?? UNALTERED);
    for (const { number } of found) counts.set(number, (counts.get(number) ?? 0) + 1);
    if (found.length > 0) rows.set(name, found);
  }
  for (const [number, count] of counts) if (count > MOST_ROWS) edits.delete(number);
  return rows;
}

/** Alters all tests together. A test is left out if an edit of it overlaps one of a test before, or if it adds syntax errors. */
async function alteredText(
  text: string,
  language: Language,
  { edits, errors }: Plan,
): Promise<{ altered: string; tests: ReadonlySet<number> } | undefined> {
  const merged = (numbers: readonly number[]): string | undefined => withEdits(text, numbers.flatMap((number) => edits.get(number) ?? []));
  const all = [...edits.keys()];
  const apart = merged(all) !== undefined ? all : all.reduce<readonly number[]>((before, number) => (merged([...before, number]) === undefined ? before : [...before, number]), []);
  let attempts = 0;
  const attempt = async (numbers: readonly number[]): Promise<string | undefined> => {
    attempts += 1;
    const altered = merged(numbers);
    const left = altered === undefined ? undefined : await withTree(altered, language, countErrors);
    return left !== undefined && left <= errors ? altered : undefined;
  };
  const soundOf = async (numbers: readonly number[]): Promise<readonly number[]> => {
    if (numbers.length === 0 || attempts >= MAX_ATTEMPTS) return [];
    if ((await attempt(numbers)) !== undefined) return numbers;
    if (numbers.length === 1) return [];
    const half = Math.ceil(numbers.length / 2);
    return [...(await soundOf(numbers.slice(0, half))), ...(await soundOf(numbers.slice(half)))];
  };
  const sound = await soundOf(apart);
  const altered = sound.length > 0 ? await attempt(sound) : undefined;
  return altered === undefined ? undefined : { altered, tests: new Set(sound) };
}

const MAX_ATTEMPTS = 30;

function countErrors(root: Parameters<typeof nodesIn>[0]): number {
  if (!root.hasError) return 0;
  let count = 0;
  for (const { isError, isMissing } of nodesIn(root)) if (isError || isMissing) count += 1;
  return count;
}
