import path from 'node:path';
import { familyNameOf } from '../../common/imports/language-families.ts';
import { configuredFiles, isConfiguration, type RunOfTests } from '../closure/configured-files.ts';
import { belongsToTests, folderOf, isConftest, type ProjectImports } from '../closure/project.ts';

/**
 * The files that import one of `changed`, directly or by others, and these themselves, as far as sources show. A module that is loaded by a
 * computed name is not seen. Undefined where imports say nothing: for a change of data, or if what sets up the runner is reached.
 */
export async function reachedFiles(
  changed: readonly string[], imports: ProjectImports, { isTest, ...run }: RunOfTests & { readonly isTest: (file: string) => boolean },
): Promise<ReadonlySet<string> | undefined> {
  if (changed.some((file) => familyNameOf(file) === undefined)) return undefined;
  const configured = configuredFiles(imports, run);
  const reached = new Set(changed);
  // A set also hands out what is added while it is read.
  for (const file of reached) {
    // The command may name files of tests, too.
    if ((configured.has(file) && !isTest(file)) || (isConfiguration(file, run.configuration) && !isConftest(file))) return undefined;
    for (const importer of await imports.importersOf(file)) reached.add(importer);
    for (const other of loadedWith(file, imports)) reached.add(other);
  }
  return reached;
}

/** Files that are loaded with another one although they do not import it. */
function loadedWith(file: string, { files, shape }: ProjectImports): readonly string[] {
  const folder = folderOf(file);
  // A package of Go is its folder.
  if (file.endsWith('.go')) return shape.inFolder(folder).filter((other) => other.endsWith('.go'));
  const isBelow = (other: string): boolean => other.endsWith('.py') && (folder === '' || other.startsWith(`${folder}/`));
  // pytest hands what is in a `conftest.py` to the tests below it, and a module of Python is loaded after the packages that it is in.
  if (isConftest(file)) return [...files.paths].filter((other) => isBelow(other) && belongsToTests(other));
  return path.posix.basename(file) === '__init__.py' ? [...files.paths].filter(isBelow) : [];
}
