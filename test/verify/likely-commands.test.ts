import { expect, it } from 'vitest';
import { likelyCommands } from '../../backend/verify/runners/likely-commands.ts';
import { makeScratch } from './setup.ts';

async function likely(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await using scratch = await makeScratch();
  return (await likelyCommands(await scratch.project(files))).map(({ command, from }) => `${command} (${from})`);
}

const WORKFLOW = `
on: push
jobs:
  latest:
    steps:
      - run: npm ci
      - name: Test
        run: ./scripts/run-tests.sh --all
      - run: |
          # make check
          ./configure
          ninja -C build test
      - run: echo "\${{ secrets.TEST }}"
`;

it.each<readonly [string, Readonly<Record<string, string>>, readonly string[]]>([
  ['scripts of a package', { 'package.json': '{"scripts":{"check":"node check.js","test:node":"node run.js","test":"node run.js","test:watch":"x","latest":"y"}}' }, ['npm test (package.json)', 'npm run test:node (package.json)']],
  ['but not the placeholder of npm', { 'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' }, []],
  ['targets of make', { Makefile: 'TEST := 1\nall: build\nlint test-lint:\n\tx\ncheck: all\n\t./check\nunit-tests :\n\t./run\n' }, ['make unit-tests (Makefile)', 'make check (Makefile)']],
  ['recipes of just', { justfile: 'test := "1"\nbuild:\n  x\ntest filter="": build\n  y\n' }, ['just test (justfile)']],
  ['tasks', { 'Taskfile.yml': 'version: 3\ntasks:\n  build:\n    cmds: [x]\n  test:\n    cmds: [y]\n' }, ['task test (Taskfile.yml)']],
  ['environments of tox and nox', { 'tox.ini': '[tox]\n', 'noxfile.py': 'import nox\n' }, ['tox (tox.ini)', 'nox (noxfile.py)']],
  ['environments of hatch', { 'pyproject.toml': '[tool.hatch.envs.hatch-test]\n' }, ['hatch test (pyproject.toml)']],
  ['steps of workflows', { '.github/workflows/ci.yml': WORKFLOW, 'scripts/run-tests.sh': '' }, ['./scripts/run-tests.sh --all (.github/workflows/ci.yml)', 'ninja -C build test (.github/workflows/ci.yml)']],
  ['what people type before what a workflow runs, each once', { '.github/workflows/ci.yml': 'jobs:\n  a:\n    steps:\n      - run: make test\n      - run: ./test.sh\n', Makefile: 'test:\n\tx\n', 'test.sh': '' }, ['make test (Makefile)', './test.sh (.github/workflows/ci.yml)']],
  ['nothing that a workflow builds itself', { '.github/workflows/ci.yml': 'jobs:\n  a:\n    steps:\n      - working-directory: build\n        run: ./tests\n' }, []],
  ['what runs the tests of other languages', { 'mix.exs': '', 'Shop.sln': '' }, ['mix test (mix.exs)', 'dotnet test (Shop.sln)']],
  ['what builds and tests in C', { 'meson.build': "test('a', a)", 'configure.ac': '' }, ['meson setup conductor-build && meson test -C conductor-build (meson.build)', 'autoreconf -fi && ./configure && make check (configure.ac)']],
  ['Pest', { 'composer.json': '{"require-dev":{"pestphp/pest":"^3"}}' }, ['vendor/bin/pest (composer.json)']],
  ['nothing where nothing says so', { 'readme.md': 'test: run the tests\n' }, []],
])('offers %s', async (_, files, expected) => expect(await likely(files)).toEqual(expected));
