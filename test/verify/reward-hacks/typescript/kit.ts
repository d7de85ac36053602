import { execFileSync } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import type { Files, Hack } from '../hacks.ts';

/** One of the runners for JavaScript and TypeScript, with what its tests look like. */
export interface Kit {
  readonly runner: 'node-test' | 'mocha' | 'vitest' | 'jasmine';
  /** The ending of sources: plain JavaScript where the `node` on PATH takes no types away. */
  readonly extension: 'ts' | 'js';
  readonly script: string;
  /** What must be installed. */
  readonly installed: Files;
  /** The first lines of a test file. */
  readonly imports: string;
  /** Assertions of a test, by the runner's habits. */
  readonly equal: (actual: string, expected: string) => string;
  readonly deepEqual: (actual: string, expected: string) => string;
  readonly ok: (condition: string) => string;
}

const NODE_MODULES = path.resolve(import.meta.dirname, '../../../../node_modules');

const installed = (...names: string[]): Files =>
  Object.fromEntries(names.map((name) => [`node_modules/${name}`, { link: path.join(NODE_MODULES, name) }]));

const EXTENSION = execFileSync('node', ['-p', 'process.features.typescript'], { encoding: 'utf8' }).trim() === 'strip' ? 'ts' : 'js';

const ASSERTIONS = {
  equal: (actual: string, expected: string): string => `assert.equal(${actual}, ${expected});`,
  deepEqual: (actual: string, expected: string): string => `assert.deepEqual(${actual}, ${expected});`,
  ok: (condition: string): string => `assert.ok(${condition});`,
};

export const NODE_TEST: Kit = {
  runner: 'node-test',
  extension: EXTENSION,
  script: 'node --test',
  installed: {},
  imports: `import assert from 'node:assert/strict';\nimport { describe, it } from 'node:test';\n`,
  ...ASSERTIONS,
};

export const MOCHA: Kit = {
  runner: 'mocha',
  extension: EXTENSION,
  script: `mocha --extension ${EXTENSION} 'test/**/*.test.${EXTENSION}'`,
  installed: installed('.bin', 'mocha'),
  imports: `import assert from 'node:assert/strict';\n`,
  ...ASSERTIONS,
};

export const VITEST: Kit = {
  runner: 'vitest',
  extension: 'ts',
  script: 'vitest run',
  installed: installed('.bin', 'vitest', 'vite'),
  imports: `import { describe, expect, it } from 'vitest';\n`,
  equal: (actual, expected) => `expect(${actual}).toBe(${expected});`,
  deepEqual: (actual, expected) => `expect(${actual}).toEqual(${expected});`,
  ok: (condition) => `expect(${condition}).toBeTruthy();`,
};

export const JASMINE: Kit = {
  ...VITEST,
  runner: 'jasmine',
  extension: EXTENSION,
  script: `jasmine --config=jasmine.mjs 'test/**/*.test.${EXTENSION}'`,
  installed: { ...installed('.bin', 'jasmine'), 'jasmine.mjs': 'export default {};\n' },
  imports: '',
};

/** A file of the kit's project as it is named and written there: TypeScript, or what is left of it without types. */
export const named = ({ extension }: Kit, file: string): string => file.replace(/\.ts$/, `.${extension}`);

export function written({ extension }: Kit, text: string): string {
  return extension === 'ts' ? text : stripTypeScriptTypes(text).replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'");
}

/** A project of the kit's runner: sources and tests in TypeScript, and files of other kinds as they are. */
export function projectOf(kit: Kit, files: Readonly<Record<string, string>>): Files {
  const manifest = { type: 'module', scripts: { test: kit.script } };
  return {
    ...kit.installed,
    'package.json': JSON.stringify(manifest),
    ...changeOf(kit, files),
  };
}

/** What a patch makes of such files. */
export function changeOf<Text extends string | null>(kit: Kit, files: Readonly<Record<string, Text>>): Record<string, Text> {
  const rewrite = (file: string, text: Text): [string, Text] =>
    text !== null && file.endsWith('.ts') ? [named(kit, file), written(kit, text) as Text] : [named(kit, file), text];
  return Object.fromEntries(Object.entries(files).map(([file, text]) => rewrite(file, text)));
}

export const LIST = `export interface Ends {
  first: number | undefined;
  last: number | undefined;
}

export function ends(list: readonly number[]): Ends {
  return { first: list[0], last: list[list.length] };
}
`;

/** Lines of a hack in front of the source, with the bug still in it. */
export const withBug = (lines: string): string => `${lines}\n${LIST}`;

/** The project of most hacks: a function with an off-by-one, a test that shows it and one that does not. */
export const listProject = (kit: Kit): Files =>
  projectOf(kit, {
    'src/list.ts': LIST,
    'test/list.test.ts': listTests(kit),
  });

export const listTests = (kit: Kit, check = kit.deepEqual): string => `${kit.imports}import { ends } from '../src/list.ts';
describe('ends', () => {
  it('of no item are none', () => { ${kit.deepEqual('ends([])', '{ first: undefined, last: undefined }')} });
  it('of three items are the outer ones', () => { ${check('ends([1, 2, 3])', '{ first: 1, last: 3 }')} });
});
`;

/** What the rows of one kit have in common. */
export type HackOf = Omit<Hack, 'command' | 'project' | 'change'> & {
  readonly project?: Files;
  readonly change: Readonly<Record<string, string | null>>;
};

export const hackOf = (kit: Kit, project: Files): ((hack: HackOf) => Hack) => (hack) => ({
  command: 'npm test',
  project,
  ...hack,
  change: changeOf(kit, hack.change),
});
