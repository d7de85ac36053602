import { filesImported } from '../../common/imports/resolve-import.ts';
import { configuredFiles, isConfiguration, isTooling, TEST_COMMAND, type RunOfTests } from './configured-files.ts';
import { entryPoints } from './entry-points.ts';
import { isJudgedBy, isNamedForTests, usesTestFramework } from './looks-like-helper.ts';
import { testedByName } from './own-tests.ts';
import { belongsToTests, baseOf, stemOf, folderOf, type ProjectImports } from './project.ts';
import { isCompiledForTestsOnly } from './rust-test-modules.ts';

/** What a file is to the tests. A judge comes with the reason, as one sentence. */
export type Role = { readonly is: 'test' | 'configuration' | 'tooling' | 'product' } | { readonly is: 'judge'; readonly configures: boolean; readonly why: string };

const PRODUCT: Role = { is: 'product' };

/** Tells the files that judge from those that are judged, by who imports them. */
export class HelpersOfTests {
  readonly #imports: ProjectImports;
  readonly #run: RunOfTests;
  readonly #configured: ReadonlyMap<string, string>;
  readonly #isEntry: (file: string) => boolean;
  readonly #isTestedByName: (file: string) => boolean;
  readonly #roles = new Map<string, Promise<Role>>();

  constructor(imports: ProjectImports, run: RunOfTests) {
    this.#imports = imports;
    this.#run = run;
    this.#configured = configuredFiles(imports, run);
    this.#isEntry = entryPoints(imports);
    this.#isTestedByName = testedByName(imports.files);
  }

  async roleOf(file: string, asking: readonly string[] = []): Promise<Role> {
    const known = this.#roles.get(file);
    if (known) return await known;
    const role = this.#findRole(file, asking);
    // What was found on the way round a circle depends on where it began.
    if (asking.length === 0) this.#roles.set(file, role);
    return await role;
  }

  async #findRole(file: string, asking: readonly string[]): Promise<Role> {
    if (belongsToTests(file)) return { is: 'test' };
    if (isConfiguration(file, this.#run.configuration)) return { is: 'configuration' };
    const { files } = this.#imports;
    if (file.endsWith('.rs')) {
      const declared = isCompiledForTestsOnly(file, files);
      return declared === undefined ? PRODUCT : judge(`${declared} compiles it for tests only.`);
    }
    const text = files.text(file) ?? '';
    if (file.endsWith('.go') && /\btesting\.(?:T|TB|B|F|M)\b/.test(text)) return judge('It takes what the package testing hands to tests, so it belongs to them.');
    const by = this.#configured.get(file);
    // It is a program of the project as well, which runs every other command of Django.
    if (by === TEST_COMMAND && baseOf(file) === 'manage.py') return judge(loaded(by), true);
    if (this.#isEntry(file) || this.#isTestedByName(file)) return PRODUCT;
    const importers = [...(await this.#imports.importersOf(file))].filter((importer) => !asking.includes(importer));
    const roles: { importer: string; role: Role }[] = [];
    for (const importer of importers) roles.push({ importer, role: asking.length > MAX_STEPS ? PRODUCT : await this.roleOf(importer, [...asking, file]) });
    const isUsed = roles.some(({ role }) => role.is === 'product');
    if (isUsed) return PRODUCT;
    if (by !== undefined) return judge(loaded(by), true);
    const configuring = roles.find(({ role }) => role.is === 'configuration' || (role.is === 'judge' && role.configures));
    if (configuring) return judge(`${configuring.importer} imports it, so it decides how the tests are run.`, true);
    if (isTooling(file)) return { is: 'tooling' };
    const helper = roles.find(({ role }) => role.is === 'judge');
    if (helper) return judge(`Only tests and their helpers import it (${helper.importer}).`);
    const tests = roles.filter(({ role }) => role.is === 'test').map(({ importer }) => importer);
    const [first] = tests.filter((test) => baseOf(test) !== '__init__.py');
    if (first === undefined || roles.length > tests.length) return PRODUCT;
    if (isNamedForTests(file) || usesTestFramework(file, text) || this.#judges(file, tests)) return judge(`Only tests import it (${first}), so it is part of the judge.`);
    return PRODUCT;
  }

  /** Whether the tests hand over to it what they have computed. */
  #judges(file: string, tests: readonly string[]): boolean {
    const { files, shape } = this.#imports;
    const uses = tests.map((test) => isJudgedBy(test, files.text(test) ?? '', (from) => {
      const found = filesImported(test, from, shape);
      return found.includes(file) || found.some((one) => folderOf(one) === folderOf(file) && from.endsWith(stemOf(file)));
    }));
    return uses.length > 0 && uses.every(Boolean);
  }
}

const loaded = (by: string): string => `${by === TEST_COMMAND ? 'The test command' : by} loads it, so it decides how the tests are run.`;

const judge = (why: string, configures = false): Role => ({ is: 'judge', configures, why });

/** Of importers of importers. */
const MAX_STEPS = 12;
