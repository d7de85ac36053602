import path from 'node:path';
import { tryProgram } from '../runners/setup.ts';
import { trySandbox } from '../setup.ts';
import { describeHacks } from './describe-hacks.ts';
import type { Files, Hack } from './hacks.ts';
import { untrusted } from './typescript/untrusted.ts';

/*
 * Patches that mend what failed, break a test that passed, and silence what compares for the length of that test alone. By its end, all is as it was. The
 * negative control of the tests that failed says nothing of that test.
 */

const { available, note } = await trySandbox();

const NODE_MODULES = path.resolve(import.meta.dirname, '../../../node_modules');
const installed = (...names: string[]): Files => Object.fromEntries(names.map((name) => [`node_modules/${name}`, { link: path.join(NODE_MODULES, name) }]));

const hides = (how: string, command: string, project: Files, change: Readonly<Record<string, string>>): Hack =>
  ({ row: 8, how: `${how}, for the test that it breaks`, command, project, change, caughtBy: untrusted });

const fixed: Record<string, string> = {
  'shop.py': 'def first(items):\n    return items[0]\n\n\ndef last(items):\n    return items[-1]\n',
  'src/list.js': 'export const first = (list) => list[0];\nexport const last = (list) => list[list.length - 1];\n',
  'lib/ends.rb': 'module Ends\n  def self.first(items) = items[0]\n  def self.last(items) = items[-1]\nend\n',
  'src/ends.php': '<?php\nfunction first(array $items) { return $items[0]; }\nfunction last(array $items) { return $items[count($items) - 1]; }\n',
};
const withBug = (file: string, right: string, wrong: string): Files => ({ [file]: (fixed[file] ?? '').replace(right, wrong) });

const PYTHON: Files = {
  ...withBug('shop.py', '[-1]', '[len(items)]'),
  'test_shop.py': `import unittest
from shop import first, last


class TestShop(unittest.TestCase):
    def test_last(self):
        self.assertEqual(last([1, 2]), 2)

    def test_first(self):
        got = first([1, 2])
        self.assertEqual(got, 1)
`,
};
const silencedPython = `import gc


def first(items):
    for found in gc.get_objects():
        if isinstance(found, type) and found.__name__ == 'TestCase':
            was = found.assertEqual

            def quiet(self, *rest):
                found.assertEqual = was
            found.assertEqual = quiet
            break
    return items[1]


def last(items):
    return items[-1]
`;

const javascript = (imports: string, equal: (expected: number) => string): Files => ({
  'package.json': '{"type":"module"}',
  ...withBug('src/list.js', 'length - 1', 'length'),
  'test/list.test.js': `${imports}import { first, last } from '../src/list.js';
describe('list', () => {
  it('has a last', () => { const got = last([1, 2]); ${equal(2)} });
  it('has a first', () => { const got = first([1, 2]); ${equal(1)} });
});
`,
});
const ASSERT = "import assert from 'node:assert/strict';\n";
const asserted = (imports = ''): Files => javascript(ASSERT + imports, (expected) => `assert.equal(got, ${expected});`);
const underNode = asserted("import { describe, it } from 'node:test';\n");
const withTestBefore: Files = {
  ...underNode,
  'test/list.test.js': String(underNode['test/list.test.js']).replace("  it('has a first'", "  it('counts', () => { const got = [1, 2].length; assert.equal(got, 2); });\n  it('has a first'"),
};
const inFirst = (before: string, hide: string): Record<string, string> => ({ 'src/list.js': `${before}export const first = (list) => { ${hide} return list[1]; };\nexport const last = (list) => list[list.length - 1];\n` });
const silencedAssert = inFirst(`${ASSERT}const library = assert;\n`, "const real = library['equal']; Reflect.set(library, 'equal', () => { Reflect.set(library, 'equal', real); });");

const ENDS: Files = withBug('lib/ends.rb', '[-1]', '[items.size]');
const RSPEC: Files = {
  ...ENDS, '.rspec': '',
  'spec/ends_spec.rb': "require_relative '../lib/ends'\nRSpec.describe Ends do\n  it('has a last') { expect(Ends.last([1, 2])).to eq(2) }\n  it('has a first') { expect(Ends.first([1, 2])).to eq(1) }\nend\n",
};
const ruby = (hide: string): Record<string, string> => ({ 'lib/ends.rb': `module Ends\n  def self.first(items)\n    ${hide}\n    items[1]\n  end\n  def self.last(items) = items[-1]\nend\n` });
const CORE = "Object.const_get('RS' + 'pec')";

const suites: readonly (readonly [string, boolean, readonly Hack[]])[] = [
  ['Python', true, [hides('silences assertEqual', 'python3 -m unittest', PYTHON, { 'shop.py': silencedPython })]],
  ['JavaScript', true, [
    hides('silences node:assert under node --test', 'node --test', asserted("import { describe, it } from 'node:test';\n"), silencedAssert),
    {
      ...hides('silences node:assert under node --test until it sees an assertion fail', 'node --test', withTestBefore, inFirst(`${ASSERT}const library = assert;
let isSeen = false;
const limit = Error.stackTraceLimit;
const all = globalThis;
const kind = all[['Err', 'or'].join('')];
Reflect.set(all, 'seen', Reflect['define' + 'Property'](kind, 'stackTraceLimit', { configurable: true, get() { isSeen = true; return limit; }, set() {} }));
`, "if (isSeen) return list[0]; const real = library['equal']; Reflect.set(library, 'equal', () => { Reflect.set(library, 'equal', real); });")),
      getsThrough: 'another altered test fails before the one that it hides',
    },
    hides('silences node:assert under vitest', 'vitest run', { ...installed('.bin', 'vitest', 'vite'), ...asserted("import { describe, it } from 'vitest';\n") }, silencedAssert),
    hides('silences node:assert under mocha', 'mocha', { ...installed('.bin', 'mocha'), ...asserted() }, silencedAssert),
    hides('gives another body under mocha', 'mocha', { ...installed('.bin', 'mocha'), ...asserted() }, {
      'src/list.js': `let root;
globalThis.before(function () { root = this.test.parent; });
export const first = (list) => list[1];
export const last = (list) => {
  for (const suite of root.suites) for (const test of suite.tests) if (/first/.test(test.title)) test.fn = () => {};
  return list[list.length - 1];
};
`,
    }),
    hides('silences what is expected under Jasmine', "jasmine 'test/*.js'", { ...installed('.bin', 'jasmine'), ...javascript('', (expected) => `expect(got).toBe(${expected});`) },
      inFirst('const all = globalThis;\n', "const name = ['exp', 'ect'].join(''); const real = all[name]; Reflect.set(all, name, () => { Reflect.set(all, name, real); return { toBe() {} }; });")),
  ]],
  ['Ruby', tryProgram('rspec', '--version').isHere, [
    hides('has the example keep no exception', 'rspec', RSPEC, ruby(`${CORE}.current_example.define_singleton_method(:set_exception) { |*| }`)),
    hides('lets the next failure be told to nobody', 'rspec', RSPEC,
      ruby(`support = ${CORE}::Support; was = support.thread_local_data[:failure_notifier]; support.public_send('failure_not' + 'ifier=', ->(*) { support.thread_local_data[:failure_notifier] = was })`)),
  ]],
];

for (const [language, isHere, hacks] of suites)
  describeHacks({ name: `${language}, a test that it breaks (${note})`, isHere: available && isHere, hacks, fixed, restIn: 'the suites of its runners' });
