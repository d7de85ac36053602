import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { runnersOf } from './choose-runner.ts';
import { expandScripts, scriptCommand, testScripts } from './package-scripts.ts';
import { isOwnFolder, ProjectFolder } from './project-folder.ts';
import { RUNNERS } from './runners.ts';
import { shellWord } from '../sandbox/shell-quote.ts';

export interface FoundTests {
  /** The command line for the workspace's folder. */
  readonly command: string;
  /** The runner whose report is read. */
  readonly runner: string;
  /** The folder of the tests, relative to the workspace; empty for the workspace itself. */
  readonly folder: string;
}

/** Limits of the search for packages of a monorepo (`packages/<scope>/<name>`). */
const MAX_DEPTH = 3;
const MAX_FOLDERS = 200;

const MANIFESTS = [...new Set(RUNNERS.flatMap(({ manifests }) => manifests))];

/** Folders of examples, documentation and benchmarks, and of tests of the whole, which are slow and want more than the project. */
const ASIDE = /(^|\/)(docs?|examples?|demos?|samples?|playgrounds?|website|benchmarks?|bench|e2e|integration(?:-?tests?)?)(\/|$)/i;

/**
 * The test commands of `workspace` (absolute), the likeliest first: those of the workspace itself, then those of projects inside it, and
 * those of its examples and the like last. Reads files only and runs nothing.
 */
export async function findTestCommands(workspace: string): Promise<readonly FoundTests[]> {
  const found: FoundTests[] = [];
  for (const relative of await projectFolders(workspace)) {
    const folder = new ProjectFolder(path.join(workspace, relative));
    const here: DetectedTests[] = [];
    for (const { name: runner, buildsFoldersBelow, detect } of RUNNERS) {
      if (buildsFoldersBelow && found.some((outer) => outer.runner === runner && isBelow(relative, outer.folder))) continue;
      here.push(...(await detect(folder)).map((command) => ({ command, runner })));
    }
    for (const { command, runner } of await inOrderOfScripts(here, folder))
      found.push({ command: relative === '' ? command : `cd ${shellWord(relative)} && ${command}`, runner, folder: relative });
  }
  const areAllAside = found.every(({ folder }) => ASIDE.test(folder));
  return areAllAside && (await hasTestScript(workspace)) ? [] : found;
}

/** Whether the workspace itself says how it is tested, by a runner that is not known. Then its examples and benchmarks say nothing of it. */
async function hasTestScript(workspace: string): Promise<boolean> {
  const test = (await new ProjectFolder(workspace).packageFile())?.scripts.test;
  return test !== undefined && !/no test specified/.test(test);
}

type DetectedTests = Omit<FoundTests, 'folder'>;

/**
 * Runners are tried in an order that says nothing of a package: which of its scripts are the likeliest is told by their names, and of one
 * script by what it starts first. What no script runs stays where it is.
 */
async function inOrderOfScripts(detected: readonly DetectedTests[], folder: ProjectFolder): Promise<readonly DetectedTests[]> {
  const file = await folder.packageFile();
  const order: string[] = [];
  for (const script of file ? testScripts(file) : []) {
    const command = scriptCommand(script);
    const expanded = await expandScripts(command, folder.folder);
    order.push(...runnersOf(expanded).flatMap(({ name: runner }) => [command, expanded].map((text) => keyOf({ command: text, runner }))));
  }
  const placeOf = (tests: DetectedTests): number => order.indexOf(keyOf(tests));
  const ordered = detected.filter((tests) => placeOf(tests) >= 0).sort((a, b) => placeOf(a) - placeOf(b));
  return detected.map((tests) => (placeOf(tests) < 0 ? tests : (ordered.shift() ?? tests)));
}

const keyOf = ({ command, runner }: DetectedTests): string => JSON.stringify([command, runner]);

/** The likeliest of `findTestCommands`, or undefined if no known runner is used there. */
export async function findTestCommand(workspace: string): Promise<FoundTests | undefined> {
  return (await findTestCommands(workspace))[0];
}

/** The likeliest tests of the innermost package around a file (relative to the workspace). Undefined where only the workspace itself is around it. */
export function testsAround(path: string, packages: readonly FoundTests[]): FoundTests | undefined {
  return packages.filter(({ folder }) => path.startsWith(`${folder}/`)).sort((a, b) => b.folder.length - a.folder.length)[0];
}

const isBelow = (folder: string, outer: string): boolean => outer === '' || folder === outer || folder.startsWith(`${outer}/`);

/** The workspace itself (empty) and the projects inside it, outer ones first and those of `ASIDE` last; relative, with forward slashes. */
async function projectFolders(workspace: string): Promise<readonly string[]> {
  const folders = [''];
  for (const [index, relative] of folders.entries()) {
    const depth = relative === '' ? 0 : relative.split('/').length;
    if (depth >= MAX_DEPTH || index >= MAX_FOLDERS) continue;
    const entries = await readdir(path.join(workspace, relative), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1)))
      if (entry.isDirectory() && isOwnFolder(entry.name)) folders.push(path.posix.join(relative, entry.name));
  }
  const isProject = await Promise.all(
    folders.map((relative) => relative === '' || new ProjectFolder(path.join(workspace, relative)).has(...MANIFESTS)),
  );
  const projects = folders.filter((_, index) => isProject[index]);
  return [...projects.filter((folder) => !ASIDE.test(folder)), ...projects.filter((folder) => ASIDE.test(folder))];
}
