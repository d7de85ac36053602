import { describe, expect, it } from 'vitest';
import { chooseRunner } from '../../../backend/verify/runners/choose-runner.ts';
import { testsRunBy } from '../../../backend/verify/runners/fan-out.ts';
import { findTestCommands } from '../../../backend/verify/runners/find-tests.ts';
import { simpleCommands } from '../../../backend/verify/runners/shell-words.ts';
import { makeScratch } from '../setup.ts';
import type { Files } from './setup.ts';

const scripts = (all: Record<string, string>, devDependencies: Record<string, string> = {}): string =>
  JSON.stringify({ scripts: all, devDependencies });

describe('the ways to run the tests of a project', () => {
  it.each<[string, Files, string[]]>([
    ['vitest by its script', { 'package.json': scripts({ test: 'vitest' }) }, ['vitest: vitest']],
    ['vitest without a script', { 'package.json': scripts({}, { vitest: '1' }) }, ['vitest: vitest run']],
    ['Jasmine by its script, and without one', { 'package.json': scripts({ test: 'jasmine --config=a.json' }), 'packages/a/package.json': scripts({}, { jasmine: '5' }) }, ['jasmine: jasmine --config=a.json', 'jasmine: cd packages/a && jasmine']],
    ['nothing for the benchmarks of a package whose own tests are run by something unknown', { 'package.json': scripts({ test: 'uvu test' }), 'bench/package.json': scripts({}, { jest: '1' }) }, []],
    ['nothing of PHPUnit in a project of Pest', { 'composer.json': '{"require-dev":{"pestphp/pest":"^3"}}', 'phpunit.xml': '<phpunit/>' }, []],
    [
      'several scripts, with what has to be built before',
      { 'package.json': scripts({ 'test:unit': 'jest', test: 'npm run lint && mocha', lint: 'x', pretest: 'tsc', 'test:watch': 'jest' }) },
      ['mocha: npm test', 'jest: jest'],
    ],
    [
      'the script that is called test before one for a part of the tests, whatever runs them',
      { 'package.json': scripts({ 'test:jest': 'jest tests_jest', test: 'nyc mocha --recursive tests' }) },
      ['mocha: nyc mocha --recursive tests', 'jest: jest tests_jest'],
    ],
    [
      'what a script starts first before what it starts later',
      { 'package.json': scripts({ test: 'node build.js && npm run unit && jest test/jest', unit: 'borp' }) },
      ['node-test: npm test', 'jest: npm test', 'node-test: borp'],
    ],
    [
      'a package beside a project of another language, which is tried first',
      { 'go.mod': '', 'a_test.go': '', 'package.json': scripts({ test: 'node --test' }) },
      ['go: go test ./...', 'node-test: node --test'],
    ],
    [
      'projects of Nx, which have no scripts',
      {
        'package.json': scripts({ test: 'nx run-many -t test' }, { vitest: '4', jest: '30' }),
        'libs/core/project.json': '{}', 'libs/core/vite.config.mts': 'export default { test: { environment: "node" } };',
        'libs/shop/project.json': '{}', 'libs/shop/package.json': '{}', 'libs/shop/jest.config.ts': 'export default {};',
        'libs/site/project.json': '{}', 'libs/site/vite.config.ts': 'export default {};',
        'libs/plain/jest.config.ts': 'export default {};',
      },
      ['vitest: cd libs/core && vitest run', 'jest: cd libs/shop && jest'],
    ],
    [
      'those of packages before tests of the whole',
      { 'e2e/package.json': scripts({ test: 'jest' }), 'integration-tests/package.json': scripts({ test: 'jest' }), 'packages/core/package.json': scripts({ test: 'mocha' }) },
      ['mocha: cd packages/core && mocha', 'jest: cd e2e && jest', 'jest: cd integration-tests && jest'],
    ],
    ['jest in an application', { 'package.json': scripts({ test: 'react-scripts test' }) }, ['jest: react-scripts test']],
    ["Node's runner, started by borp", { 'package.json': scripts({ test: 'npm run lint && npm run unit', unit: 'borp --timeout=9000', lint: 'x' }) }, ['node-test: npm test', 'node-test: borp --timeout=9000']],
    ['pytest by its file', { 'pytest.ini': '' }, ['pytest: python3 -m pytest']],
    ['pytest by pyproject', { 'pyproject.toml': '[tool.pytest.ini_options]\n' }, ['pytest: python3 -m pytest']],
    ['pytest by a requirement', { 'pyproject.toml': 'dev = ["pytest>=7"]\n' }, ['pytest: python3 -m pytest']],
    ['pytest by setup.cfg', { 'setup.cfg': '[tool:pytest]\n' }, ['pytest: python3 -m pytest']],
    ['pytest by plain test functions', { 'tests/test_a.py': 'def test_a():\n    pass\n' }, ['pytest: python3 -m pytest']],
    [
      'unittest',
      { 'tests/__init__.py': '', 'tests/test_a.py': 'import unittest\n' },
      ['unittest: python3 -m unittest'],
    ],
    [
      'unittest in a folder that is no package',
      { 'tests/test_a.py': 'from unittest import TestCase\n' },
      ['unittest: python3 -m unittest discover -s tests', 'unittest: python3 -m unittest'],
    ],
    [
      'unittest beside the sources',
      { 'src/test_a.py': 'import unittest\n' },
      ['unittest: python3 -m unittest discover -s src', 'unittest: python3 -m unittest'],
    ],
    [
      'unittest in packages below a folder that is none',
      { 'python code/a/__init__.py': '', 'python code/a/b/__init__.py': '', 'python code/a/b/test_a.py': 'import unittest\n' },
      ["unittest: python3 -m unittest discover -s 'python code'", 'unittest: python3 -m unittest'],
    ],
    [
      'unittest in several folders, the one with the usual name first',
      { 'a_test.py': 'import unittest\n', 'more/test_b.py': 'import unittest\n', 'tests/test_c.py': 'import unittest\n' },
      ['tests', '', 'more'].map((start) => `unittest: python3 -m unittest${start && ` discover -s ${start}`}`),
    ],
    ['pytest and unittest', { 'tox.ini': '[pytest]\n', 'test_a.py': 'import unittest\n' }, [
      'pytest: python3 -m pytest',
      'unittest: python3 -m unittest',
    ]],
    ['go', { 'go.mod': 'module a\n', 'a/a_test.go': 'package a\n' }, ['go: go test ./...']],
    ['nothing for go without tests', { 'go.mod': 'module a\n', 'a.go': '' }, []],
    ['cargo', { 'Cargo.toml': '' }, ['cargo: cargo test']],
    ['cargo nextest', { 'Cargo.toml': '', '.config/nextest.toml': '' }, ['nextest: cargo nextest run', 'cargo: cargo test']],
    ['a workspace of cargo once', { 'Cargo.toml': '', 'crates/a/Cargo.toml': '' }, ['cargo: cargo test']],
    ['Maven by its wrapper', { 'pom.xml': '', mvnw: '', 'a/pom.xml': '' }, ['maven: ./mvnw test']],
    ['Gradle', { 'settings.gradle.kts': '', 'app/build.gradle.kts': '' }, ['gradle: gradle test']],
    ['PHPUnit by its configuration', { 'phpunit.xml.dist': '<phpunit/>' }, ['phpunit: phpunit']],
    ['PHPUnit that Composer has installed', { 'composer.json': '{"require-dev":{"phpunit/phpunit":"^11"}}', 'vendor/bin/phpunit': '', 'tests/ATest.php': '' }, ['phpunit: vendor/bin/phpunit tests']],
    ['PHPUnit by a script of Composer', { 'composer.json': '{"scripts":{"test":["@lint","@unit"],"lint":"phpcs","unit":"phpunit --testsuite unit"}}' }, ['phpunit: composer test']],
    [
      'ctest',
      { 'CMakeLists.txt': 'project(a)\n', 'tests/CMakeLists.txt': 'add_test(NAME a COMMAND a)\n' },
      ['ctest: cmake -S . -B conductor-build && cmake --build conductor-build && ctest --test-dir conductor-build'],
    ],
    [
      'the packages of a monorepo, each in its folder',
      {
        'package.json': scripts({ test: 'turbo run test' }),
        'packages/a/package.json': scripts({ test: 'vitest run' }),
        'packages/b c/package.json': scripts({ test: 'node --test' }),
        'services/api/pyproject.toml': '[tool.pytest.ini_options]\n',
        'services/api/tests/test_a.py': 'def test_a(): pass\n',
        'node_modules/x/package.json': scripts({ test: 'vitest run' }),
      },
      [
        "vitest: cd packages/a && vitest run",
        "node-test: cd 'packages/b c' && node --test",
        'pytest: cd services/api && python3 -m pytest',
      ],
    ],
    [
      'those of the packages, where the root has the runner for them alone',
      {
        'package.json': scripts({}, { vitest: '4' }), 'pnpm-workspace.yaml': 'packages: [packages/*]\n',
        'packages/a/package.json': scripts({ test: 'vitest --config ../../shared/vitest.config.ts run' }),
      },
      ['vitest: cd packages/a && vitest --config ../../shared/vitest.config.ts run'],
    ],
    [
      'that of the root, where it configures the runner for its packages',
      { 'package.json': scripts({}, { vitest: '4' }), 'pnpm-workspace.yaml': 'packages: [packages/*]\n', 'vitest.config.ts': '', 'packages/a/package.json': scripts({}) },
      ['vitest: vitest run'],
    ],
    [
      'not those of projects that are data of tests',
      {
        'package.json': scripts({ test: 'vitest' }),
        'test/fixtures/app/package.json': scripts({ test: 'jest' }),
        'testdata/go.mod': 'module a\n',
        'testdata/a_test.go': 'package a\n',
      },
      ['vitest: vitest'],
    ],
    [
      'those of examples and of the documentation last',
      {
        'package.json': scripts({ test: 'turbo run test' }),
        'apps/docs/package.json': scripts({ test: 'jest' }),
        'examples/a/package.json': scripts({ test: 'jest' }),
        'packages/core/package.json': scripts({ test: 'vitest run' }),
      },
      ['vitest: cd packages/core && vitest run', 'jest: cd apps/docs && jest', 'jest: cd examples/a && jest'],
    ],
    [
      'those of tests deep in the sources',
      { 'src/main/shop/cart/tests/unit/test_cart.py': 'def test_cart():\n    pass\n' },
      ['pytest: python3 -m pytest'],
    ],
    ['tape by a file that loads it', { 'package.json': scripts({ test: 'xo && node test' }), 'test/index.js': "require('./a');", 'test/a.js': "const test = require('tape');" }, ['tape: npm test']],
    ['RSpec', { Gemfile: '', 'spec/a_spec.rb': '' }, ['rspec: bundle exec rspec']],
    ['RSpec without a Gemfile, and Minitest by rake', { '.rspec': '', 'spec/a_spec.rb': '', 'test/a_test.rb': '', Rakefile: 'Rake::TestTask.new' }, ['rspec: rspec', 'minitest: rake test']],
    ['Minitest in Rails', { Gemfile: '', 'bin/rails': '', 'test/models/a_test.rb': '' }, ['minitest: bin/rails test']],
    ["Minitest's specs", { 'test/spec_a.rb': '', Rakefile: 'Rake::TestTask.new("test:regular")\ntask test: %w[test:regular]' }, ['minitest: rake test']],
    ["Minitest's specs, named as RSpec's", { Gemfile: '', 'spec/a_spec.rb': '', 'spec/helper.rb': "require 'minitest/autorun'", Rakefile: 'Rake::TestTask.new(:spec) { |task| task.pattern = 1 }' }, ['minitest: bundle exec rake spec']],
    ['Minitest by itself', { 'test/test_a.rb': '' }, [`minitest: ruby -Ilib -Itest -e 'Dir["./test/**/{*_test,*_spec,test_*,spec_*,tc_*}.rb"].sort.each { |file| require file }'`]],
    ['nothing where there is nothing', { 'README.md': 'pytest' }, []],
  ])('are %s', async (_, files, expected) => {
    await using scratch = await makeScratch();
    const found = await findTestCommands(await scratch.project(files));
    expect(found.map(({ runner, command }) => `${runner}: ${command}`)).toEqual(expected);
  });
});

describe('the runner of a command', () => {
  it.each([
    ['npx vitest run', 'vitest'],
    ['pnpm exec jest --ci', 'jest'],
    ['yarn mocha', 'mocha'],
    ['node node_modules/.bin/jest', 'jest'],
    ['node ./node_modules/vitest/vitest.mjs run', 'vitest'],
    ['node --expose-gc ./node_modules/vitest/dist/cli-wrapper.js --run', 'vitest'],
    ['bundle exec rspec spec/a_spec.rb', 'rspec'],
    ['bundle exec rake spec', 'rspec'],
    ['bundle exec rake', 'minitest'],
    ['bin/rails test test/models', 'minitest'],
    ['ruby -Ilib test/a_test.rb', 'minitest'],
    ['ruby run-test.rb', 'minitest'],
    ['ruby bin/latest.rb', 'exit-code'],
    ['uv run --frozen pytest -q', 'pytest'],
    ['poetry run python -m pytest', 'pytest'],
    ['coverage run -m pytest', 'pytest'],
    ['PYTHONPATH=src python3.11 -m unittest discover', 'unittest'],
    ['cd src && DEBUG= go test ./pkg/...', 'go'],
    ['cargo +nightly test --workspace', 'cargo'],
    ['cargo nextest run', 'nextest'],
    ['./mvnw -pl a verify', 'maven'],
    ['./gradlew :app:test', 'gradle'],
    ['cmake --build b && (cd b && ctest -j4)', 'ctest'],
    ['php -d memory_limit=1G vendor/bin/phpunit --filter a', 'phpunit'],
    ['php tools/phpunit-9.6.phar', 'phpunit'],
    ['node --test', 'node-test'],
    ['npx borp --coverage', 'node-test'],
    ['borp && jest test/jest', 'node-test'],
    ['node build.js && jest', 'jest'],
    ['mocha && vitest run', 'mocha'],
    ["ts-mocha -p test/tsconfig.json 'test/**/*.spec.ts'", 'mocha'],
    ['npm test', 'pytest'],
    ['npm run -s chain', 'mocha'],
    ['yarn chain --bail', 'exit-code'],
    ['echo pytest', 'exit-code'],
    ['pip install pytest', 'exit-code'],
    ['cargo build', 'exit-code'],
    ['go vet ./...', 'exit-code'],
    ['npm run circle', 'exit-code'],
    ['make test', 'exit-code'],
    ['env CI=1 npm test', 'pytest'],
    ['cross-env NODE_ENV=test mocha', 'mocha'],
    ['go test $(go list ./... | grep -v /e2e)', 'go'],
    ['echo `pytest --version`', 'exit-code'],
    ['cargo build # and then cargo test', 'exit-code'],
    ['', 'exit-code'],
  ])('"%s" is %s', async (command, runner) => {
    await using scratch = await makeScratch();
    const base = await scratch.project({
      'package.json': scripts({ test: 'pytest', chain: 'npm run deeper', deeper: 'mocha', circle: 'npm run circle' }),
    });
    expect((await chooseRunner({ command }, base))?.runner.name).toBe(runner);
  });

  it('is the one that the user names', async () => {
    await using scratch = await makeScratch();
    const chosen = await chooseRunner({ command: 'make test', runner: 'pytest' }, await scratch.project({ a: '' }));
    expect(chosen?.runner.name).toBe('pytest');
  });

  it('is found in scripts that are written out with what comes before, after, and behind them', async () => {
    await using scratch = await makeScratch();
    const files = { 'a/package.json': scripts({ pretest: 'tsc', test: 'vitest', posttest: 'rm x' }) };
    const chosen = await chooseRunner({ command: `cd a && npm test -- -t 'x y'` }, await scratch.project(files));
    expect(chosen?.command).toBe(`cd a && tsc || conductor_failed=$?; vitest -t 'x y' && (exit \${conductor_failed:-0})`);
    expect(chosen?.checks).toEqual(['cd a && rm x']);
  });
});

describe('the programs of a command line', () => {
  it.each<[string, string[][]]>([
    [`a 'b c'd "e \\"f" g\\ h`, [['a', 'b cd', 'e "f', 'g h']]],
    ['A=1 B="2 3" a && b; c | d || e & f\ng', [['a'], ['b'], ['c'], ['d'], ['e'], ['f'], ['g']]],
    ['a >out 2>&1 <in b 2> err', [['a', 'b']]],
    ['(cd x && a)', [['cd', 'x'], ['a']]],
    [`a 'unended`, [['a', 'unended']]],
    [`a $(b "c )" | d) e"$(f "g h") i"\`j k\` l`, [['a', '$(b "c )" | d)', 'e$(f "g h") i`j k`', 'l']]],
    ['a ${B:-c d} $((1 + 2)) $E; f $(unended', [['a', '${B:-c d}', '$((1 + 2))', '$E'], ['f', '$(unended']]],
    ['a \\\n  b\\\nc "d\\\ne"', [['a', 'bc', 'de']]],
    ['a b#c # d; e\nf # g', [['a', 'b#c'], ['f']]],
    ['A=1 env B=2 C=3 d -e', [['d', '-e']]],
    ['env -i A=1 b && env', [['env', '-i', 'A=1', 'b'], ['env']]],
    ['', []],
  ])('of %j', (line, expected) => {
    expect(simpleCommands(line).map(({ words }) => words.map(({ text }) => text))).toEqual(expected);
  });

  it('are told from the variables that are set for them', () => {
    const [command] = simpleCommands('A=1 env B="2 3" c D=4');
    expect(command?.assignments.map(({ text }) => text)).toEqual(['A=1', 'B=2 3']);
    expect(command?.words.map(({ text }) => text)).toEqual(['c', 'D=4']);
  });
});

describe('a command for the packages of a monorepo', () => {
  it.each([
    'turbo run test', 'npx turbo test', 'npm test', 'pnpm -r test', 'pnpm run -r test:unit', 'npm run test --workspaces --if-present', 'yarn workspaces foreach -A run test', 'lerna run test --stream',
    'nx run-many -t test', 'nx run-many --target=test', 'moon run :test',
  ])('%s runs the tests that they have', async (command) => {
    await using scratch = await makeScratch();
    const folder = await scratch.project({ 'package.json': scripts({ test: 'npm run build && turbo run test' }), 'packages/a/package.json': scripts({ test: 'vitest' }) });
    expect(await testsRunBy(command, folder)).toEqual([{ command: 'cd packages/a && vitest', runner: 'vitest', folder: 'packages/a' }]);
  });

  it.each(['vitest', 'turbo run build', 'pnpm -r build', 'pnpm --filter a test', 'make test'])('%s is none', async (command) => {
    await using scratch = await makeScratch();
    expect(await testsRunBy(command, await scratch.project({ 'package.json': scripts({}), 'packages/a/package.json': scripts({ test: 'vitest' }) }))).toEqual([]);
  });
});

describe('a command that starts a file', () => {
  const project = { 'package.json': scripts({ test: 'node lint.js && node test' }), 'lint.js': '', 'test/index.js': "import './a.js';", 'test/a.js': "import test from 'tape';", 'plain.js': '' };

  it.each([['npm test', 'tape', 'node test', ['node lint.js']], ['cd test && node a', 'tape', 'cd test && node a', []], ['node plain.js', 'node-test', 'node plain.js', []]])(
    '%s is run as %s', async (command, name, tests, checks) => {
      await using scratch = await makeScratch();
      const chosen = await chooseRunner({ command }, await scratch.project(project));
      expect([chosen?.runner.name, chosen?.command.replace('node lint.js || conductor_failed=$?; ', '').replace(' && (exit ${conductor_failed:-0})', '')]).toEqual([name, tests]);
      expect(chosen?.preparation ?? chosen?.checks).toEqual(checks.length > 0 ? checks[0] : []);
    },
  );
});
