import { describe, expect, it } from 'vitest';
import { findTestCommands } from '../../../backend/verify/runners/find-tests.ts';
import { tryProgram } from '../runners/setup.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { expectVerified, installed, judgeFix, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '-m', 'pytest', '--version');

const UTIL = "export const slug = (text) => text.trim().replace(' ', '-');\n";
const UTIL_FIX = ["replace(' ', '-')", "replaceAll(' ', '-')"] as const;
const packageOf = (name: string, rest: object = {}): string => JSON.stringify({ name, type: 'module', version: '1.0.0', ...rest });
const appTest = (from: string): string => `
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { title } from '${from}';
test('title', () => assert.equal(title('a b c'), 'a-b-c.html'));
`;
const APP = "import { slug } from '@acme/util';\nexport const title = (text) => `${slug(text)}.html`;\n";

interface Monorepo extends HonestFix {
  /** What is found there, the command among it. */
  readonly found: readonly string[];
}

const JAVASCRIPT: Record<string, Monorepo> = {
  'workspaces of npm, linked in node_modules, the fix in the package that the tested one needs': {
    files: {
      'package.json': packageOf('root', { private: true, workspaces: ['packages/*'], scripts: { test: 'npm test --workspaces' } }),
      'node_modules/@acme/util': { link: '../../packages/util' },
      'node_modules/@acme/app': { link: '../../packages/app' },
      'packages/util/package.json': packageOf('@acme/util', { exports: './src/index.js', scripts: { test: 'node --test' } }),
      'packages/util/src/index.js': UTIL,
      'packages/util/test/slug.test.js': "import { test } from 'node:test';\nimport { slug } from '@acme/util';\ntest('slug', () => { if (slug('a b') !== 'a-b') throw new Error(); });\n",
      'packages/app/package.json': packageOf('@acme/app', { scripts: { test: 'node --test' }, dependencies: { '@acme/util': '*' } }),
      'packages/app/src/title.js': APP,
      'packages/app/test/title.test.js': appTest('../src/title.js'),
    },
    fix: { 'packages/util/src/index.js': UTIL_FIX },
    found: ['cd packages/app && node --test', 'cd packages/util && node --test'],
    command: 'cd packages/app && node --test',
    mended: ['packages/app/test/title.test.js > title'],
  },

  'workspaces of pnpm, where each package has its own node_modules, links into a store and to its sibling': {
    files: {
      'package.json': packageOf('root', { private: true }),
      'pnpm-workspace.yaml': 'packages:\n  - libs/*\n  - apps/*\n',
      'node_modules/.pnpm/ends@1.0.0/node_modules/ends/package.json': packageOf('ends', { main: 'index.js' }),
      'node_modules/.pnpm/ends@1.0.0/node_modules/ends/index.js': "import { dot } from 'dot-of';\nexport const html = `${dot}html`;\n",
      'node_modules/.pnpm/ends@1.0.0/node_modules/dot-of': { link: '../../dot-of@2.0.0/node_modules/dot-of' },
      'node_modules/.pnpm/dot-of@2.0.0/node_modules/dot-of/package.json': packageOf('dot-of', { main: 'index.js' }),
      'node_modules/.pnpm/dot-of@2.0.0/node_modules/dot-of/index.js': "export const dot = '.';\n",
      'libs/util/package.json': packageOf('@acme/util', { main: './index.js' }),
      'libs/util/index.js': UTIL,
      'apps/site/package.json': packageOf('site', { scripts: { test: 'node --test' }, dependencies: { '@acme/util': 'workspace:*', ends: '1' } }),
      'apps/site/node_modules/@acme/util': { link: '../../../../libs/util' },
      'apps/site/node_modules/ends': { link: '../../../node_modules/.pnpm/ends@1.0.0/node_modules/ends' },
      'apps/site/title.js': "import { slug } from '@acme/util';\nimport { html } from 'ends';\nexport const title = (text) => slug(text) + html;\n",
      'apps/site/title.test.js': appTest('./title.js'),
    },
    fix: { 'libs/util/index.js': UTIL_FIX },
    found: ['cd apps/site && node --test'],
    command: 'cd apps/site && pnpm test',
    mended: ['apps/site/title.test.js > title'],
  },

  'a package in TypeScript that vitest tests, with the configuration and the programs of the root': {
    files: {
      ...installed('.bin', 'vitest', 'vite'),
      'package.json': packageOf('root', { private: true, workspaces: ['packages/*'] }),
      'vitest.shared.ts': "export const shared = { globals: true, include: ['**/*.spec.ts'] };\n",
      'packages/core/package.json': packageOf('core', { scripts: { test: 'vitest run' } }),
      'packages/core/vitest.config.ts': "import { defineConfig } from 'vitest/config';\nimport { shared } from '../../vitest.shared.ts';\nexport default defineConfig({ test: shared });\n",
      'packages/core/src/sum.ts': 'export const sum = (...numbers: number[]): number => numbers.reduce((a, b) => a - b, 0);\n',
      'packages/core/src/sum.spec.ts': "import { sum } from './sum.ts';\nit('sums', () => { expect(sum(1, 2)).toBe(3); });\n",
      'packages/other/package.json': packageOf('other', { scripts: { test: 'vitest run' } }),
      'packages/other/a.spec.ts': "it('is not run', () => { throw new Error('no'); });\n",
    },
    fix: { 'packages/core/src/sum.ts': ['a - b', 'a + b'] },
    found: ['cd packages/core && vitest run', 'cd packages/other && vitest run'],
    command: 'cd packages/core && vitest run',
    mended: ['packages/core/src/sum.spec.ts > sums'],
  },
};

const PYTHON: Record<string, Monorepo> = {
  'two packages of Python, each with a configuration of its own': {
    files: {
      'libs/core/pyproject.toml': '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
      'libs/core/src/core_of.py': 'def half(number):\n    return number // 3\n',
      'libs/core/tests/test_core.py': 'from core_of import half\n\ndef test_half():\n    assert half(6) == 3\n',
      'apps/web/pyproject.toml': '[tool.pytest.ini_options]\npythonpath = [".", "../../libs/core/src"]\naddopts = "-q"\n',
      'apps/web/web/__init__.py': '',
      'apps/web/web/page.py': 'from core_of import half\n\n\ndef page(number):\n    return f"<b>{half(number)}</b>"\n',
      'apps/web/tests/test_page.py': 'from web.page import page\n\ndef test_page():\n    assert page(8) == "<b>4</b>"\n',
    },
    fix: { 'libs/core/src/core_of.py': ['number // 3', 'number // 2'] },
    found: ['cd apps/web && python3 -m pytest', 'cd libs/core && python3 -m pytest'],
    command: 'cd apps/web && python3 -m pytest',
    mended: ['apps/web/tests/test_page.py > test_page'],
  },
};

const verify = async (_: string, honest: Monorepo): Promise<void> => {
  await using scratch = await makeScratch();
  const verdict = await judgeFix(scratch, honest);
  expectVerified(verdict, honest);
  const found = await findTestCommands(`${scratch.folder}/project`);
  expect(found.map(({ command }) => command)).toEqual(honest.found);
};

describe.skipIf(!available)(`an honest fix in a monorepo is verified and its tests are found (${note})`, { timeout: TIMEOUT_MS }, () => {
  it.each(Object.entries(JAVASCRIPT))('%s', verify);
  it.runIf(python.isHere).each(Object.entries(PYTHON))(`%s (${python.note})`, verify);
});
