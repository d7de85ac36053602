import path from 'node:path';
import { ProjectImports, folderOf, type ProjectFiles } from '../closure/project.ts';
import { Slices } from '../../common/slices.ts';
import type { ChosenRunner } from '../runners/choose-runner.ts';
import { ID_SEPARATOR, type TestReport } from '../runners/test-report.ts';
import { coveringTests, type ChangedFile } from './covering-tests.ts';
import { commandForTests, type SomeTests } from './named-tests.ts';
import type { Coverage } from '../runners/coverage.ts';
import { reachedFiles } from './reached-files.ts';

/** Some of the tests, and how they are run without the others. */
export interface ReachedTests extends SomeTests {
  /** Whether the test with this id is among them. */
  covers(id: string): boolean;
}

/** A longer share of the whole time is not worth a run of its own. */
export const MOST_OF_THE_TIME = 0.5;

/**
 * The tests that a change of `changed` reaches by imports, with those in the files or packages of `ids`. They are looked for among those of
 * `report`. Undefined if they cannot be told or run by themselves, or take most of the time.
 */
export async function reachedTests(
  { report, changed, ids, chosen, files }: {
    readonly report: TestReport; readonly changed: readonly string[]; readonly ids: readonly string[]; readonly chosen: ChosenRunner; readonly files: ProjectFiles;
  },
): Promise<ReachedTests | undefined> {
  const { runner: { idRoot, configuration }, command } = chosen;
  if (idRoot !== 'file' && idRoot !== 'go package') return undefined;
  const imports = new ProjectImports(files, new Slices());
  const all = new Set(report.results.map(({ id }) => unitOf(id)));
  const reached = await reachedFiles(changed, imports, { command, configuration, isTest: (file) => all.has(file) });
  if (!reached) return undefined;
  const units = idRoot === 'file' ? reached : packagesOf(reached, imports);
  const found = [...all].filter((unit) => units.has(unit));
  if (found.length === 0) return undefined;
  const wanted = new Set([...found, ...ids.map(unitOf)]);
  const covers = (id: string): boolean => wanted.has(unitOf(id));
  const named = shareOf(report, covers) <= MOST_OF_THE_TIME ? commandForTests(chosen, { wanted, all }) : undefined;
  return named === undefined ? undefined : { command: named, covers };
}

/**
 * The tests that call what the edits change, as a run of the workspace has shown, and those of `ids`: none, if no test calls it. Undefined if the run
 * does not tell, or if they take most of the time.
 */
export function coveredTests(
  { report, ids, chosen: { command }, edits, coverage }: {
    readonly report: TestReport; readonly ids: readonly string[]; readonly chosen: ChosenRunner; readonly edits: readonly ChangedFile[]; readonly coverage: Coverage;
  },
): ReachedTests | undefined {
  const found = coveringTests(edits, coverage);
  if (!found) return undefined;
  const wanted = new Set([...found, ...ids]);
  const only = [...wanted].map((id) => coverage.keys.get(id));
  if (!only.every((key) => key !== undefined)) return undefined;
  const covers = (id: string): boolean => wanted.has(id);
  return shareOf(report, covers) <= MOST_OF_THE_TIME ? { command, only: only.toSorted(), covers } : undefined;
}

/** What the first part of an id names: a file, or a package of Go. */
const unitOf = (id: string): string => id.split(ID_SEPARATOR, 1)[0] ?? id;

/** The import paths of the Go packages that files are in. */
function packagesOf(files: ReadonlySet<string>, { shape }: ProjectImports): ReadonlySet<string> {
  const modules = [...shape.packages].filter(([, folder]) => shape.has(path.posix.join(folder, 'go.mod')));
  const importPath = (folder: string): string[] => {
    const [found] = modules.filter(([, base]) => base === '' || folder === base || folder.startsWith(`${base}/`)).sort(([, a], [, b]) => b.length - a.length);
    return found ? [path.posix.join(found[0], path.posix.relative(found[1], folder))] : [];
  };
  return new Set([...new Set([...files].map(folderOf))].flatMap(importPath));
}

/** The part of the tests that is covered: of their time, or of their number if no time is told. */
function shareOf({ results }: TestReport, covers: (id: string) => boolean): number {
  const tests = results.filter(({ kind }) => kind === 'test');
  const timed = tests.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);
  const weight = timed > 0 ? ({ durationMs = 0 }: { durationMs?: number }) => durationMs / timed : () => 1 / Math.max(1, tests.length);
  return tests.filter(({ id }) => covers(id)).reduce((sum, test) => sum + weight(test), 0);
}
