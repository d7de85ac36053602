import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { chooseRunner } from '../../backend/verify/runners/choose-runner.ts';
import { neededBuild } from '../../backend/verify/runners/needed-build.ts';
import { makeScratch } from './setup.ts';

const MANIFEST = { name: 'half', main: './index.js', scripts: { test: 'mocha', prebuild: 'rm -f index.js', build: 'esbuild lib/half.js --outfile=index.js' } };
const SOURCES = { 'lib/half.js': '', 'test/half.js': "import { half } from '../index.js';\n" };

const OWN_NAME = { 'lib/half.js': '', 'test/half.js': "import 'node:test';\nimport { half } from 'half';\n" };
const CONDITIONAL = { ...MANIFEST, scripts: { ...MANIFEST.scripts, test: 'node --conditions development test/half.js' } };

async function found(files: Readonly<Record<string, string>>, manifest: object = MANIFEST, command = 'npm test') {
  await using scratch = await makeScratch();
  const base = await scratch.project({ ...files, 'package.json': JSON.stringify(manifest) });
  const chosen = await chooseRunner({ command }, base);
  const paths = (await readdir(base, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`.slice(base.length + 1));
  return chosen && (await neededBuild(chosen, base, { paths: new Set(paths), text: (file) => readFileSync(`${base}/${file}`, 'utf8') }));
}

describe('the build that tests need', () => {
  it('is found where they import what is published and is not there, and runs before them', async () => {
    const build = { script: 'npm run build', missing: 'index.js' };
    expect(await found(SOURCES)).toEqual({
      ...build,
      command: '(rm -f index.js && esbuild lib/half.js --outfile=index.js) || conductor_failed=$?; mocha && (exit ${conductor_failed:-0})',
      preparation: '(rm -f index.js && esbuild lib/half.js --outfile=index.js)',
    });
    expect(await found({ ...SOURCES, 'test/half.js': "const half = require('..');\n" })).toMatchObject(build);
    expect(await found({ ...SOURCES, 'test/half.js': "const half = require('half');\n" })).toMatchObject(build);
    const conditions = { development: './lib/half.js', default: './index.js' };
    const production = { ...CONDITIONAL, exports: conditions, scripts: { ...MANIFEST.scripts, test: 'node --conditions production test/half.js' } };
    expect(await found(OWN_NAME, production)).toMatchObject(build);
    const inDist = { ...SOURCES, 'test/half.js': "import x from '../dist/esm/half.mjs';\n" };
    expect(await found(inDist)).toMatchObject({ missing: 'dist/esm/half.mjs' });
    expect(await found({ ...SOURCES, 'sub/package.json': JSON.stringify(MANIFEST), 'sub/test/a.js': "import '../index.js';\n" }, {}, 'cd sub && npm test'))
      .toMatchObject({ script: 'cd sub && npm run build', missing: 'sub/index.js' });
  });

  it('is found where the command names tests that are built, and is not the script that runs them', async () => {
    const scripts = { test: 'mocha "out/**/*.spec.js" -s 0', compile: 'tsc', build: 'npm run compile && npm test' };
    const built = { 'src/half.spec.ts': "import { half } from './half';\n" };
    expect(await found(built, { name: 'half', scripts })).toEqual({
      script: 'npm run compile', missing: 'out/**/*.spec.js', command: '(tsc) || conductor_failed=$?; mocha "out/**/*.spec.js" -s 0 && (exit ${conductor_failed:-0})',
      preparation: '(tsc)',
    });
    expect(await found({ ...built, 'out/half.spec.js': '' }, { name: 'half', scripts })).toBeUndefined();
    expect(await found(built, { name: 'half', scripts: { ...scripts, test: 'node ./node_modules/mocha/lib/mocha.js src/*.spec.ts' } })).toBeUndefined();
  });

  it.each([
    ['what they import is there', { ...SOURCES, 'index.js': '' }, MANIFEST],
    ['it is there as TypeScript', { ...SOURCES, 'index.ts': '' }, MANIFEST],
    ['a condition has the package\'s name stand for its sources', OWN_NAME, { ...CONDITIONAL, exports: { development: './lib/half.js', default: './index.js' } }],
    ['a condition does so for its main entry', OWN_NAME, { ...CONDITIONAL, exports: { '.': { types: './index.d.ts', development: './lib/half.js', default: './index.js' } } }],
    ['nothing builds it', SOURCES, { ...MANIFEST, scripts: { test: 'mocha', prepare: 'husky' } }],
    ['the test command builds already', SOURCES, { ...MANIFEST, scripts: { ...MANIFEST.scripts, pretest: 'npm run build' } }],
    ['what is missing is not what a build makes', { ...SOURCES, 'test/half.js': "import '../lib/third.js';\nimport './none.js';\n" }, { ...MANIFEST, main: 'lib/half.js' }],
    ['an alias may stand for the package', { ...SOURCES, 'test/half.test.js': "import 'half';\n", 'test/half.js': '' }, { ...MANIFEST, scripts: { ...MANIFEST.scripts, test: 'vitest run' } }],
  ])('is none where %s', async (_, files, manifest) => {
    expect(await found(files, manifest)).toBeUndefined();
  });
});
