import { Slices } from '../../common/slices.ts';
import { familyNameOf } from '../../common/imports/language-families.ts';
import { isCode, whyItIsData } from './data-of-tests.ts';
import type { RunOfTests } from './configured-files.ts';
import { HelpersOfTests } from './helpers-of-tests.ts';
import { folderOf, ProjectImports, stemOf, type ProjectFiles } from './project.ts';
import { whyItShadows } from './shadows.ts';

interface EditedFile {
  readonly path: string;
  /** Null for a new file. */
  readonly before: string | null;
}

/**
 * Says which files of a project judge, beyond those whose names say so: what only tests import, what they read, what configures their runner, and
 * what would take the place of one of these. Reads no more of the project than it needs.
 */
export class JudgingFiles {
  readonly #files: ProjectFiles;
  readonly #slices: Slices;
  readonly #helpers: HelpersOfTests;
  readonly #installed: string;

  /** @param installed the folder in which dependencies are installed, absolute */
  constructor(files: ProjectFiles, run: RunOfTests, installed: string, slices = new Slices()) {
    this.#files = files;
    this.#slices = slices;
    this.#helpers = new HelpersOfTests(new ProjectImports(files, slices), run);
    this.#installed = installed;
  }

  /** Why an answer may not change this file, as one sentence, or undefined. */
  async whyItJudges({ path, before }: EditedFile): Promise<string | undefined> {
    if (before === null) {
      const shadowed = whyItShadows(path, this.#files, this.#installed);
      if (shadowed !== undefined) return shadowed;
      for (const sibling of siblingsOf(path, this.#files)) {
        const role = await this.#helpers.roleOf(sibling);
        if (role.is === 'judge') return `It may be loaded in the place of ${sibling}. ${role.why}`;
      }
    }
    const role = await this.#helpers.roleOf(path);
    if (role.is === 'judge' && (role.configures || isCode(path))) return role.why;
    return isCode(path) ? undefined : await whyItIsData(path, this.#files, (file) => this.#helpers.roleOf(file), this.#slices);
  }
}

/** What judges in the projects that were asked about lately: the imports of a project are read once for all patches that are judged on it. */
export class KnownJudgingFiles {
  readonly #known = new WeakMap<ProjectFiles, Map<string, JudgingFiles>>();

  /** @param files must be the same object for the same files, because what is known of them is kept by it */
  of(files: ProjectFiles, run: RunOfTests, installed: string): JudgingFiles {
    const ofFiles = this.#known.get(files) ?? new Map<string, JudgingFiles>();
    this.#known.set(files, ofFiles);
    const key = JSON.stringify([run.command, run.configuration.map(String), installed]);
    const known = ofFiles.get(key) ?? new JudgingFiles(files, run, installed);
    ofFiles.set(key, known);
    return known;
  }
}

/** The module of a file, without its ending: `a/b` for `a/b.js`, `a/b.ts` and `a/b/index.js`. */
const moduleOf = (file: string): string => (/^(?:index|__init__|mod)$/.test(stemOf(file)) ? folderOf(file) : [folderOf(file), stemOf(file)].filter((part) => part !== '').join('/'));

/** Other files that the same import may mean. */
function siblingsOf(file: string, { paths }: ProjectFiles): readonly string[] {
  const module = moduleOf(file);
  return familyNameOf(file) === undefined ? [] : [...paths].filter((other) => other !== file && other.startsWith(module) && moduleOf(other) === module && familyNameOf(other) === familyNameOf(file));
}
