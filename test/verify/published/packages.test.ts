import { cp, mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { compileWithGo, TIMEOUT_MS } from '../honest/setup.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { expectTurn, run, tryFetch } from './setup.ts';

/*
 * Projects that nobody here wrote: packages as they are published, with the tests that they bring. They are fetched by the ordinary
 * clients, by name and version, and never kept.
 */
const { available, note } = await trySandbox();
const scratch = await makeScratch();
afterAll(async () => await scratch[Symbol.asyncDispose]());

const CONTENT_TYPE = 'fast-content-type-parse@4.0.1';
const fetchingNpm = tryFetch(available, 'npm', async () => {
  const packed = (await run(scratch.folder, 'npm', ['pack', '--silent', CONTENT_TYPE])).trim();
  await run(scratch.folder, 'tar', ['xzf', packed]);
  await rename(path.join(scratch.folder, 'package'), path.join(scratch.folder, 'npm'));
  // What its tests are run with; the rest of what it is developed with they do not need.
  const tools = await scratch.project({ 'package.json': '{}' }, 'npm tools');
  await run(tools, 'npm', ['install', '--silent', '--no-save', '--ignore-scripts', 'c8@12']);
  await rename(path.join(tools, 'node_modules'), path.join(scratch.folder, 'npm/node_modules'));
});

const INFLECTION = 'inflection==0.5.1';
const fetchingPython = tryFetch(available, 'pip', async () => {
  await run(scratch.folder, 'python3', ['-m', 'venv', 'pip']);
  const pip = ['-m', 'pip', '--disable-pip-version-check'];
  await run(scratch.folder, 'pip/bin/python', [...pip, 'download', '--quiet', '--no-deps', '--no-binary', ':all:', INFLECTION]);
  await run(scratch.folder, 'tar', ['xzf', 'inflection-0.5.1.tar.gz']);
  await rename(path.join(scratch.folder, 'inflection-0.5.1'), path.join(scratch.folder, 'python'));
  await run(path.join(scratch.folder, 'python'), 'python3', ['-m', 'venv', '.venv']);
  await run(path.join(scratch.folder, 'python'), '.venv/bin/python', [...pip, 'install', '--quiet', 'pytest']);
});

const UUID = 'github.com/google/uuid@v1.6.0';
const fetchingGo = tryFetch(available, 'go', async () => {
  const cache = path.join(scratch.folder, 'modules');
  await mkdir(path.join(scratch.folder, 'go'));
  const { Dir: folder } = JSON.parse(await run(scratch.folder, 'go', ['mod', 'download', '-json', UUID], { GOMODCACHE: cache, GOFLAGS: '-modcacherw' })) as { Dir: string };
  await cp(folder, path.join(scratch.folder, 'go'), { recursive: true });
  compileWithGo(path.join(scratch.folder, 'go'));
});

const HECK = 'heck@0.5.0';
const fetchingCargo = tryFetch(available, 'cargo', async () => {
  const [crate = '', version = ''] = HECK.split('@');
  const needs = await scratch.project(
    {
      'Cargo.toml': `[package]\nname = "needs"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n${crate} = "=${version}"\n`,
      'src/lib.rs': '',
    },
    'needs',
  );
  await run(needs, 'cargo', ['vendor', '--quiet'], { CARGO_HOME: path.join(scratch.folder, 'cargo-home') });
  await rename(path.join(needs, 'vendor', crate), path.join(scratch.folder, 'cargo'));
});

const [npm, python, go, cargo] = await Promise.all([fetchingNpm, fetchingPython, fetchingGo, fetchingCargo]);

describe.skipIf(!available || !npm.isHere)(`a package of npm, ${CONTENT_TYPE} (${note}, ${npm.note})`, { timeout: TIMEOUT_MS }, () => {
  it('is found tested, noticed broken, and verified restored', async () => {
    await expectTurn(scratch, {
      name: 'npm',
      command: 'c8 --100 node --test',
      file: 'index.js',
      published: 'start = ++index',
      broken: 'start = index++',
      wrong: 'start = index',
      noticed: [],
    });
  });
});

describe.skipIf(!available || !python.isHere)(`a package of PyPI, ${INFLECTION} (${note}, ${python.note})`, { timeout: TIMEOUT_MS }, () => {
  it('is found tested, noticed broken, and verified restored', async () => {
    await expectTurn(scratch, {
      name: 'python',
      command: 'python3 -m pytest',
      file: 'inflection/__init__.py',
      published: 'if number % 100 in (11, 12, 13):',
      broken: 'if number % 10 in (11, 12, 13):',
      wrong: 'if number % 1000 in (11, 12, 13):',
      noticed: ['test_inflection.py > test_ordinal[11-11th]'],
    });
  });
});

describe.skipIf(!available || !go.isHere)(`a module of go, ${UUID} (${note}, ${go.note})`, { timeout: TIMEOUT_MS }, () => {
  it('is found tested, noticed broken, and verified restored', async () => {
    await expectTurn(scratch, {
      name: 'go',
      command: 'go test ./...',
      file: 'uuid.go',
      published: 'case (uuid[8] & 0xe0) == 0xc0:',
      broken: 'case (uuid[8] & 0xc0) == 0xe0:',
      wrong: 'case (uuid[8] & 0x0e) == 0xc0:',
      noticed: ['github.com/google/uuid > TestUUID'],
    });
  });
});

describe.skipIf(!available || !cargo.isHere)(`a crate, ${HECK} (${note}, ${cargo.note})`, { timeout: TIMEOUT_MS }, () => {
  it('is found tested, noticed broken, and passes restored', async () => {
    await expectTurn(scratch, {
      name: 'cargo',
      command: 'cargo test',
      file: 'src/lib.rs',
      published: 'if next_mode == WordMode::Lowercase && next.is_uppercase() {',
      broken: 'if next_mode == WordMode::Uppercase && next.is_uppercase() {',
      wrong: 'if mode == WordMode::Uppercase && next.is_uppercase() {',
      noticed: ['heck > kebab::tests::test1'],
      noControl: 'its tests come out of a macro',
    });
  });
});
