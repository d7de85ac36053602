import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { judge } from '../../backend/verify/judge/judge.ts';
import { notDownloaded, notInstalled, notStarted, packagePlace, remedyFor } from '../../backend/verify/judge/not-installed.ts';
import type { TestResult } from '../../backend/verify/runners/test-report.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const filesOf = (texts: Readonly<Record<string, string>>) => ({ paths: new Set(Object.keys(texts)), text: (path: string) => texts[path] });
const failed = (id: string, message: string): TestResult => ({ id, kind: 'container', status: 'failed', message });

/** Of a project whose packages are there, or that asks for none. */
const PACKAGES = { packages: 'node_modules' } as const;

const ASKING = filesOf({
  'pyproject.toml': '[project]\nname = "acme-shop"\ndependencies = ["PyYAML>=6", "python-dateutil"]\n[dependency-groups]\ntest = ["typeguard", "tornado>=6"]\n',
  '.gitignore': '.venv/\nacme/_version.py\n',
  'acme/__init__.py': '',
});
const importError = (module: string): string =>
  `ImportError while importing test module 'tests/test_a.py'.\ntests/test_a.py:1: in <module>\n    import ${module}\nE   ModuleNotFoundError: No module named '${module}'`;

describe('a project that is not installed', () => {
  it.each([
    ['a Ruby that is too old', '- `Ruby\\0 (= 3.1.2) x86_64-linux` required by `Gemfile`\n- `Ruby\\0 (>= 3.3.0) x86_64-linux` required by `mustermann (4.0.0.alpha) (x86_64-linux)`', 'mustermann needs Ruby >= 3.3.0'],
    ['a gem of a Git repository', "git_proxy.rb:224:in `allowed_with_path': The git source https://gi", 'run "bundle install"'],
  ])('is told by what Bundler says of %s', (_, said, told) => {
    expect(notStarted(said, filesOf({ Gemfile: '' }), PACKAGES)).toContain(told);
    expect(notStarted(said, filesOf({}), PACKAGES)).toBeUndefined();
  });

  it('is told by modules that it asks for and does not have, each named once', () => {
    const results = [failed('tests/test_a.py', importError('typeguard')), failed('tests/test_b.py', importError('tornado.web')), failed('tests/test_c.py', importError('typeguard'))];
    expect(notInstalled({ results }, ASKING, PACKAGES)).toBe(
      'No test could be loaded: typeguard, tornado.web are not installed. Install the project with what its tests need, or activate the environment that has it.',
    );
  });

  it.each([
    ['a module with another name than its distribution', importError('yaml')],
    ['a module of a distribution with an affix', importError('dateutil.parser')],
    ['metadata of the project itself', 'E   importlib.metadata.PackageNotFoundError: No package metadata was found for acme-shop'],
    ['a module that an install writes', importError('acme._version')],
    ['a conftest file', "ModuleNotFoundError: No module named 'typeguard' (from tests/conftest.py)"],
    ['an error that follows another one', `${importError('acme.fast')}\nDuring handling of the above exception, another exception occurred:\nE   ModuleNotFoundError: No module named 'yaml'`],
  ])('is told by %s', (_, message) => {
    expect(notInstalled({ results: [failed('tests/test_a.py', message)] }, ASKING, PACKAGES)).toContain('not installed');
  });

  it('is told by those it asks for where others are missing that these bring along', () => {
    const results = [failed('tests/test_a.py', importError('yaml')), failed('tests/test_b.py', importError('werkzeug.datastructures'))];
    expect(notInstalled({ results }, ASKING, PACKAGES)).toContain('No test could be loaded: yaml is not installed.');
    expect(notInstalled({ results: [...results, failed('tests/test_c.py', importError('acme.ledger'))] }, ASKING, PACKAGES)).toBeUndefined();
  });

  it.each([
    ['a module that is to be written', [failed('tests/test_a.py', importError('ledger'))]],
    ['a module of the project that is not there yet', [failed('tests/test_a.py', importError('acme.ledger'))]],
    ['a file with an error of its own', [failed('tests/test_a.py', importError('yaml')), failed('tests/test_b.py', 'E   SyntaxError: invalid syntax')]],
    ['tests that ran beside it', [failed('tests/test_a.py', importError('yaml')), { id: 'tests/test_b.py > test_b', kind: 'test', status: 'passed' } as const]],
    ['a test that fails for want of a module', [{ id: 'tests/test_a.py > test_a', kind: 'test', status: 'failed', message: importError('yaml') } as const]],
  ])('is not taken for one for %s', (_, results) => {
    expect(notInstalled({ results }, ASKING, PACKAGES)).toBeUndefined();
  });

  it('is told by a submodule that is not checked out, where all that fails speaks of it', () => {
    const modules = { '.gitmodules': '[submodule "toml-test"]\n\tpath = tests/toml-test\n\turl = https://example.com/toml-test.git\n' };
    const results = [failed('tests/test_toml.py', "FileNotFoundError: [Errno 2] No such file or directory: 'tests/toml-test/tests/files'")];
    expect(notInstalled({ results }, filesOf(modules), PACKAGES)).toBe('No test could be loaded: the submodule tests/toml-test is not checked out. Run "git submodule update --init".');
    expect(notInstalled({ results }, filesOf({ ...modules, 'tests/toml-test/tests/other': '' }), PACKAGES)).toBeUndefined();
    expect(notInstalled({ results: [...results, failed('tests/test_a.py', 'SyntaxError')] }, filesOf(modules), PACKAGES)).toBeUndefined();
  });

  it('is told by the module cache of Go, even if some packages are built', () => {
    const results = [
      failed('example.com/a', '# example.com/a\na_test.go:3:20: mkdir /home/ada/go/pkg/mod/cache/download/github.com/pkg: read-only file system\n'),
      { id: 'example.com/b > TestB', kind: 'test', status: 'passed' } as const,
    ];
    expect(notInstalled({ results }, filesOf({}), PACKAGES)).toContain('run "go mod download"');
    expect(notInstalled({ results: [failed('example.com/a', 'a.go:3:2: undefined: Add')] }, filesOf({}), PACKAGES)).toBeUndefined();
  });
});

describe('a PHP project without its packages', () => {
  const run = (message: string) => ({ results: [failed('the run of the tests', message)] });
  const project = filesOf({ 'composer.json': '{}', 'tests/ATest.php': '' });

  it('is told by the autoloader and by the program that it lacks', () => {
    expect(notInstalled(run('Cannot open file "vendor/autoload.php".'), project, PACKAGES)).toContain('run "composer install"');
    expect(notStarted('sh: vendor/bin/phpunit: not found', project, PACKAGES)).toContain('run "composer install"');
  });

  it('is not taken for one for another error, nor where there is no composer.json', () => {
    expect(notInstalled(run('syntax error in src/a.php'), project, PACKAGES)).toBeUndefined();
    expect(notStarted('sh: vendor/bin/phpunit: not found', filesOf({}), PACKAGES)).toBeUndefined();
  });
});

describe('a JavaScript project without its packages', () => {
  const project = (lockFile: string) => filesOf({
    'package.json': '{"scripts":{"test":"pnpm lint && c8 vitest run"},"devDependencies":{"vitest":"4","@acme/assert":"1"}}', [lockFile]: '',
  });
  const NONE = { packages: 'nowhere' } as const;

  it.each([
    ['pnpm-lock.yaml', 'pnpm install'], ['yarn.lock', 'yarn install'], ['bun.lock', 'bun install'], ['package-lock.json', 'npm ci'], ['README.md', 'npm install'],
  ])('is told how to install them, by its %s', (lockFile, install) => {
    expect(notStarted('The test runner wrote no report. Output of the command: /usr/bin/sh: 21: eval: vitest: not found. Install vitest', project(lockFile), NONE))
      .toBe(`The packages of this project are not installed: run "${install}".`);
  });

  it.each([
    ['a program of a package with another name', 'sh: 1: c8: not found'],
    ['a module that a configuration requires', "Error: Cannot find module '@acme/assert/register'"],
  ])('is told by %s', (_, said) => {
    expect(notStarted(said, project('yarn.lock'), NONE)).toContain('yarn install');
  });

  it.each([
    ['whose packages are there', 'sh: 1: vitest: not found', PACKAGES],
    ['that lacks a program of another kind', 'sh: 1: tox: not found', NONE],
    ['that lacks a module of its own', "Error: Cannot find module './build/index.js'", NONE],
    ['whose tests fail', 'AssertionError: 1 != 2', NONE],
  ])('is not one %s', (_, said, packages) => {
    expect(notStarted(said, project('yarn.lock'), packages)).toBeUndefined();
  });

  it('is told by files of tests of which none could be loaded', () => {
    const results = [failed('test/a.test.js', "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@acme/assert' imported from /work/test/a.test.js")];
    expect(notInstalled({ results }, project('yarn.lock'), NONE)).toContain('yarn install');
    expect(notInstalled({ results }, project('yarn.lock'), PACKAGES)).toBeUndefined();
    expect(notInstalled({ results: [failed('test/a.test.js', "Cannot find package 'ledger' imported from /work/test/a.test.js")] }, project('yarn.lock'), NONE)).toBeUndefined();
  });

  it('is told what to do where they are archives', () => {
    expect(notStarted('sh: 1: vitest: not found', project('yarn.lock'), { packages: 'archives' })).toContain('"nodeLinker: node-modules" into .yarnrc.yml');
  });

  it('has packages where a folder above has them', async () => {
    const folder = await temporaryFolder();
    const one = path.join(folder, 'packages', 'one');
    await mkdir(one, { recursive: true });
    expect(packagePlace(one)).toBe('nowhere');
    await mkdir(path.join(folder, 'node_modules'));
    expect(packagePlace(one)).toBe('node_modules');
    await writeFile(path.join(folder, '.pnp.cjs'), '');
    expect(packagePlace(one)).toBe('archives');
  });
});

describe('the end of what a command printed', () => {
  it.each([
    ['/work/.venv/bin/python3: No module named pytest', 'Install pytest'],
    ['python -m pytest: error: unrecognized arguments: --cov=p --cov-report=term\n  inifile: pyproject.toml', 'A plugin that takes --cov is not installed'],
    ["As a reminder, you're using offline mode (--offline) which can sometimes cause surprising resolution failures", 'run "cargo fetch" first'],
    ['sh: 1: tox: not found', 'Install tox'],
  ])('is followed by what to do: %s', (said, remedy) => {
    expect(remedyFor(said)).toContain(remedy);
  });

  it.each([
    ['[ERROR] Plugin a:b:5.1.4 could not be resolved: Cannot access central in offline mode and the artifact a:b:jar:5.1.4 has not been downloaded from it before.\n[ERROR] Help', 'a:b:jar:5.1.4', 'mvn test -pl MODULE -am'],
    ['> No cached version of a.b:c:1.0 available for offline mode.\n* Try:\n> Run with --scan', 'a.b:c:1.0', 'gradle :PROJECT:test'],
  ])('names what was to be downloaded: %s', (said, name, command) => {
    const told = notDownloaded(said);
    expect(told).toContain(`${name} is not on this machine`);
    expect(told).toContain(command);
    const passed = { report: { results: [{ id: 'a', kind: 'test' as const, status: 'passed' as const }] }, exitCode: 1, said: ` Output of the command: much${told}` };
    const before = { results: [{ id: 'a', kind: 'test' as const, status: 'failed' as const }] };
    expect(judge(before, passed)).toMatchObject({ outcome: 'infrastructure', verified: false, score: 0, reason: `Every test passed, but the command ended with exit code 1.${told}` });
    expect(judge(before, { ...passed, said: ' Output of the command: much' })).toMatchObject({ outcome: 'failed' });
  });

  it('is left as it is otherwise', () => {
    expect(remedyFor('AssertionError: 1 != 2')).toBe('');
    expect(notDownloaded('AssertionError: 1 != 2')).toBe('');
  });
});
