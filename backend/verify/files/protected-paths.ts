/**
 * What an answer may never change, one row per reason. Tests are the judge, so they, what they read and what decides how they
 * run stay as they are; the rest would run code outside the tests. Patterns see the path as the most forgiving file system does:
 * see `folded`.
 */
interface ProtectedRow {
  readonly reason: string;
  readonly patterns: readonly RegExp[];
  /** New ones may come with an answer to a question that asks for tests. */
  readonly comesWithTests?: true;
  /** Files that tests read: what is added to one, they read as well. */
  readonly isData?: true;
  /** What tests compare with and what sets them up. With the tests it makes a suite; see `isPathOfSuite`. */
  readonly isOfSuite?: true;
}

const escaped = (text: string): string => text.replaceAll(/[.\\+*?]/g, '\\$&');
/** Files of exactly these names, in any folder. */
const files = (...names: string[]): RegExp => new RegExp(`(^|/)(${names.map(escaped).join('|')})$`);
/** Everything in folders of these names. */
const folders = (...names: string[]): RegExp => new RegExp(`(^|/)(${names.map(escaped).join('|')})/`);

/** Why a change of a test is not made. */
export const TESTS_STAY = 'Tests are the judge and stay as they are.';

const ROWS: readonly ProtectedRow[] = [
  { reason: 'It belongs to Git itself.', patterns: [folders('.git'), files('.git')] },
  {
    reason: 'It configures tools that run outside the tests.',
    patterns: [folders('.vscode', '.idea', '.devcontainer', '.conductor', '.husky')],
  },
  { reason: 'It is an installed dependency.', patterns: [folders('node_modules', '.venv', 'venv', '.tox', '.nox', 'site-packages', 'conda-meta'), files('node_modules', 'pyvenv.cfg'), /(^|\/)vendor\/(autoload\.php$|(composer|bin|phpunit)\/)/] },
  {
    // The names that node --test, vitest, jest, mocha, pytest, unittest and go test look for.
    reason: TESTS_STAY,
    comesWithTests: true,
    patterns: [
      folders('test', 'tests', '__tests__', 'spec', 'specs', 'e2e'),
      /(^|\/)[^/]*[._-](tests?|spec)\.[^/]+$/,
      /(^|\/)(test[_-][^/]*|tests?)\.([cm]?[jt]sx?|py)$/,
      /\.phpt$/,
    ],
  },
  {
    reason: 'It is data that tests read.',
    comesWithTests: true,
    isData: true,
    patterns: [
      folders('fixture', 'fixtures', '__fixtures__', '__testfixtures__', 'testdata', 'test-data', 'test_data', '_test', '_tests', '__mocks__'),
      folders('golden', 'goldens', '__golden__', 'golden-files'),
      /\.(golden|approved)(\.[^/]+)?$/,
    ],
  },
  { reason: 'It is a snapshot that tests compare with.', isOfSuite: true, patterns: [folders('__snapshots__'), /\.(snap|snapshot)$/] },
  { reason: 'It configures the test runner.', isOfSuite: true, patterns: [files('conftest.py'), /(^|\/)setup[-_.]?(tests?|vitest|jest|mocha)\.[cm]?[jt]sx?$/] },
  {
    reason: 'It decides how the tests are run.',
    patterns: [
      files('justfile', '.justfile', 'taskfile.yml', 'taskfile.yaml', 'nx.json', 'turbo.json', 'lerna.json', 'pnpm-workspace.yaml'),
      files('package.json', 'composer.json', 'pyproject.toml', 'setup.cfg', 'makefile', 'gnumakefile', 'build.rs'),
    ],
  },
  {
    reason: 'It configures the test runner.',
    patterns: [
      /(^|\/)(vite|vitest|jest|karma|ava|babel|playwright|cypress)[^/]*\.(config|workspace|setup|conf)\.[^/]+$/,
      /(^|\/)\.(mocha|nyc|c8|babel|swc|tap)rc[^/]*$/,
      files('pytest.ini', 'tox.ini', 'noxfile.py', '.coveragerc'),
      /(^|\/)phpunit[^/]*\.xml[^/]*$/,
      // What vite and jest load by its name, whether it was there before or not.
      /(^|\/)(postcss|svelte|tailwind|unocss|uno|swc|tap)\.config\.[^/]+$/, /(^|\/)\.(postcss|browserslist|ts-node|esm)rc[^/]*$/,
      files('bunfig.toml', 'deno.json', 'deno.jsonc', 'node.config.json'),
      // What JUnit and its runners find on the class path, and what javac loads while it compiles the tests.
      files('junit-platform.properties'), folders('mockito-extensions'),
      /(^|\/)meta-inf\/services\/(org\.(junit|testng|opentest4j|apache\.maven|spockframework|assertj|mockito|gradle)\b|javax\.annotation\.processing\.)/,
    ],
  },
  { reason: 'It decides how the tests are compiled.', patterns: [/(^|\/)[jt]sconfig[^/]*\.json$/] },
  {
    reason: 'It chooses the tools that tests run with.',
    patterns: [/(^|\/)\.(yarnrc|pnpmfile|pnp)[^/]*$/, folders('.yarn'), files('.npmrc', '.nvmrc', '.node-version', '.tool-versions')],
  },
  { reason: 'It sets the environment that tests run in.', patterns: [/(^|\/)\.env[^/]*$/] },
  {
    reason: 'It is a lock file.',
    patterns: [
      files('package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb'),
      files('cargo.lock', 'poetry.lock', 'uv.lock', 'pipfile.lock', 'go.sum', 'go.work', 'gemfile.lock', 'composer.lock'),
    ],
  },
  {
    reason: 'It would take the place of the libraries that tests are made with.',
    patterns: [
      /(^|\/)(org\/(junit|assertj|hamcrest|mockito|opentest4j|testng|spockframework|apiguardian|apache\/maven\/surefire|gradle\/api)|junit\/framework)\/[^/]+/,
      /(^|\/)(rspec\/(core|expectations|matchers|mocks|support|autorun)|minitest(\/(autorun|assertions|expectations|mock|spec|test|unit|[^/]*_plugin))?|test-unit)(\.rb$|\/)/,
      /(^|\/)(com\/google\/common\/truth|kotlin\/test|io\/kotest|net\/bytebuddy)\/[^/]+/,
    ],
  },
  {
    reason: 'It would run before the tests do.',
    patterns: [/(^|\/)(site|user)customize(\.py$|\/)/, /\.(pth|py[co])$/, /\.(dist|egg)-info(\/|$)/],
  },
];

/**
 * Why an answer may not touch this path (relative, forward slashes), as one sentence, or undefined. `configuration`: patterns of the
 * files that the project's own test runner goes by, for paths in lower case.
 */
export function protectedReason(path: string, configuration: readonly RegExp[] = []): string | undefined {
  const seen = folded(path);
  if (configuration.some((pattern) => pattern.test(seen))) return 'It configures the test runner.';
  return ROWS.find(({ patterns }) => patterns.some((pattern) => pattern.test(seen)))?.reason;
}

/** Whether this is the path of a test or its data, and of nothing that decides how tests are run: such a file may be added where tests are asked for. */
export function isPathOfTest(path: string, configuration: readonly RegExp[] = []): boolean {
  const seen = folded(path);
  const rows = ROWS.filter(({ patterns }) => patterns.some((pattern) => pattern.test(seen)));
  return rows.length > 0 && rows.every(({ comesWithTests }) => comesWithTests) && !configuration.some((pattern) => pattern.test(seen));
}

/** Whether this is the path of a test, and not of its data: a file to which tests may be added. */
export function isPathOfTestSource(path: string, configuration?: readonly RegExp[]): boolean {
  const seen = folded(path);
  return isPathOfTest(path, configuration) && !ROWS.some(({ isData, patterns }) => isData && patterns.some((pattern) => pattern.test(seen)));
}

/** Whether this is the path of a test, of what it reads or compares with, or of what sets it up in its own language, and of nothing that decides which tests run, and how. */
export function isPathOfSuite(path: string): boolean {
  const seen = folded(path);
  const rows = ROWS.filter(({ patterns }) => patterns.some((pattern) => pattern.test(seen)));
  return rows.length > 0 && rows.every(({ comesWithTests, isOfSuite }) => comesWithTests ?? isOfSuite);
}

/**
 * Some file systems do not tell `.GIT` from `.git`, and those of macOS take `.vſcode` (U+017F) for `.vscode` and `ﬁ` for `fi`, too
 * (Unicode's full case folding).
 */
function folded(path: string): string {
  return path.normalize('NFKC').toUpperCase().toLowerCase();
}
